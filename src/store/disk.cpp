#include "store/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace goldenv::store {

void (*step_hook)() = nullptr;

void step() {
  if (step_hook != nullptr) {
    step_hook();
  }
}

Error system_error(const std::string& path, int number) {
  Errc code = Errc::failed;
  std::string words = std::strerror(number);
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      code = Errc::absent;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = Errc::denied;
      break;
    case ENOSPC:
      words = "the disk is full";
      break;
    case EDQUOT:
      words = "the disk quota is used up";
      break;
    default:
      break;
  }
  return {code, path + ": " + words, {}};
}

int open_folder(int folder, const std::string& name) {
  return ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

Result<std::string> read_at(int folder, const std::string& name, const std::string& path,
                            std::uint64_t limit_bytes) {
  // O_NONBLOCK: a pipe that somebody put here must not hold us.
  const Descriptor fd(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    return errno == ELOOP ? Error{Errc::unreadable, path + ": a link, not a file", {}}
                          : system_error(path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{Errc::unreadable, path + ": not a regular file", {}};
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit_bytes) {
    return Error{
        Errc::too_large, path + ": more than " + std::to_string(limit_bytes) + " bytes", {}};
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::read(fd.get(), bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return system_error(path, errno);
    }
    if (count == 0) {
      break;
    }
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

Result<void> write_at(int folder, const std::string& name, std::string_view text, unsigned mode,
                      const std::string& path) {
  step();
  const Descriptor fd(
      ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) {
    return system_error(path, errno);
  }
  while (!text.empty()) {
    const ssize_t count = ::write(fd.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return system_error(path, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  // Behind the caller's umask.
  return ::fchmod(fd.get(), static_cast<mode_t>(mode)) == 0 ? Result<void>()
                                                            : system_error(path, errno);
}

Result<std::string> link_at(int folder, const std::string& name, const std::string& path) {
  std::string text(256, '\0');
  for (;;) {
    const ssize_t count = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    if (count < 0) {
      return errno == EINVAL ? Error{Errc::unreadable, path + ": not a link", {}}
                             : system_error(path, errno);
    }
    if (static_cast<std::size_t>(count) < text.size()) {
      text.resize(static_cast<std::size_t>(count));
      return text;
    }
    text.resize(2 * text.size());
  }
}

namespace {

Member::Kind kind_of(mode_t mode) {
  return S_ISREG(mode)   ? Member::Kind::file
         : S_ISDIR(mode) ? Member::Kind::folder
         : S_ISLNK(mode) ? Member::Kind::link
                         : Member::Kind::other;
}

Result<std::vector<Member>> members_of(int folder, const std::string& path) {
  std::vector<Member> members;
  alignas(dirent64) std::array<char, 32768> buffer;
  for (;;) {
    const ssize_t count = ::getdents64(folder, buffer.data(), buffer.size());
    if (count < 0) {
      return system_error(path, errno);
    }
    if (count == 0) {
      return members;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      const char* entry = buffer.data() + at;
      std::uint16_t length = 0;
      std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof length);
      const auto type = static_cast<unsigned char>(entry[offsetof(dirent64, d_type)]);
      Member member;
      member.name = entry + offsetof(dirent64, d_name);
      at += length;
      if (member.name == "." || member.name == "..") {
        continue;
      }
      member.kind = type == DT_REG   ? Member::Kind::file
                    : type == DT_DIR ? Member::Kind::folder
                    : type == DT_LNK ? Member::Kind::link
                                     : Member::Kind::other;
      if (type == DT_UNKNOWN) {
        struct stat status {};
        if (::fstatat(folder, member.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
          continue;  // gone since
        }
        member.kind = kind_of(status.st_mode);
      }
      members.push_back(std::move(member));
    }
  }
}

}  // namespace

Result<std::vector<Member>> members_at(int folder, const std::string& name,
                                       const std::string& path) {
  const Descriptor fd(open_folder(folder, name));
  return fd ? members_of(fd.get(), path) : system_error(path, errno);
}

Result<std::uint64_t> remove_tree(int folder, const std::string& name, const std::string& path) {
  std::uint64_t freed = 0;
  const Descriptor fd(open_folder(folder, name));
  if (!fd) {
    return system_error(path, errno);
  }
  GOLDENV_TRY(const std::vector<Member> members, members_of(fd.get(), path));
  struct stat status {};
  if (::fstat(fd.get(), &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU) {
    ::fchmod(fd.get(), 0700);  // where it fails, the first unlink says so
  }
  for (const Member& member : members) {
    const std::string below = path + "/" + member.name;
    if (member.kind == Member::Kind::folder) {
      GOLDENV_TRY(const std::uint64_t more, remove_tree(fd.get(), member.name, below));
      freed += more;
      continue;
    }
    if (::fstatat(fd.get(), member.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_nlink == 1) {
      freed += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    step();
    if (::unlinkat(fd.get(), member.name.c_str(), 0) != 0 && errno != ENOENT) {
      return system_error(below, errno);
    }
  }
  step();
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return system_error(path, errno);
  }
  return freed;
}

}  // namespace goldenv::store
