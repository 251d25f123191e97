#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::host {

struct FileStatus {
  enum class Kind { file, folder, link, fifo, socket, device, other };
  Kind kind = Kind::file;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size_bytes = 0;  ///< meaningless (0 or 4096) in /proc and /sys
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
};

struct DirEntry {
  std::string name;
  FileStatus::Kind kind = FileStatus::Kind::file;  ///< of the entry itself: a link is a link

  friend bool operator==(const DirEntry&, const DirEntry&) = default;
};

/// uname(2). Of a tree, what it does not record of node and version is "".
struct SystemName {
  std::string node;
  std::string release;
  std::string version;
  std::string machine;
};

/// Room in a file system, bytes.
struct Space {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// One line of /proc/self/mountinfo, octal escapes decoded.
struct Mount {
  std::string point;
  std::string type;  ///< "ext4", "nfs4", "fuse.sshfs", "autofs"
  std::string source;
  std::vector<std::string> options;  ///< per-mount and super-block options, as written, in order
};

/// Format: proc(5), /proc/pid/mountinfo. Lines that are none are passed over.
std::vector<Mount> parse_mountinfo(std::string_view text);

/// The mount that holds an absolute path without links: longest mount point, the later of equals.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);

/// Types whose server can stop answering: network, FUSE, autofs (also overlay-like "fuse.*", "9p").
bool can_hang(std::string_view mount_type);

inline constexpr std::size_t kFileLimitBytes = 4u << 20;
inline constexpr std::size_t kFolderLimit = 200'000;  ///< entries

struct Process;

/// The only door to a machine: the live one, or one recorded as a tree of files. All paths are
/// absolute and as the machine itself would write them; links, absolute ones too, stay inside its
/// root; on the live machine a link that another user planted in /tmp is denied. No call hangs:
/// what lies on a network, FUSE or autofs mount is looked at by a child that is left behind at the
/// deadline (Errc::timed_out). Nothing is ever written.
///
/// Errors of every call: absent, denied, unreadable (not a regular file, I/O error, loop of links),
/// timed_out, too_large, not_live / not_collected (a tree that does not hold /proc or /sys).
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  /// The bytes of a regular file, read to its end whatever its size says.
  [[nodiscard]] virtual Result<std::string> read_file(
      std::string_view path, std::size_t limit_bytes = kFileLimitBytes) const = 0;
  /// The text of a link.
  [[nodiscard]] virtual Result<std::string> read_link(std::string_view path) const = 0;
  /// Entries of a folder without "." and "..", sorted by name.
  [[nodiscard]] virtual Result<std::vector<DirEntry>> list(std::string_view path) const = 0;
  /// Of what a path leads to, links followed.
  [[nodiscard]] virtual Result<FileStatus> status(std::string_view path) const = 0;
  /// The path with all links followed, as seen inside the root.
  [[nodiscard]] virtual Result<std::string> real_path(std::string_view path) const = 0;
  /// Every hop of a link that stands at `path` itself, ending in the real path:
  /// {"/usr/local/cuda", "/etc/alternatives/cuda", "/usr/local/cuda-12.1"}.
  [[nodiscard]] virtual Result<std::vector<std::string>> hops(std::string_view path) const = 0;
  /// Runs `look` on an open read-only descriptor of a regular file, in this process or, on mounts
  /// that can hang, in a child; gives what it returned.
  [[nodiscard]] virtual Result<std::string> inspect(
      std::string_view path, const std::function<Result<std::string>(int fd)>& look) const = 0;
  /// The same for a look that has a name ("sha256"), by which a record keeps its answer: what the
  /// look returns hangs on the file's bytes and that name alone.
  [[nodiscard]] virtual Result<std::string> ask(
      std::string_view path, std::string_view question,
      const std::function<Result<std::string>(int fd)>& look) const {
    static_cast<void>(question);
    return inspect(path, look);
  }
  /// Room of the file system at a path. Errors also: not_live for a tree.
  [[nodiscard]] virtual Result<Space> space(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<SystemName> system_name() const = 0;
  /// A variable of the source's own environment: Errc::absent where not set; not_live for a tree
  /// that does not record one (proc/self/environ).
  [[nodiscard]] virtual Result<std::string> variable(std::string_view name) const = 0;
  /// Names of all variables, sorted; never their values.
  [[nodiscard]] virtual Result<std::vector<std::string>> variables() const = 0;
  /// /proc/self/mountinfo, parsed once. Empty where unknown.
  [[nodiscard]] virtual const std::vector<Mount>& mounts() const = 0;
  /// Whether what was looked at was there all the time. Asked at the end of a look: where a tree
  /// is removed meanwhile, what is not found says nothing. Errors: failed.
  [[nodiscard]] virtual Result<void> still_there() const { return {}; }
  /// Whether this is a running machine, not a tree.
  [[nodiscard]] virtual bool live() const = 0;
  /// The process that the source is about (host/process.h); none where it is a machine.
  [[nodiscard]] virtual const Process* process() const { return nullptr; }

  // Built on the above.
  /// The first bytes of a regular file, at most so many: of a header of a megabyte its first page.
  [[nodiscard]] Result<std::string> read_head(std::string_view path, std::size_t bytes) const;
  [[nodiscard]] bool exists(std::string_view path) const { return bool(status(path)); }
};

struct LiveOptions {
  std::chrono::milliseconds deadline{1000};  ///< for one look at a mount that can hang
  /// Taken as mounted besides what /proc/self/mountinfo says. Files below one of a type that can
  /// hang are looked at by a child; tests have no other way to get there without root.
  std::vector<Mount> more_mounts;
  std::size_t folder_limit = kFolderLimit;  ///< a folder of more entries is too_large to list
};

/// This machine. Its answers hold for one look: what was found out about folders and mounts is kept
/// as long as the object lives. No call may be made from two threads at once.
std::unique_ptr<Host> live_host(const LiveOptions& options = {});

/// A root file system or recorded machine below `folder`. What its /proc, /sys and /dev do not
/// hold: where a record.yaml stands at its top, what that says (docs/RECORD.md); else a file that
/// is missing below a folder that was captured is absent, and one whose folder was not, or only in
/// part (/proc/sys, /sys/class, ...), is not_collected; where /proc or /sys is empty or missing all
/// below it is not_live. Errors: absent, denied, timed_out, unreadable (no folder), malformed (its
/// record.yaml).
Result<std::unique_ptr<Host>> tree_host(const std::string& folder, const LiveOptions& options = {});

}  // namespace goldenv::host
