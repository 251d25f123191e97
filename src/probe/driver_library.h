#pragma once

#include <string>

#include "base/result.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// The file, without links, of the libnvidia-ml.so.1 that a program would load; asked of the loader
/// once a survey. Errors: absent where none answers, else those of the look.
const Result<std::string>& nvml_library(Survey& survey);

}  // namespace goldenv::probe
