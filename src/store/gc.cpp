#include "store/gc.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <set>

#include "store/disk.h"
#include "store/folder.h"
#include "store/lock.h"
#include "store/processes.h"

namespace goldenv::store {
namespace {

/// Bytes on the disk of all that lies in a folder; what cannot be read counts nothing.
std::uint64_t size_of(int above, const std::string& name) {
  struct stat status {};
  if (::fstatat(above, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return 0;
  }
  std::uint64_t bytes = status.st_nlink > 1 && !S_ISDIR(status.st_mode)
                            ? 0
                            : static_cast<std::uint64_t>(status.st_blocks) * 512;
  if (!S_ISDIR(status.st_mode)) {
    return bytes;
  }
  const Descriptor fd(open_folder(above, name));
  const auto members = fd ? members_at(fd.get(), ".", name) : Result<std::vector<Member>>(Error{});
  if (members) {
    for (const Member& member : *members) {
      bytes += size_of(fd.get(), member.name);
    }
  }
  return bytes;
}

/// The lock for this process alone, and shared again at the end.
class Alone {
 public:
  explicit Alone(int fd) : fd_(fd) {}
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() { release(); }

  bool take(std::chrono::milliseconds patience) { return take_lock(fd_, LOCK_EX, patience); }
  void release() { take_lock(fd_, LOCK_SH, kLockPatience); }

 private:
  int fd_;
};

class Collection {
 public:
  Collection(const Store& store, const GcOptions& options)
      : store_(store), options_(options), now_(::time(nullptr)) {}

  Result<Collected> run() {
    if (store_.access() != Access::write) {
      return Error{Errc::denied, store_.folder() + ": the store is open for reading only", {}};
    }
    {
      Alone alone(store_.lock_fd());
      if (!alone.take(options_.patience)) {
        return errno == EWOULDBLOCK
                   ? Error{Errc::timed_out,
                           store_.folder() + ": another goldenv uses the store; try again later",
                           {}}
                   : system_error(store_.at("lock"), errno);
      }
      if (Result<void> marked = mark(); !marked) {
        return std::move(marked).error();
      }
      if (Result<void> swept = sweep(); !swept) {
        return std::move(swept).error();
      }
    }
    // Out of sight already: nobody has to wait for the rest.
    if (Result<void> emptied = empty_trash(); !emptied) {
      return std::move(emptied).error();
    }
    return std::move(collected_);
  }

 private:
  [[nodiscard]] bool is_young(const std::string& name) const {
    struct stat status {};
    if (::fstatat(store_.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return false;
    }
    // A clock that went back makes nothing old.
    return status.st_ctime > now_ || now_ - status.st_ctime < options_.min_age.count();
  }

  [[nodiscard]] bool is_leased(const std::string& digest) const {
    const std::string name = "leases/" + digest;
    const Descriptor fd(::openat(store_.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    return fd ? ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 : errno != ENOENT;
  }

  /// Why a generation without a root stays; "" where it goes.
  [[nodiscard]] std::string reason(const std::string& digest, const InUse& in_use) const {
    if (is_leased(digest)) {
      return "goldenv run holds it";
    }
    if (in_use.generations.contains(digest)) {
      return "a process runs in it";
    }
    if (is_young("envs/" + digest) || is_young("leases/" + digest)) {
      return "it is young";
    }
    if (all_in_use_) {
      return "processes that may not be looked at may use it";
    }
    return {};
  }

  Result<void> mark() {
    // Without its names every environment would be dead.
    if (!Descriptor(open_folder(store_.fd(), "roots"))) {
      return system_error(store_.at("roots"), errno);
    }
    GOLDENV_TRY(const RootFolder roots, store_.root_folder());
    for (const StrayRoot& stray : roots.strays) {
      if (stray.is_link) {
        return Error{Errc::malformed, store_.at("roots/" + stray.name) + ": " + stray.says, {}};
      }
    }
    GOLDENV_TRY(const InUse in_use, used_by_processes(options_.proc));
    // What even root may not look at is of a sandbox around us, and has no store of ours.
    all_in_use_ = !in_use.unseen.empty() && !options_.assume_idle && ::geteuid() != 0;
    collected_.unseen = all_in_use_ ? in_use.unseen.size() : 0;
    std::set<std::string> named;
    std::set<std::string> lasting;  // generations that stay
    for (const NamedRoot& root : roots.roots) {
      if (!is_manifest_root(root.name) || is_young("roots/" + root.name)) {
        named.insert(root.digest);
      }
    }
    std::set<std::string> needed = in_use.objects;
    GOLDENV_TRY(const std::vector<std::string> generations, store_.generations());
    for (const std::string& digest : generations) {
      if (!named.contains(digest)) {
        std::string why = reason(digest, in_use);
        if (why.empty()) {
          dead_generations_.push_back(digest);
          continue;
        }
        collected_.kept.push_back({digest, std::move(why)});
      }
      lasting.insert(digest);
      GOLDENV_TRY(const std::vector<std::string> ids, store_.objects_of(digest));
      needed.insert(ids.begin(), ids.end());
    }
    for (const NamedRoot& root : roots.roots) {
      if (is_manifest_root(root.name) && !lasting.contains(root.digest) &&
          !is_young("roots/" + root.name)) {
        dead_roots_.push_back(root.name);
      }
    }
    return mark_objects(needed);
  }

  Result<void> mark_objects(const std::set<std::string>& needed) {
    std::set<std::string> artifacts;
    bool all_known = true;
    GOLDENV_TRY(const std::vector<std::string> ids, store_.ids());
    for (const std::string& id : ids) {
      if (!needed.contains(id) && !is_young("objects/" + id) && !all_in_use_) {
        dead_objects_.push_back(id);
        continue;
      }
      const Result<Object> object = store_.get(id);
      all_known = all_known && object;
      if (object) {
        artifacts.insert(object->artifact.sha256);
      }
    }
    // What an object that cannot be read was made of is not known, so all artifacts stay.
    if (!all_known) {
      return {};
    }
    GOLDENV_TRY(const std::vector<Member> members,
                members_at(store_.fd(), "artifacts", store_.at("artifacts")));
    for (const Member& member : members) {
      if (!artifacts.contains(member.name) && !is_young("artifacts/" + member.name)) {
        dead_artifacts_.push_back(member.name);
      }
    }
    std::ranges::sort(dead_artifacts_);
    return {};
  }

  /// Renames what is dead out of sight, what leads to something before that.
  Result<void> sweep() {
    for (const std::string& name : dead_roots_) {
      if (!options_.dry_run) {
        if (Result<void> removed = store_.remove_root(name); !removed) {
          return removed;
        }
      }
      collected_.gone.push_back({Gone::Kind::root, name, 0});
    }
    for (const auto& [kind, folder, names] :
         {std::tuple(Gone::Kind::generation, "envs/", &dead_generations_),
          std::tuple(Gone::Kind::object, "objects/", &dead_objects_),
          std::tuple(Gone::Kind::artifact, "artifacts/", &dead_artifacts_)}) {
      for (const std::string& name : *names) {
        const std::string place = folder + name;
        const std::uint64_t bytes = size_of(store_.fd(), place);
        if (!options_.dry_run) {
          const std::string trash = "trash/" + temporary_name("gone");
          step();
          if (::renameat(store_.fd(), place.c_str(), store_.fd(), trash.c_str()) != 0) {
            return system_error(store_.at(place), errno);
          }
          if (kind == Gone::Kind::generation) {
            ::unlinkat(store_.fd(), ("leases/" + name).c_str(), 0);
          }
        }
        collected_.freed_bytes += bytes;
        collected_.gone.push_back({kind, name, bytes});
      }
    }
    return leftovers();
  }

  /// tmp/ was swept when the store was opened; what no process of this machine can be asked about
  /// goes a day later.
  Result<void> leftovers() {
    constexpr std::time_t kDay = 86400;
    GOLDENV_TRY(const std::vector<Member> members,
                members_at(store_.fd(), "tmp", store_.at("tmp")));
    for (const Member& member : members) {
      const std::string place = "tmp/" + member.name;
      struct stat status {};
      if (::fstatat(store_.fd(), place.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          now_ - status.st_ctime < kDay) {
        continue;
      }
      const Descriptor fd(open_folder(store_.fd(), place));
      if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        continue;
      }
      const std::uint64_t bytes = size_of(store_.fd(), place);
      if (!options_.dry_run) {
        const std::string trash = "trash/" + temporary_name("gone");
        step();
        if (::renameat(store_.fd(), place.c_str(), store_.fd(), trash.c_str()) != 0) {
          return system_error(store_.at(place), errno);
        }
      }
      collected_.freed_bytes += bytes;
      collected_.gone.push_back({Gone::Kind::leftover, member.name, bytes});
    }
    return {};
  }

  Result<void> empty_trash() {
    if (options_.dry_run) {
      return {};
    }
    GOLDENV_TRY(const std::vector<Member> members,
                members_at(store_.fd(), "trash", store_.at("trash")));
    const Descriptor trash(open_folder(store_.fd(), "trash"));
    for (const Member& member : members) {
      const std::string path = store_.at("trash/" + member.name);
      if (member.kind == Member::Kind::folder) {
        const Result<std::uint64_t> gone = remove_tree(trash.get(), member.name, path);
        if (!gone && gone.error().code != Errc::absent) {  // a second gc was faster
          return gone.error();
        }
        continue;
      }
      step();
      if (::unlinkat(trash.get(), member.name.c_str(), 0) != 0 && errno != ENOENT) {
        return system_error(path, errno);
      }
    }
    return {};
  }

  const Store& store_;
  const GcOptions& options_;
  std::time_t now_;
  bool all_in_use_ = false;
  std::vector<std::string> dead_roots_;
  std::vector<std::string> dead_generations_;
  std::vector<std::string> dead_objects_;
  std::vector<std::string> dead_artifacts_;
  Collected collected_;
};

}  // namespace

std::string_view name(Gone::Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"generation", "object", "artifact",
                                                      "leftover", "root"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Collected> gc(const Store& store, const GcOptions& options) {
  return Collection(store, options).run();
}

}  // namespace goldenv::store
