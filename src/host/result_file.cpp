#include "host/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "host/child.h"
#include "host/descriptor.h"
#include "host/live.h"
#include "host/path.h"

namespace goldenv::host {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// 0 or the errno of what failed.
int write_special(const std::string& path, std::string_view text) {
  const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  return fd && write_all(fd.get(), text) ? 0 : errno;
}

int write_by_rename(const std::string& path, mode_t mode, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    return errno;
  }
  if (::fchmod(fd.get(), mode) != 0 || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return number;
  }
  return 0;
}

int write_here(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  if (there && !S_ISREG(status.st_mode)) {
    return write_special(path, text);
  }
  // A link stays one: what it leads to is replaced.
  std::string file = path;
  if (there) {
    if (char* real = ::realpath(path.c_str(), nullptr); real != nullptr) {
      file = real;
      ::free(real);
    }
  }
  // mkostemp makes 0600; a new result is as any file that its user makes, an old one keeps its
  // mode.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return write_by_rename(file, there ? status.st_mode & 07777 : 0666 & ~mask, text);
}

Error cannot_write(Errc code, const std::string& path, std::string_view why) {
  return {code, "cannot write " + path + ": " + std::string(why), {}};
}

Error no_answer(const std::string& path, const LiveOptions& options) {
  return cannot_write(
      Errc::timed_out, path,
      "its file system did not answer within " + std::to_string(options.deadline.count()) + " ms");
}

/// Whether a path lies on a mount that can hang. Errors: timed_out, where such a mount on the way
/// to it does not answer.
Result<bool> may_hang(const std::string& path, const LiveOptions& options) {
  std::error_code none;
  const std::string absolute = std::filesystem::absolute(path, none).string();
  const Result<std::string> clean = clean_path(absolute);
  if (none || !clean) {
    return false;
  }
  const std::unique_ptr<Host> host = live_host(options);
  for (const std::string& at : {*clean, std::string(folder_of(*clean))}) {
    const Result<std::string> real = host->real_path(at);
    if (!real && real.error().code == Errc::timed_out) {
      return real.error();
    }
    if (real) {
      std::vector<Mount> mounts = host->mounts();
      mounts.insert(mounts.end(), options.more_mounts.begin(), options.more_mounts.end());
      const Mount* mount = mount_of(mounts, *real);
      return mount != nullptr && mount->point != "/" && can_hang(mount->type);
    }
  }
  return false;
}

}  // namespace

Result<void> write_result(const std::string& path, std::string_view text, LiveOptions options) {
  const Result<bool> by_child = may_hang(path, options);
  if (!by_child) {
    return no_answer(path, options);
  }
  int number = 0;
  if (*by_child) {
    Child child([&](std::string_view, const Child::Announce&) {
      return std::to_string(write_here(path, text));
    });
    const Child::Reply reply = child.ask({}, options.deadline);
    if (reply.end == Child::End::timed_out) {
      return no_answer(path, options);
    }
    if (reply.end != Child::End::answered) {
      return cannot_write(Errc::failed, path, "the child that was to write it failed");
    }
    number = std::atoi(reply.bytes.c_str());
  } else {
    number = write_here(path, text);
  }
  return number == 0 ? Result<void>() : cannot_write(Errc::failed, path, std::strerror(number));
}

}  // namespace goldenv::host
