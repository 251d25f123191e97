#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "store/descriptor.h"
#include "store/object.h"

// A folder of things that never change once they are there: objects (realised components),
// artifacts (what they were made of) and generations (environments composed of objects). Each comes
// into being in tmp/ and gets its name by one rename(2), so that it is there whole or not at all,
// whoever is killed when. docs/STORE.md tells it in prose.
//
// Chosen: one lock for the whole store, shared by all who use it, exclusive only for the moment in
// which `gc` renames what is dead out of sight; whoever makes an object twice at once does the work
// twice and the second drops its own. A lock an object was tried on paper: it saves that work in a
// rare case, and must be cleaned up after every crash. A database (sqlite, as nix has) would be one
// more thing that can disagree with the folders, which are the truth either way.
namespace goldenv::store {

enum class Access { read, write };

/// A folder in tmp/ that is being filled; removed with all that is in it unless it is published.
/// Its flock tells the living from what a crash left behind.
class Building {
 public:
  Building() = default;
  Building(std::string folder, Descriptor fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;
  Building(Building&& other) noexcept
      : folder_(std::exchange(other.folder_, {})), fd_(std::move(other.fd_)) {}
  Building& operator=(Building&& other) noexcept;
  ~Building();

  /// Absolute.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// The open folder, for openat(2) and the like.
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// It has another name now, and is no longer ours.
  void release();

 private:
  std::string folder_;
  Descriptor fd_;
};

/// What became of a publication.
struct Published {
  std::string name;    ///< the object's id, or the generation's digest
  bool raced = false;  ///< it was there already; what was built is gone
};

/// A generation in use: gc leaves it while the descriptor is open here or in any process that
/// inherited it.
struct Lease {
  std::string folder;  ///< the generation's, absolute
  Descriptor fd;       ///< survives exec(3)
};

struct NamedRoot {
  std::string name;
  std::string digest;
  friend bool operator==(const NamedRoot&, const NamedRoot&) = default;
};

/// What lies in roots/ and names no generation of this store.
struct StrayRoot {
  std::string name;
  std::string says;      ///< "it is no link"
  bool is_link = false;  ///< it may name what a later goldenv knows
};

struct RootFolder {
  std::vector<NamedRoot> roots;   ///< by name
  std::vector<StrayRoot> strays;  ///< by name
};

/// Whether a user may give an environment this name: [A-Za-z0-9._+-]+, at most 60, no dot first.
/// "manifest-..." is kept for what finds a manifest's environment, and six or more hexadecimal
/// digits for the beginnings of digests. Errors: usage, with the reason.
Result<void> check_name(std::string_view name);

/// "manifest-" and 32 hexadecimal digits: the name that goldenv itself gives the environment of a
/// manifest. gc takes it away with what it names.
bool is_manifest_root(std::string_view name);

/// Whether a digest was taken while the bytes were written.
enum class Checked { no, yes };

class Store {
 public:
  /// $GOLDENV_STORE, else $XDG_DATA_HOME/goldenv/store, else ~/.local/share/goldenv/store;
  /// absolute. Errors: usage, where none of the variables is set, or the first is relative.
  static Result<std::string> default_folder();

  /// Opens the store in `folder`, to be held while anything of it is used: a lock keeps gc out. For
  /// writing it is made where it is not there (0700), its folders too, and what dead processes left
  /// in tmp/ goes. Errors: usage (not absolute; for writing also a path that no environment could
  /// be used in: with ':' or a control character, or no UTF-8); absent (for reading: no store
  /// there); denied (of another owner than us or root, writable by others, a link that another user
  /// planted in a folder open to all, read-only file system); malformed (something else, or a store
  /// of a newer goldenv); timed_out (gc held it for kLockPatience); failed.
  static Result<Store> open(const std::string& folder, Access access);

  /// Absolute, without links.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] Access access() const { return access_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] int lock_fd() const { return lock_.get(); }
  [[nodiscard]] std::string at(std::string_view relative) const {
    return folder_ + "/" + std::string(relative);
  }

  // Objects.

