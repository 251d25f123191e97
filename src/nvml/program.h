#pragma once

#include <functional>
#include <string>

#include "nvml/reader.h"

namespace goldenv::nvml {

/// Whether this build carries the program that loads libraries for it: goldenv-portable does, which
/// is static and has no loader.
bool has_program();

/// What ask_library gives, as encode() writes it, from a process of that program, which the host's
/// own loader starts. `progress` is told of each report that came before. Of a program that does
/// not start or dies the report says so.
std::string ask_program(const std::string& library, Depth depth,
                        const std::function<void(const std::string& so_far)>& progress);

/// How the program writes a report: this before it, in the machine's own byte order.
struct FrameHeader {
  unsigned size_bytes = 0;
  unsigned is_last = 0;
};
inline constexpr unsigned kFrameLimitBytes = 16u << 20;

}  // namespace goldenv::nvml
