#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace goldenv::source {

inline constexpr std::size_t kTextLimitBytes = 16u << 20;

/// All of a user's file, or of a pipe that stands for one (`<(command)`). Errors: usage (not there,
/// a folder or device), too_large, failed (permission, I/O).
Result<std::string> read_path(const std::string& path);

/// All of standard input; the same errors.
Result<std::string> read_standard_input();

}  // namespace goldenv::source
