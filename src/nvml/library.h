#pragma once

#include <functional>
#include <string>

#include "nvml/reader.h"
#include "nvml/report.h"

namespace goldenv::nvml {

/// Told of what was answered so far before each step that may not come back.
using Progress = std::function<void(const Report& so_far)>;

/// Loads the library into this process and asks it everything; for a child that may be lost.
Report ask_library(const std::string& path, Depth depth, const Progress& progress);

}  // namespace goldenv::nvml
