#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// What the kernel writes behind the path of a mapped file that no longer stands there.
inline constexpr std::string_view kDeleted = " (deleted)";

/// A file that a process has mapped.
struct MappedFile {
  std::string path;   ///< as the process sees it, kDeleted behind it where it is gone from there
  std::string range;  ///< "7f12c000-7f12e000", its name in /proc/PID/map_files
  std::uint64_t device = 0;  ///< as in FileStatus, but on btrfs and overlays not the same number
  std::uint64_t inode = 0;
};

/// The files in a /proc/PID/maps, one each, sorted by path: proc(5). Memory without a file is left
/// out, and lines that are none are passed over.
std::vector<MappedFile> parse_maps(std::string_view text);

/// A running process as what a source is about. Source: proc(5).
struct Process {
  std::uint32_t pid = 0;     ///< 0: of a unit that is not running
  std::uint64_t start = 0;   ///< clock ticks after boot: a number is used again, a start is not
  std::int64_t since_s = 0;  ///< Unix time of its start; 0 where unknown
  std::string name;          ///< "pid 4711 (python3)", "jupyter.service (not running)", for people
  std::string unit;          ///< "jupyter.service" of unit:NAME, else ""
  bool is_user_unit = false;
  std::string home;                ///< of the user whose unit it is
  const Host* machine = nullptr;   ///< this host as we see it; lives as long as the process's
  std::vector<std::string> notes;  ///< how it was chosen
  bool own_root = false;           ///< sees other files than we do at the same paths
  /// The program that it runs, as a path of its own. Errors: denied, not_live (a kernel thread, a
  /// zombie, not running).
  Result<std::string> program = Error{Errc::not_live, "", {}};
  std::vector<std::string> arguments;  ///< as it shows them, which it may have rewritten
  /// Errors: as of the program.
  Result<std::vector<MappedFile>> mapped = Error{Errc::not_live, "", {}};
};

/// This host as a process of it sees it: /proc/self is its folder, variable() is its first
/// environment, all outside /proc and /sys lies below its root, and a path with kDeleted behind it
/// is the file that it has mapped under that name. What one file of it says was read at one moment,
/// at the start. Whatever cannot be looked at because the process is another user's, a kernel
/// thread, a zombie or gone is an error that says so, never absent.
///
/// `outer` is this host. Errors: absent (no such process), denied, failed (it ended while it was
/// looked at), not_collected (no /proc).
Result<std::unique_ptr<Host>> process_host(std::unique_ptr<Host> outer, std::uint32_t pid,
                                           const LiveOptions& options = {});
/// The same with words from who chose it: `unit`, `is_user_unit` and `notes` of `about`.
Result<std::unique_ptr<Host>> process_host(std::unique_ptr<Host> outer, std::uint32_t pid,
                                           Process about, const LiveOptions& options = {});

/// This host for a unit without a process: what only a process has is not_live, because of `why`
/// ("is not running").
std::unique_ptr<Host> host_without_process(std::unique_ptr<Host> outer, Process about,
                                           const std::string& why);

/// Whether what was seen since process_host was that process. Errors: failed, where it has ended
/// and its root with it.
Result<void> confirm_process(const Host& host);

}  // namespace goldenv::host
