#include <array>

#include "probe/probe.h"

namespace goldenv::probe {

// One line a probe, in sorted order; the definition stands in the file of that name. A plain table:
// objects that register themselves are dropped by the linker from a static library.

std::span<const Probe* const> probes() {
  static constexpr std::array<const Probe*, 0> kProbes{};
  return kProbes;
}

}  // namespace goldenv::probe
