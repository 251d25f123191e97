#include <array>

#include "probe/probe.h"

namespace goldenv::probe {

// One line a probe, in sorted order; the definition stands in the file of that name. A plain table:
// objects that register themselves are dropped by the linker from a static library.

extern const Probe cpu;
extern const Probe cpu_tuning;
extern const Probe device_nodes;
extern const Probe dpkg;
extern const Probe driver;
extern const Probe driver_library;
extern const Probe gpus;
extern const Probe kernel;
extern const Probe kernel_config;
extern const Probe memory;
extern const Probe modules;
extern const Probe python_conda;
extern const Probe python_packages;
extern const Probe python_target;
extern const Probe sysctl;
extern const Probe torch;

std::span<const Probe* const> probes() {
  static constexpr auto kProbes = std::to_array<const Probe*>({
      &cpu,
      &cpu_tuning,
      &device_nodes,
      &dpkg,
      &driver,
      &driver_library,
      &gpus,
      &kernel,
      &kernel_config,
      &memory,
      &modules,
      &python_conda,
      &python_packages,
      &python_target,
      &sysctl,
      &torch,
  });
  return kProbes;
}

}  // namespace goldenv::probe
