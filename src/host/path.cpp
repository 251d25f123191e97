#include "host/path.h"

#include <cerrno>
#include <system_error>

#include "base/text.h"

namespace goldenv::host {
namespace {

/// Longer than any path that the kernel takes at once (PATH_MAX, 4 KiB): a tree can be deeper than
/// the machine that it was copied from. Bounds what one look costs.
constexpr std::size_t kPathLimitBytes = 64u << 10;

}  // namespace

Error error_at(Errc code, std::string_view path, std::string_view what) {
  std::string message(path);
  message += ": ";
  message += what;
  return Error{code, std::move(message), {}};
}

Error error_at(Errc code, std::string_view path) {
  switch (code) {
    case Errc::absent:
      return error_at(code, path, "no such file or folder");
    case Errc::denied:
      return error_at(code, path, "permission denied");
    case Errc::timed_out:
      return error_at(code, path, "no answer within the deadline");
    case Errc::not_live:
      return error_at(code, path, "the source is no running machine");
    case Errc::not_collected:
      return error_at(code, path, "was not recorded");
    case Errc::too_large:
      return error_at(code, path, "is too large");
    case Errc::unreadable:
    case Errc::malformed:
    case Errc::usage:
    case Errc::failed:
      break;
  }
  return error_at(code, path, "cannot be read");
}

Error error_of(int number, std::string_view path) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return error_at(Errc::absent, path);
    case ESRCH:
      return error_at(Errc::absent, path, "the process has ended");
    case EACCES:
    case EPERM:
      return error_at(Errc::denied, path);
    case ELOOP:
      return error_at(Errc::unreadable, path, "too many links");
    case EAGAIN:
      return error_at(Errc::unreadable, path, "gives nothing without waiting");
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
      return error_at(Errc::timed_out, path, std::generic_category().message(number));
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return error_at(Errc::failed, path, std::generic_category().message(number));
    default:
      return error_at(Errc::unreadable, path, std::generic_category().message(number));
  }
}

Result<std::string> clean_path(std::string_view path) {
  if (path.size() > kPathLimitBytes) {
    return error_at(Errc::unreadable, path.substr(0, 64), "the path is too long");
  }
  if (!path.starts_with('/')) {
    return error_at(Errc::unreadable, path, "is no absolute path");
  }
  if (path.find('\0') != std::string_view::npos) {
    return error_at(Errc::unreadable, path.substr(0, path.find('\0')), "a NUL byte in the path");
  }
  std::string clean;
  clean.reserve(path.size());
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") {
      clean += '/';
      clean += part;
    }
  }
  if (clean.empty()) {
    clean = "/";
  }
  return clean;
}

std::string_view folder_of(std::string_view clean) {
  const std::size_t slash = clean.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : clean.substr(0, slash);
}

std::string_view name_of(std::string_view clean) { return clean.substr(clean.rfind('/') + 1); }

std::string joined(std::string_view folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  if (folder != "/") {
    path += folder;
  }
  path += '/';
  path += name;
  return path;
}

bool is_within(std::string_view path, std::string_view folder) {
  return folder == "/" ||
         (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

}  // namespace goldenv::host
