#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What sets sysctls at boot. Sources: sysctl.d(5); systemd's src/sysctl/sysctl.c; the kernel's
// fs/proc/proc_sysctl.c for its command line. The kernel applies its command line first, then
// systemd-sysctl (or procps, where an init script of its runs) the files in order of their names.
// /etc/sysctl.conf counts where a link in sysctl.d leads to it, and with procps.

namespace goldenv::probe {

/// One assignment.
struct SysctlSetting {
  std::string path;  ///< below /proc/sys, "net/ipv4/conf/*/rp_filter" may be a glob
  /// Normalised as a sysctl fact is; none: `-key`, which keeps globs off that key.
  std::optional<std::string> value;
  bool ignores_errors = false;  ///< `-key = value`
  std::string file;             ///< "/etc/sysctl.d/90-gpu.conf", "/proc/cmdline"
  std::uint32_t line = 0;       ///< 0 for the command line
  std::string text;             ///< as written, trimmed; "" for a secret
  bool early = false;           ///< by the kernel's command line, before any file
  bool unclear = false;         ///< what it comes to cannot be told (hugepages= of several sizes)

  [[nodiscard]] bool is_glob() const;
  [[nodiscard]] bool covers(std::string_view other_path) const;
  [[nodiscard]] std::string place() const;  ///< "/etc/sysctl.d/90-gpu.conf:3"
};

/// "kernel/watchdog_thresh" of "kernel.watchdog_thresh", "net/ipv4/conf/eth0.100/mtu" of
/// "net.ipv4.conf.eth0/100.mtu" and of itself: if the first separator is a slash, slashes part the
/// name. "" where it would lead out of /proc/sys.
std::string sysctl_setting_path(std::string_view written);

/// Whether a path matches a pattern as glob(3) does: `*`, `?` and `[...]` stop at `/`.
bool path_glob_matches(std::string_view pattern, std::string_view path);

/// A value as a sysctl fact has it: one blank between the numbers of a vector.
std::string sysctl_value(std::string_view written);

/// The assignments of a file of sysctl.d(5) in order; other lines are passed over.
std::vector<SysctlSetting> parse_sysctl_file(std::string_view text, std::string_view file);

/// What a kernel command line sets, in the order in which it does: `sysctl.X=`, its aliases
/// (hung_task_panic=), and parameters that are the boot form of one sysctl (watchdog_thresh=,
/// numa_balancing=, nowatchdog, hugepages=).
std::vector<SysctlSetting> parse_sysctl_words(const std::vector<std::string>& words);

}  // namespace goldenv::probe
