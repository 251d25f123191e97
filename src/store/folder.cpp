#include "store/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/text.h"
#include "store/disk.h"
#include "store/object.h"

namespace goldenv::store {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

Error denied(const std::string& path, std::string_view why) {
  return {Errc::denied, path + ": " + std::string(why), {}};
}

void push_parts(std::vector<std::string>& parts, std::string_view path) {
  const std::vector<std::string_view> all = split(path, '/');
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    if (!it->empty() && *it != ".") {
      parts.emplace_back(*it);
    }
  }
}

std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// One walk from the root down, link by link, with each folder looked at on the way.
class Walk {
 public:
  explicit Walk(bool make) : make_(make) {}

  Result<Opened> to(const std::string& path) {
    at_.path = "/";
    at_.fd = Descriptor(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!at_.fd || ::fstat(at_.fd.get(), &status_) != 0) {
      return system_error("/", errno);
    }
    push_parts(left_, path);
    while (!left_.empty()) {
      const std::string part = std::move(left_.back());
      left_.pop_back();
      GOLDENV_TRY([[maybe_unused]] const bool went, part == ".." ? up() : down(part));
    }
    if (status_.st_uid != ::geteuid() && status_.st_uid != 0) {
      return denied(at_.path, "the store is of another user (uid " +
                                  std::to_string(status_.st_uid) + ") and not trusted");
    }
    if ((status_.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return denied(at_.path,
                    "the store may be written by others, so it is not trusted; chmod "
                    "go-w would close it");
    }
    return std::move(at_);
  }

 private:
  [[nodiscard]] std::string below(const std::string& name) const {
    return (at_.path == "/" ? "" : at_.path) + "/" + name;
  }

  Result<bool> enter(Descriptor fd, std::string path) {
    if (!fd || ::fstat(fd.get(), &status_) != 0) {
      return system_error(path, errno);
    }
    at_.fd = std::move(fd);
    at_.path = std::move(path);
    return true;
  }

  Result<bool> up() { return enter(Descriptor(open_folder(at_.fd.get(), "..")), above(at_.path)); }

  Result<bool> down(const std::string& name) {
    const bool open_to_all = (status_.st_mode & S_IWOTH) != 0;
    if (open_to_all && (status_.st_mode & S_ISVTX) == 0) {
      return denied(at_.path, "anybody may replace what is in this folder, also the store");
    }
    struct stat status {};
    if (::fstatat(at_.fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT || !make_) {
        return system_error(below(name), errno);
      }
      // A second goldenv may be as far as we are.
      if (::mkdirat(at_.fd.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
        return system_error(below(name), errno);
      }
    } else if (S_ISLNK(status.st_mode)) {
      if (open_to_all) {
        return denied(below(name), "a link in a folder that is open to all is not followed");
      }
      if (++links_ > kMostLinks) {
        return Error{Errc::failed, below(name) + ": a loop of links", {}};
      }
      GOLDENV_TRY(const std::string text, link_at(at_.fd.get(), name, below(name)));
      push_parts(left_, text);
      return text.starts_with('/')
                 ? enter(Descriptor(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), "/")
                 : Result<bool>(true);
    }
    return enter(Descriptor(open_folder(at_.fd.get(), name)), below(name));
  }

  bool make_;
  Opened at_;
  struct stat status_ {};
  std::vector<std::string> left_;  // the next last
  int links_ = 0;
};

}  // namespace

Result<Opened> open_store_folder(const std::string& path, bool make) {
  if (!path.starts_with('/')) {
    return Error{Errc::usage, "the store's folder must be absolute, not \"" + path + "\"", {}};
  }
  return Walk(make).to(path);
}

Result<void> check_path(const std::string& path) {
  const bool is_plain = std::ranges::none_of(
      path, [](char c) { return c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (is_plain && is_utf8(path)) {
    return {};
  }
  return Error{Errc::usage,
               "no environment could be used in a store at " + to_utf8(path) +
                   ": its path must be UTF-8 without ':' (which parts the folders of PATH) and "
                   "control characters",
               {}};
}

Result<void> make_folders(const Opened& folder) {
  for (const char* name : kFolders) {
    step();
    if (::mkdirat(folder.fd.get(), name, 0755) != 0 && errno != EEXIST) {
      return system_error(folder.path + "/" + name, errno);
    }
  }
  return {};
}

Result<void> check_version(const Opened& folder) {
  const Result<std::string> text =
      read_at(folder.fd.get(), "version", folder.path + "/version", 4096);
  if (!text) {
    return text.error().code == Errc::absent
               ? Error{Errc::absent, folder.path + ": no goldenv store", {}}
               : text.error();
  }
  if (*text == kVersionText) {
    return {};
  }
  return Error{Errc::malformed,
               folder.path + "/version: " +
                   (text->starts_with("goldenv store ")
                        ? "a store of another form than this goldenv knows: \""
                        : "no version of a store: \"") +
                   shortened(trim(*text), 40) + "\"",
               {}};
}

Result<void> make_store(const Opened& folder) {
  const int fd = folder.fd.get();
  GOLDENV_TRY(const std::vector<Member> members, members_at(fd, ".", folder.path));
  for (const Member& member : members) {
    // A second goldenv may be making it, too, and be done already: then it has a version.
    if (member.name != "lock" && member.name != "version" &&
        std::ranges::find(kFolders, member.name) == kFolders.end()) {
      return Error{
          Errc::malformed,
          folder.path + ": no goldenv store, and not empty: it has " + shortened(member.name, 60),
          {}};
    }
  }
  if (Result<void> made = make_folders(folder); !made) {
    return made;
  }
  // The version comes last: where it is, all is.
  const std::string fresh = temporary_name("version");
  if (Result<void> written = write_at(fd, "tmp/" + fresh, kVersionText, 0644, folder.path);
      !written) {
    ::unlinkat(fd, ("tmp/" + fresh).c_str(), 0);
    return written;
  }
  step();
  if (::renameat(fd, ("tmp/" + fresh).c_str(), fd, "version") != 0) {
    return system_error(folder.path + "/version", errno);
  }
  ::fsync(fd);
  return {};
}

const std::string& boot_id() {
  static const std::string id = [] {
    std::string text;
    const Descriptor fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> bytes{};
    const ssize_t count = fd ? ::read(fd.get(), bytes.data(), bytes.size()) : 0;
    for (ssize_t i = 0; i < count; ++i) {
      const char c = bytes[static_cast<std::size_t>(i)];
      if (c != '-' && c != '\n') {
        text += c;
      }
    }
    return text.empty() ? std::string("unknown") : text;
  }();
  return id;
}

std::string temporary_name(std::string_view label) {
  std::array<unsigned char, 8> random{};
  // Cannot fail for so few bytes once the machine is up; the pid alone tells processes apart.
  [[maybe_unused]] const ssize_t got = ::getrandom(random.data(), random.size(), 0);
  std::string name = reduced(label) + "-" + std::to_string(::getpid()) + "-" + boot_id() + "-";
  for (const unsigned char byte : random) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    name += kDigits[byte >> 4U];
    name += kDigits[byte & 0xFU];
  }
  return name;
}

bool may_live(std::string_view temporary_name) {
  const std::vector<std::string_view> parts = split(temporary_name, '-');
  const std::size_t count = parts.size();
  const auto pid = count >= 4 ? to_number(parts[count - 3]) : std::nullopt;
  if (!pid || *pid == 0 || *pid > 0x7FFFFFFF) {
    return true;
  }
  return parts[count - 2] == boot_id() &&
         (::kill(static_cast<pid_t>(*pid), 0) == 0 || errno != ESRCH);
}

}  // namespace goldenv::store
