#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace goldenv::probe {

/// What /proc/driver/nvidia/version says of nvidia.ko in memory.
struct NvidiaModule {
  std::string version;   ///< "535.129.03"
  bool open = false;     ///< the open kernel modules
  std::string arch;      ///< "x86_64", "aarch64", or ""
  std::string compiler;  ///< "gcc 13.3.0", or "" where the GCC line names none

  friend bool operator==(const NvidiaModule&, const NvidiaModule&) = default;
};

/// Format: open-gpu-kernel-modules, utils.mk and nv-procfs.c. Samples of the two lines:
///   NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Fri Jan 10 20:00:00 UTC 2025
///   NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (...)  Tue
///   ... GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04.2) GCC version:  Selected
///   multilib: .;@m64
/// Errors: malformed (no NVRM line, or no version in it).
Result<NvidiaModule> parse_nvidia_version(std::string_view text);

/// Lines `Name: value` of /proc/driver/nvidia/params (strings quoted there, not here) and of
/// gpus/*/information (blanks and tabs after the colon), in the order of the file. Lines without a
/// colon are passed over.
std::vector<std::pair<std::string, std::string>> parse_nvidia_lines(std::string_view text);

}  // namespace goldenv::probe
