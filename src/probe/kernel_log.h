#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::probe {

/// What the kernel's log of one boot says of GPUs, buses and modules.
struct KernelLog {
  bool sees_boot = false;  ///< it reaches back to the boot; else older lines are lost
  std::map<std::string, std::uint64_t> xids;              ///< by code
  std::set<std::string> mismatches;                       ///< "570.153.02 against 570.144"
  std::uint64_t lockups = 0;                              ///< soft and hard
  std::map<std::string, std::set<std::string>> rejected;  ///< module -> reasons
  std::set<std::string> faults;                           ///< of NVRM's, by names of our own
  std::uint64_t bus_errors = 0;                           ///< reports of PCIe errors
  std::set<std::string> missing_firmware;                 ///< "nvidia/570.144/gsp_ga10x.bin"
  std::set<std::string> unstable_clocks;                  ///< "tsc"
  /// The first lines of each kind, by the key that they are evidence of.
  std::map<std::string, std::vector<std::string>> lines;

  friend bool operator==(const KernelLog&, const KernelLog&) = default;
};

/// From the text of dmesg, of syslog(2) ("<6>[   12.01] ...") or of a log daemon's file; of several
/// boots the last one. What user programs wrote into the kernel's log is passed over, where the
/// text tells it (a facility above 0). Bytes that are no text become '?'.
/// Sources of the forms: kernel's watchdog.c, module/main.c, module/signing.c, pcie/aer.c,
/// clocksource.c, firmware_loader/main.c; open-gpu-kernel-modules' nv.c and osapi.c; NVIDIA's "XID
/// Errors" (NVRM: Xid (PCI:0000:83:00): 119, pid=849, ...).
KernelLog parse_kernel_log(std::string_view text);

/// One line a fact, so that a record of a machine keeps what matters and not the log; inverses.
std::string encode(const KernelLog& log);
Result<KernelLog> decode_kernel_log(const std::string& text);

}  // namespace goldenv::probe
