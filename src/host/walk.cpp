// How Disk gets from a path to an open folder and a name in it.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/text.h"
#include "host/disk.h"
#include "host/path.h"
#include "host/status.h"

namespace goldenv::host {
namespace {

constexpr int kHopLimit = 40;  // MAXSYMLINKS of Linux
constexpr std::string_view kDriver = "/proc/driver/nvidia";
constexpr std::size_t kLinkLimitBytes = 64u << 10;
constexpr std::size_t kOpenFolders = 128;  // of the usual 1,024 descriptors
constexpr std::size_t kKnownFolders = 8192;
constexpr std::size_t kKnownLinks = 4096;

/// Puts the components of `text` in front of `rest`, whose next component is its last.
void push_front(std::vector<std::string>& rest, std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && *part != ".") {
      rest.emplace_back(*part);
    }
  }
}

/// Whether a link stands in a folder that everyone may write to, and is of a user who is neither
/// we, root nor the folder's owner. The kernel would not follow it either where the folder is
/// sticky (proc(5), protected_symlinks), but cannot say so itself, since it is we who follow.
bool is_planted(int folder, const char* name) {
  struct stat above;
  struct stat link;
  if (fstat(folder, &above) != 0 || (above.st_mode & S_IWOTH) == 0) {
    return false;
  }
  return fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
         (link.st_uid != geteuid() && link.st_uid != 0 && link.st_uid != above.st_uid);
}

}  // namespace

int link_text(int folder, const char* name, std::string& text) {
  text.assign(256, '\0');
  while (true) {
    const ssize_t size = readlinkat(folder, name, text.data(), text.size());
    if (size < 0) {
      return errno;
    }
    if (static_cast<std::size_t>(size) < text.size()) {
      text.resize(static_cast<std::size_t>(size));
      return text.empty() ? ENOENT : 0;
    }
    if (text.size() >= kLinkLimitBytes) {
      return ENAMETOOLONG;
    }
    text.resize(text.size() * 4);
  }
}

FileStatus status_from(const struct stat& s) {
  FileStatus status;
  switch (s.st_mode & S_IFMT) {
    case S_IFREG:
      status.kind = FileStatus::Kind::file;
      break;
    case S_IFDIR:
      status.kind = FileStatus::Kind::folder;
      break;
    case S_IFLNK:
      status.kind = FileStatus::Kind::link;
      break;
    case S_IFIFO:
      status.kind = FileStatus::Kind::fifo;
      break;
    case S_IFSOCK:
      status.kind = FileStatus::Kind::socket;
      break;
    case S_IFCHR:
    case S_IFBLK:
      status.kind = FileStatus::Kind::device;
      break;
    default:
      status.kind = FileStatus::Kind::other;
      break;
  }
  status.mode = s.st_mode & 07777;
  status.uid = s.st_uid;
  status.gid = s.st_gid;
  status.size_bytes = static_cast<std::uint64_t>(s.st_size);
  status.device = s.st_dev;
  status.inode = s.st_ino;
  status.mtime_ns = std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec;
  status.ctime_ns = std::int64_t{s.st_ctim.tv_sec} * 1'000'000'000 + s.st_ctim.tv_nsec;
  return status;
}

int Disk::open_at(int folder, const char* name, int flags) const {
  int fd = openat(folder, name, flags | O_CLOEXEC);
  if (fd < 0 && errno == EMFILE && !folders_.empty()) {
    folders_.clear();
    fd = openat(folder, name, flags | O_CLOEXEC);
  }
  return fd;
}

void Disk::keep(const std::string& path, const Folder& folder) const {
  if (folders_.size() >= kOpenFolders) {
    folders_.clear();
  }
  folders_.emplace(path, folder);
}

/// The mount point that one steps on with `path`, or the driver's folder.
std::optional<std::string> Disk::hanging_at(const std::string& path) const {
  if (options_.root.empty() || options_.root.starts_with("/proc/")) {
    // Files of the driver take its locks, which a wedged GPU holds for ever; its folder does not.
    if (path.starts_with(kDriver) && path.size() > kDriver.size() && path[kDriver.size()] == '/') {
      return std::string(kDriver);
    }
  }
  if (options_.root.empty()) {
    return hanging_.contains(path) ? std::optional(path) : std::nullopt;
  }
  std::string full = options_.root + path;
  return hanging_.contains(full) ? std::optional(std::move(full)) : std::nullopt;
}

/// Called before anything at `path` is touched.
std::optional<Error> Disk::enter(const std::string& path, std::string_view asked,
                                 Look& look) const {
  if (options_.answer) {
    if (const std::optional<Errc> code = options_.answer(path)) {
      return error_at(*code, asked);
    }
  }
  const std::optional<std::string> point = hanging_at(path);
  if (!point) {
    return {};
  }
  if (look.announce == nullptr) {
    look.hangs = *point;
    return error_at(Errc::timed_out, asked);
  }
  if (dead_.contains(*point)) {
    return error_at(Errc::timed_out, asked);
  }
  if (look.hangs != *point) {
    look.hangs = *point;
    (*look.announce)(*point);
  }
  return {};
}

/// For a walk that starts in mid-path: what it would have announced on the way there.
void Disk::announce_mount_of(std::string_view path, Look& look) const {
  const std::string full = options_.root + std::string(path);
  for (std::string_view point = full;; point = folder_of(point)) {
    if (hanging_.contains(point)) {
      if (look.hangs != point) {
        look.hangs = point;
        (*look.announce)(point);
      }
      return;
    }
    if (point == "/") {
      return;
    }
  }
}

