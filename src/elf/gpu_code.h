#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"
#include "host/memory.h"

namespace goldenv::elf {

/// The NVIDIA GPU architectures for which a library holds code: "sm_80", "sm_90a" (that chip
/// alone), "sm_100f" (its family), and "compute_90" for PTX, which the driver compiles for newer
/// ones. Empty where it holds none. Only the heads of the fat binaries are read, some hundred bytes
/// of each.
///
/// With a memory, a file that was looked through before is not read again. Errors: those of
/// Host::inspect; malformed where it is no ELF file or a fat binary leads outside it; too_large
/// where there are more than a library of the largest kind holds.
Result<std::set<std::string>> gpu_architectures(const host::Host& host, std::string_view path,
                                                host::Memory* memory = nullptr);

/// The same of an open file, as words with a blank between.
Result<std::string> read_gpu_architectures(int fd, std::string_view path);

}  // namespace goldenv::elf
