#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "host/child.h"
#include "host/descriptor.h"
#include "host/host.h"

namespace goldenv::host {

/// Looks at files below a root folder, for both kinds of Host.
///
/// It follows links itself, one component at a time with O_NOFOLLOW, because the kernel's own walk
/// (1) would follow an absolute link or `..` out of a tree, and (2) touches a dead mount before one
/// can say no. openat2(2) with RESOLVE_IN_ROOT does (1) alone and is in Linux 5.6; machines of 4.x
/// are looked at as well. Folders once walked through are kept open: one Disk lives for one look
/// at a machine.
class Disk {
 public:
  struct Options {
    /// A real path without links on this machine; "" for its own root.
    std::string root;
    /// Of this machine; the points of those that can hang are looked at by a child.
    std::vector<Mount> mounts;
    std::chrono::milliseconds deadline{1000};
    std::size_t folder_limit = kFolderLimit;
    /// What a record says of a path without links below the root, in place of the disk.
    std::function<std::optional<Errc>(std::string_view path)> answer;
    /// What it means that there is no `name` in `folder`, which is there; absent if not given.
    std::function<Errc(std::string_view folder, std::string_view name)> missing;
  };

  explicit Disk(Options options);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk();

  // As in Host.
  [[nodiscard]] Result<std::string> read_file(std::string_view path, std::size_t limit) const;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const;
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const;
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const;
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const;
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const;
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path, const std::function<Result<std::string>(int fd)>& look) const;
  [[nodiscard]] Result<Space> space(std::string_view path) const;

 private:
  enum class Verb : std::uint8_t { read_file, read_link, list, status, real_path, hops, space };
  enum class Links { follow, stop_at_last };
  using Folder = std::shared_ptr<const Descriptor>;

  /// One look, here or in a child.
  struct Look {
    const Child::Announce* announce = nullptr;  ///< set in a child, which may touch what can hang
    /// Here: the mount point that can hang at which the walk stopped. In a child: the last entered.
    std::string hangs;
  };

  /// Where a walk ended: the name in an open folder, "." for the root.
  struct Place {
    Folder folder;
    std::string name;
    std::string path;  ///< without links, as seen inside the root
    FileStatus status;
  };

  Result<Place> find(std::string_view path, Links links, Look& look) const;
  Result<Place> place_of(std::string path, std::string_view asked, Look& look) const;
  std::optional<std::string> hanging_at(const std::string& path) const;
  std::optional<Error> enter(const std::string& path, std::string_view asked, Look& look) const;
  void announce_mount_of(std::string_view path, Look& look) const;
  Error error_for(int number, std::string_view folder, std::string_view name,
                  std::string_view asked) const;
  Result<Folder> open_folder(const std::string& path, std::string_view asked, Look& look) const;
  int open_at(int folder, const char* name, int flags) const;
  void keep(const std::string& path, const Folder& folder) const;

  Result<Descriptor> open_file(std::string_view path, Look& look,
                               std::uint64_t* stated_bytes = nullptr) const;
  Result<std::string> do_read_file(std::string_view path, std::size_t limit, Look& look) const;
  Result<std::string> do_read_link(std::string_view path, Look& look) const;
  Result<std::vector<DirEntry>> do_list(std::string_view path, Look& look) const;
  Result<FileStatus> do_status(std::string_view path, Look& look) const;
  Result<std::string> do_real_path(std::string_view path, Look& look) const;
  Result<std::vector<std::string>> do_hops(std::string_view path, Look& look) const;
  Result<Space> do_space(std::string_view path, Look& look) const;

  std::string serve(std::string_view request, const Child::Announce& announce) const;
  void become_child() const;
  template <typename T>
  Result<T> by_child(Verb verb, std::string_view path, std::size_t limit,
                     const std::string& hangs) const;
  template <typename T>
  Result<T> answer_of(Child& child, std::string_view request, std::string_view path,
                      const std::string& hangs) const;

  Options options_;
  std::set<std::string, std::less<>> hanging_;  ///< mount points that can hang
  std::string root_hangs_;                      ///< the one that holds the root folder, or ""
  mutable std::set<std::string, std::less<>> dead_;
  mutable std::unordered_map<std::string, Folder> folders_;        ///< by path without links
  mutable std::unordered_map<std::string, std::string> resolved_;  ///< folder as written, its path
  mutable std::unordered_map<std::string, std::string> links_;     ///< to folders: path, its text
  mutable std::unique_ptr<Child> child_;
  mutable bool in_child_ = false;
};

}  // namespace goldenv::host
