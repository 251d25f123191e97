#include "image/package.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "archive/decompression.h"
#include "base/text.h"
#include "host/host.h"

namespace goldenv::image {
namespace {

constexpr int kLinkLimit = 8;  // of links to links in the archive

Error problem(const std::string& path, int number) {
  const Errc code = number == ENOENT || number == ENOTDIR ? Errc::usage : Errc::failed;
  return {code,
          code == Errc::usage ? "no such file: " + path : path + ": " + std::strerror(number),
          {}};
}

/// "a/c" of "./a/b/../c"; "" where it leads out.
std::string plain(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      if (parts.empty()) {
        return {};
      }
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
  }
  return join(parts, "/");
}

std::string folder_of(const std::string& member) {
  const std::size_t slash = member.rfind('/');
  return slash == std::string::npos ? std::string() : member.substr(0, slash + 1);
}

}  // namespace

Result<Package> Package::open(const std::string& path) {
  // Looked at first by the host, which does not wait for a mount that never answers.
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  const auto seen = host::live_host()->status(whole.string());
  if (!seen && seen.error().code == Errc::timed_out) {
    return Error{Errc::failed, path + ": its file system does not answer", {}};
  }
  Package package;
  package.path_ = path;
  package.file_ =
      host::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!package.file_ || ::fstat(package.file_.get(), &status) != 0) {
    return problem(path, errno);
  }
  // What we may open and the host would not: a link that somebody laid where all may lay one.
  if (!seen && seen.error().code == Errc::denied) {
    return Error{Errc::failed, seen.error().message, {}};
  }
  if (S_ISDIR(status.st_mode)) {
    package.is_folder_ = true;
    return package;
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{Errc::usage, path + " is no regular file", {}};
  }
  if (const Result<void> read = package.read_members(); !read) {
    return read.error();
  }
  return package;
}

Result<void> Package::read_members() {
  struct stat status {};
  ::fstat(file_.get(), &status);
  char head[6] = {};
  const ssize_t got = ::pread(file_.get(), head, sizeof head, 0);
  if (got < 0) {
    return problem(path_, errno);
  }
  const std::string_view first(head, static_cast<std::size_t>(got));
  if (archive::compression_of(first) != archive::Compression::none) {
    // Each layer would have to be sought from the beginning of all.
    return Error{Errc::usage,
                 path_ + " is compressed as a whole; unpacked (gunzip, zstd -d) it can be read",
                 {}};
  }
  archive::TarBudget budget;
  archive::Tar tar({file_.get(), 0, static_cast<std::uint64_t>(status.st_size)}, path_, budget,
                   archive::Tar::Reading::skipping);
  while (true) {
    auto next = tar.next();
    if (!next) {
      Error error = std::move(next).error();
      if (error.message == path_ + ": is no tar archive, neither plain nor gzip nor zstd") {
        error = {Errc::usage, path_ + " is no archive of an image: no tar", {}};
      }
      return error;
    }
    if (!*next) {
      return {};
    }
    archive::Member& member = **next;
    const std::string name = plain(member.path);
    if (member.kind == archive::Member::Kind::file && member.offset) {
      members_[name] = {file_.get(), *member.offset, member.size_bytes};
    } else if (member.kind == archive::Member::Kind::link) {
      links_[name] = plain(folder_of(name) + member.target);
    } else if (member.kind == archive::Member::Kind::hard_link) {
      links_[name] = plain(member.target);
    }
  }
}

bool Package::has(const std::string& member) const {
  if (!is_folder_) {
    return members_.contains(member) || links_.contains(member);
  }
  struct stat status {};
  return ::fstatat(file_.get(), member.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<archive::Part> Package::find(const std::string& member) const {
  const Error missing{Errc::malformed, path_ + ": " + member + " is not in it", {}};
  if (!is_folder_) {
    std::string name = plain(member);
    for (int hops = 0; hops < kLinkLimit && links_.contains(name); ++hops) {
      name = links_.find(name)->second;
    }
    const auto it = members_.find(name);
    return it == members_.end() ? Result<archive::Part>(missing) : it->second;
  }
  const std::string name = plain(member);
  auto it = open_.find(name);
  if (it == open_.end()) {
    host::Descriptor fd(::openat(file_.get(), name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
      return errno == ENOENT || errno == ENOTDIR
                 ? missing
                 : Error{Errc::failed, path_ + "/" + name + ": " + std::strerror(errno), {}};
    }
    it = open_.emplace(name, std::move(fd)).first;
  }
  struct stat status {};
  if (::fstat(it->second.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{Errc::malformed, path_ + "/" + name + ": is no regular file", {}};
  }
  return archive::Part{it->second.get(), 0, static_cast<std::uint64_t>(status.st_size)};
}

Result<std::string> Package::text(const std::string& member, std::size_t limit_bytes) const {
  GOLDENV_TRY(const archive::Part part, find(member));
  if (part.size_bytes > limit_bytes) {
    return Error{
        Errc::too_large,
        path_ + ": " + member + " is larger than " + std::to_string(limit_bytes >> 20) + " MiB",
        {}};
  }
  std::string text(static_cast<std::size_t>(part.size_bytes), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::pread(part.fd, text.data() + done, text.size() - done,
                                static_cast<off_t>(part.offset + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return Error{
          Errc::failed, path_ + ": " + (got < 0 ? std::strerror(errno) : "became shorter"), {}};
    }
    done += static_cast<std::size_t>(got);
  }
  return text;
}

}  // namespace goldenv::image
