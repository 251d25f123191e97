#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <tuple>

#include "store/disk.h"
#include "store/folder.h"
#include "store/lock.h"

namespace goldenv::store {
namespace {

constexpr std::uint64_t kObjectBytes = 64U << 20U;
constexpr std::uint64_t kFilesBytes = 512U << 20U;
// What lies in tmp/ and is no folder is there for microseconds.
constexpr std::time_t kLooseSeconds = 3600;

/// Removes from tmp/ what dead processes left. What cannot be removed is left to the next one.
void sweep(int fd, const std::string& path) {
  const Descriptor tmp(open_folder(fd, "tmp"));
  if (!tmp) {
    return;
  }
  const Result<std::vector<Member>> members = members_at(tmp.get(), ".", path);
  if (!members) {
    return;
  }
  for (const Member& member : *members) {
    if (may_live(member.name)) {
      continue;
    }
    if (member.kind == Member::Kind::folder) {
      const Descriptor folder(open_folder(tmp.get(), member.name));
      if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
        [[maybe_unused]] const auto gone =
            remove_tree(tmp.get(), member.name, path + "/" + member.name);
      }
      continue;
    }
    struct stat status {};
    if (::fstatat(tmp.get(), member.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_mtime + kLooseSeconds < ::time(nullptr)) {
      ::unlinkat(tmp.get(), member.name.c_str(), 0);
    }
  }
}

}  // namespace

bool take_lock(int fd, int how, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kStep{10};
  const auto begin = std::chrono::steady_clock::now();
  while (::flock(fd, how | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return false;
    }
    if (std::chrono::steady_clock::now() - begin >= patience) {
      errno = EWOULDBLOCK;
      return false;
    }
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

Result<std::string> Store::default_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string own = variable("GOLDENV_STORE"); !own.empty()) {
    return own.starts_with('/')
               ? Result<std::string>(std::move(own))
               : Error{Errc::usage,
                       "GOLDENV_STORE must be an absolute path, not \"" + own + "\"",
                       {}};
  }
  if (const std::string data = variable("XDG_DATA_HOME"); data.starts_with('/')) {
    return data + "/goldenv/store";
  }
  if (const std::string home = variable("HOME"); home.starts_with('/')) {
    return home + "/.local/share/goldenv/store";
  }
  return Error{
      Errc::usage, "where is the store? set GOLDENV_STORE to its folder (HOME is not set)", {}};
}

Result<Store> Store::open(const std::string& folder, Access access) {
  if (Result<void> fit = check_path(folder); !fit && access == Access::write) {
    return std::move(fit).error();
  }
  GOLDENV_TRY(Opened opened, open_store_folder(folder, access == Access::write));
  if (Result<void> fit = check_path(opened.path); !fit && access == Access::write) {
    return std::move(fit).error();
  }
  Result<void> fits = check_version(opened);
  if (!fits && fits.error().code == Errc::absent && access == Access::write) {
    if (Result<void> made = make_store(opened); !made) {
      return std::move(made).error();
    }
    fits = check_version(opened);
  }
  if (!fits) {
    return std::move(fits).error();
  }
  if (Result<void> made = access == Access::write ? make_folders(opened) : Result<void>(); !made) {
    return std::move(made).error();
  }
  Store store;
  store.access_ = access;
  store.folder_ = std::move(opened.path);
  store.fd_ = std::move(opened.fd);
  const std::string lock = store.at("lock");
  const int flags = O_CLOEXEC | O_NOFOLLOW;
  store.lock_ = Descriptor(::openat(store.fd_.get(), "lock", flags | O_RDWR | O_CREAT, 0644));
  if (!store.lock_ && access == Access::write) {
    return system_error(lock, errno);
  }
  if (!store.lock_) {
    store.lock_ = Descriptor(::openat(store.fd_.get(), "lock", flags | O_RDONLY));
  }
  // A store on a read-only disk may have no lock file, and needs none.
  if (store.lock_ && !take_lock(store.lock_.get(), LOCK_SH, kLockPatience)) {
    return errno == EWOULDBLOCK
               ? Error{Errc::timed_out, lock + ": another goldenv is collecting garbage", {}}
               : system_error(lock, errno);
  }
  if (access == Access::write) {
    sweep(store.fd_.get(), store.at("tmp"));
  }
  return store;
}

Building& Building::operator=(Building&& other) noexcept {
  if (this != &other) {
    std::swap(folder_, other.folder_);
    std::swap(fd_, other.fd_);
  }
  return *this;
}

Building::~Building() {
  if (!folder_.empty()) {
    [[maybe_unused]] const auto gone = remove_tree(AT_FDCWD, folder_, folder_);
  }
}

void Building::release() {
  folder_.clear();
  fd_.reset();
}

Result<Building> Store::begin(std::string_view label) const {
  if (access_ != Access::write) {
    return Error{Errc::denied, folder_ + ": the store is open for reading only", {}};
  }
  for (;;) {
    const std::string name = "tmp/" + temporary_name(label);
    step();
    if (::mkdirat(fd_.get(), name.c_str(), 0700) != 0) {
      return system_error(at(name), errno);
    }
    Descriptor fd(open_folder(fd_.get(), name));
    if (!fd) {
      if (errno == ENOENT) {
        continue;
      }
      return system_error(at(name), errno);
    }
    // Between these two another goldenv, of another PID namespace, may have taken it for left over.
    const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK) {
      continue;
    }
    struct stat status {};
    if (!locked || (::fstat(fd.get(), &status) == 0 && status.st_nlink > 0)) {
      return Building(at(name), std::move(fd));  // not locked: NFS locks no folders
    }
  }
}

