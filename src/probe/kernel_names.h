#pragma once

#include <string>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// One word of uname(2), and where it was read. A tree that does not say of which machine type it
/// is has the others all the same: each is found by itself, in uname(2) or else in the files that
/// say the same (proc(5)).
struct KernelName {
  /// Errors: those of the look; not_collected where the source holds none of the files.
  Result<std::string> text;
  std::string from;  ///< "uname release", "/proc/version"
};

/// "6.1.0-57-amd64": uname, /proc/sys/kernel/osrelease, the third word of /proc/version.
KernelName kernel_release(const host::Host& host);
/// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)": uname, /proc/sys/kernel/version,
/// /proc/version from its '#' on.
KernelName kernel_build(const host::Host& host);
/// uname, /proc/sys/kernel/hostname; of a tree /etc/hostname, the name that it takes at boot.
KernelName node_name(const host::Host& host);

}  // namespace goldenv::probe
