#pragma once

#include <string>
#include <vector>

#include "facts/reading.h"

namespace goldenv::report {

/// Where a reading came from, printable: the path or interface with its line and how it was
/// learned, then the build-id, then each further note.
std::vector<std::string> evidence_lines(const facts::Evidence& evidence);

}  // namespace goldenv::report