std::string Store::tree(std::string_view id) const {
  return at("objects/" + std::string(id) + "/tree");
}

Result<std::vector<std::string>> Store::ids() const {
  GOLDENV_TRY(const std::vector<Member> members, members_at(fd_.get(), "objects", at("objects")));
  std::vector<std::string> ids;
  for (const Member& member : members) {
    if (member.kind == Member::Kind::folder) {
      ids.push_back(member.name);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

Result<Object> Store::get(std::string_view id) const {
  const std::string name = "objects/" + std::string(id) + "/object.json";
  if (!is_tree_path(id) || id.find('/') != std::string_view::npos) {
    return Error{Errc::absent, at("objects") + ": no object can have that name", {}};
  }
  GOLDENV_TRY(const std::string text, read_at(fd_.get(), name, at(name), kObjectBytes));
  GOLDENV_TRY(Object object, parse_object(text, at(name)));
  if (object.id() != id) {
    return Error{Errc::malformed, at(name) + ": it is of another object, " + object.id(), {}};
  }
  return object;
}

Result<std::vector<File>> Store::files(std::string_view id) const {
  const std::string name = "objects/" + std::string(id) + "/files.json";
  GOLDENV_TRY(const std::string text, read_at(fd_.get(), name, at(name), kFilesBytes));
  GOLDENV_TRY(FileList list, parse_files(text, at(name)));
  return std::move(list.files);
}

Result<std::optional<Object>> Store::find(std::string_view key) const {
  GOLDENV_TRY(const std::vector<Member> members, members_at(fd_.get(), "objects", at("objects")));
  const std::string prefix = std::string(key.substr(0, 32)) + "-";
  for (const Member& member : members) {
    if (member.name.starts_with(prefix)) {
      GOLDENV_TRY(Object object, get(member.name));
      if (object.key == key) {
        return std::optional<Object>(std::move(object));
      }
    }
  }
  return std::optional<Object>();
}

bool Store::has(std::string_view key) const {
  const Result<std::optional<Object>> found = find(key);
  return found && found->has_value();
}

Result<std::vector<Object>> Store::list() const {
  GOLDENV_TRY(const std::vector<std::string> names, ids());
  std::vector<Object> objects;
  objects.reserve(names.size());
  for (const std::string& name : names) {
    GOLDENV_TRY(Object object, get(name));
    objects.push_back(std::move(object));
  }
  std::ranges::stable_sort(objects, [](const Object& a, const Object& b) {
    return std::tie(a.name, a.version) < std::tie(b.name, b.version);
  });
  return objects;
}

std::string Store::generation(std::string_view digest) const {
  return at("envs/" + std::string(digest));
}

}  // namespace goldenv::store