  /// Whether an object of this key (64 digits) is there; what cannot be read is not.
  [[nodiscard]] bool has(std::string_view key) const;
  /// The object of a key, none where it is not there. Errors: malformed, failed, denied.
  [[nodiscard]] Result<std::optional<Object>> find(std::string_view key) const;
  /// The object in a folder of objects/. Errors: absent, malformed, failed, denied.
  [[nodiscard]] Result<Object> get(std::string_view id) const;
  /// Its files. Errors: as get.
  [[nodiscard]] Result<std::vector<File>> files(std::string_view id) const;
  /// The names in objects/, sorted.
  [[nodiscard]] Result<std::vector<std::string>> ids() const;
  /// All objects, by name and version. Errors: as get, of the first that cannot be read.
  [[nodiscard]] Result<std::vector<Object>> list() const;
  /// Absolute path of an object's tree.
  [[nodiscard]] std::string tree(std::string_view id) const;

  /// A fresh folder in tmp/, mode 0700. Errors: denied (opened for reading), failed (disk full).
  [[nodiscard]] Result<Building> begin(std::string_view label) const;
  /// Puts an object in force: what was built has the folder `tree` with exactly `files` in it;
  /// modes are set here. All is on disk before it gets its name; object.content and size_bytes are
  /// filled in. Errors: failed, with the path; usage, where files and object contradict each other.
  [[nodiscard]] Result<Published> publish(Building building, Object object,
                                          std::vector<File> files) const;

  // Artifacts.

  /// Where a verified download lies; none where there is none.
  [[nodiscard]] std::optional<std::string> artifact(const Sha256& sha256) const;
  /// Takes a file from tmp/ (the same file system) as the artifact of that digest. Errors:
  /// malformed, where its bytes have another digest (not looked at where they were Checked);
  /// failed.
  [[nodiscard]] Result<std::string> put_artifact(const std::string& file, const Sha256& sha256,
                                                 Checked checked) const;

  // Generations: environments, each named by the digest of what it is composed of.

  /// The folder of a generation, which need not be there.
  [[nodiscard]] std::string generation(std::string_view digest) const;
  [[nodiscard]] bool has_generation(std::string_view digest) const;
  /// The names in envs/, sorted; none where that is not there.
  [[nodiscard]] Result<std::vector<std::string>> generations() const;
  /// Not forced to disk: a generation can be composed anew. Errors: failed.
  [[nodiscard]] Result<Published> publish_generation(Building building,
                                                     std::string_view digest) const;
  /// The ids of the objects that a generation leads to, by its links in .o/ and bin/. Sorted.
  [[nodiscard]] Result<std::vector<std::string>> objects_of(std::string_view digest) const;

  /// Puts what was built in the place of a generation that is there, in one step where the file
  /// system can exchange two names; `building.folder()` is the former one then. Errors: failed.
  [[nodiscard]] Result<void> replace_generation(const Building& building,
                                                std::string_view digest) const;

  /// Names a generation, in place of another one of that name; on disk when it returns. A name is
  /// one that check_name or is_manifest_root takes; who has it from a user asks check_name before.
  /// Errors: usage (name), absent (generation), failed.
  [[nodiscard]] Result<void> set_root(std::string_view name, std::string_view digest) const;
  /// Errors: absent, denied, failed.
  [[nodiscard]] Result<void> remove_root(std::string_view name) const;
  /// Sorted by name; strays are passed over. Errors: denied, failed.
  [[nodiscard]] Result<std::vector<NamedRoot>> roots() const;
  /// All that is in roots/. Errors: denied, failed.
  [[nodiscard]] Result<RootFolder> root_folder() const;

  /// Marks a generation as in use for as long as the descriptor lives. In a store that cannot be
  /// written the lease is empty: nobody can collect it either. Errors: absent, failed.
  [[nodiscard]] Result<Lease> lease(std::string_view digest) const;

 private:
  Store() = default;

  std::string folder_;
  Access access_ = Access::read;
  Descriptor fd_;
  Descriptor lock_;
};

}  // namespace goldenv::store
