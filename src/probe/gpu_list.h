#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// One GPU, found without asking its driver.
struct Gpu {
  std::string label;  ///< index in PCI order
  std::string bus;    ///< "0000:62:00.0"
  std::string
      folder;  ///< "/sys/bus/pci/devices/0000:62:00.0", or "" where only the driver names it
  std::string vendor;  ///< nvidia, amd, intel
  /// Lines of /proc/driver/nvidia/gpus/<bus>/information, or why they cannot be read.
  Result<std::vector<std::pair<std::string, std::string>>> lines =
      Error{Errc::absent, "not asked", {}};

  /// The value of one line. A GPU whose driver does not list it is there, so what it does not say
  /// is unknown and not absent. `?` in a value (a video BIOS not read yet) and "Unknown": unknown.
  [[nodiscard]] facts::Reading information(std::string_view name) const;
  [[nodiscard]] facts::Evidence information_evidence(std::string_view name) const;
};

struct GpuList {
  std::vector<Gpu> gpus;     ///< by domain, bus, device and function
  std::size_t switches = 0;  ///< NVSwitch devices
  /// Where the buses could not be looked at, or do not show this system's GPU: the reading of every
  /// fact that hangs on the list.
  std::optional<facts::Unknown> unknown;
  facts::Evidence evidence;

  /// The reading of a fact that all GPUs share, where there is none.
  [[nodiscard]] facts::Reading none() const;
};

/// From /sys/bus/pci/devices and /proc/driver/nvidia/gpus, read once a survey. GPUs are NVIDIA's
/// and AMD's display and compute devices, and Intel's that are no part of the processor; not the
/// audio and USB functions of one, and not the virtual functions that a host lends to its guests.
const GpuList& gpu_list(Survey& survey);

/// "0000:62:00.0" as numbers {domain, bus, device, function}; none where it is no PCI address.
std::optional<std::array<std::uint32_t, 4>> parse_pci_address(std::string_view text);

}  // namespace goldenv::probe
