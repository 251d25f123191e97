#pragma once

#include <chrono>
#include <string>

#include "nvml/report.h"

// NVIDIA's management library, which alone knows what no file says: ECC, MIG, persistence, clocks,
// power, links. It is loaded by a child of ours and never by us: a call into a sick driver may not
// come back, and the library may crash. A child that sleeps in the kernel, where no signal wakes
// it, is left behind.
//
// An alternative was nvidia-smi: it is not on every machine, and its text changes with the driver.
namespace goldenv::nvml {

enum class Depth {
  system,   ///< what needs no GPU: none is attached or woken
  devices,  ///< also of each GPU, which wakes those that nothing holds awake
};

inline constexpr std::chrono::milliseconds kDeadline{10'000};

/// Asks the library in a file, a path without links. Never takes much longer than the deadline.
/// Everything that goes wrong is in the report: of a call that hangs or a crash what was answered
/// before.
Report read(const std::string& library, Depth depth,
            std::chrono::milliseconds deadline = kDeadline);

}  // namespace goldenv::nvml