Error Disk::error_for(int number, std::string_view folder, std::string_view name,
                      std::string_view asked) const {
  if (number == ENOENT && options_.missing) {
    return error_at(options_.missing(folder, name), asked);
  }
  return error_of(number, asked);
}

/// The open folder of a path that a walk has been through.
Result<Disk::Folder> Disk::open_folder(const std::string& path, std::string_view asked,
                                       Look& look) const {
  // Up to the nearest one that is still open, then down again.
  std::string_view known = path;
  std::vector<std::string_view> names;
  Folder folder;
  while (true) {
    const auto it = folders_.find(std::string(known));
    if (it != folders_.end()) {
      folder = it->second;
      break;
    }
    if (known == "/") {
      const std::string root = options_.root.empty() ? "/" : options_.root;
      const int fd = open_at(AT_FDCWD, root.c_str(), O_PATH | O_DIRECTORY);
      if (fd < 0) {
        return error_of(errno, asked);
      }
      folder = std::make_shared<const Descriptor>(fd);
      keep("/", folder);
      break;
    }
    names.push_back(name_of(known));
    known = folder_of(known);
  }
  std::string here(known);
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    std::string next = joined(here, *name);
    if (std::optional<Error> error = enter(next, asked, look)) {
      return *std::move(error);
    }
    const int fd =
        open_at(folder->get(), std::string(*name).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0) {
      return error_for(errno, here, *name, asked);
    }
    folder = std::make_shared<const Descriptor>(fd);
    keep(next, folder);
    here = std::move(next);
  }
  return folder;
}

/// For a path without links whose last component was a folder a moment ago.
Result<Disk::Place> Disk::place_of(std::string path, std::string_view asked, Look& look) const {
  GOLDENV_TRY(Folder folder, open_folder(path, asked, look));
  struct stat s;
  if (fstatat(folder->get(), ".", &s, 0) != 0) {
    return error_of(errno, asked);
  }
  return Place{std::move(folder), ".", std::move(path), status_from(s)};
}

Result<Disk::Place> Disk::find(std::string_view asked, Links links, Look& look) const {
  GOLDENV_TRY(const std::string clean, clean_path(asked));
  if (!root_hangs_.empty() && look.announce == nullptr) {
    look.hangs = root_hangs_;
    return error_at(Errc::timed_out, asked);
  }
  std::string here = "/";
  std::vector<std::string> rest;
  const std::string as_written(folder_of(clean));
  const auto known = resolved_.find(as_written);
  if (known != resolved_.end()) {
    here = known->second;
    if (look.announce != nullptr) {
      announce_mount_of(here, look);
    }
    push_front(rest, name_of(clean));
  } else {
    push_front(rest, clean);
  }
  Folder folder;        // of `here`; opened when needed
  bool linked = false;  // whether a link at the last component of `asked` was followed
  int hops = 0;
  while (!rest.empty()) {
    const std::string name = std::move(rest.back());
    rest.pop_back();
    if (name == "..") {
      here = folder_of(here);
      folder = nullptr;
      continue;
    }
    const bool last = rest.empty();
    if (last && !linked && known == resolved_.end()) {
      if (resolved_.size() >= kKnownFolders) {
        resolved_.clear();
      }
      resolved_.emplace(as_written, here);
    }
    std::string path = joined(here, name);
    if (std::optional<Error> error = enter(path, asked, look)) {
      return *std::move(error);
    }
    if (!last) {
      const auto open_one = folders_.find(path);
      if (open_one != folders_.end()) {
        folder = open_one->second;
        here = std::move(path);
        continue;
      }
    }
    const auto known_link = last ? links_.end() : links_.find(path);
    if (known_link != links_.end()) {
      if (++hops > kHopLimit) {
        return error_of(ELOOP, asked);
      }
      push_front(rest, known_link->second);
      if (known_link->second.starts_with('/')) {
        here = "/";
        folder = nullptr;
      }
      continue;
    }
    if (!folder) {
      GOLDENV_TRY(folder, open_folder(here, asked, look));
    }
    bool is_link = false;
    if (last) {
      struct stat s;
      if (fstatat(folder->get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
        return error_for(errno, here, name, asked);
      }
      is_link = S_ISLNK(s.st_mode);
      if (!is_link || links == Links::stop_at_last) {
        return Place{std::move(folder), name, std::move(path), status_from(s)};
      }
    } else {
      const int fd = open_at(folder->get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (fd >= 0) {
        folder = std::make_shared<const Descriptor>(fd);
        keep(path, folder);
        here = std::move(path);
        continue;
      }
      // ENOTDIR is a link or a file; which one, readlink tells.
      if (errno != ENOTDIR && errno != ELOOP) {
        return error_for(errno, here, name, asked);
      }
    }
    std::string target;
    if (const int number = link_text(folder->get(), name.c_str(), target); number != 0) {
      // EINVAL: no link, so a file in the middle of a path.
      return error_of(!last && number == EINVAL ? ENOTDIR : number, asked);
    }
    if (++hops > kHopLimit) {
      return error_of(ELOOP, asked);
    }
    if (options_.root.empty() && is_planted(folder->get(), name.c_str())) {
      return error_at(Errc::denied, asked, "a link of another user in a folder open to all");
    }
    linked = linked || last;
    push_front(rest, target);
    if (target.starts_with('/')) {
      here = "/";
      folder = nullptr;
    }
    if (!last) {
      if (links_.size() >= kKnownLinks) {
        links_.clear();
      }
      links_.emplace(std::move(path), std::move(target));
    }
  }
  return place_of(std::move(here), asked, look);
}

}  // namespace goldenv::host
