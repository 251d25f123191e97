#pragma once

#include <optional>
#include <string>

#include "version/version.h"

namespace goldenv::version {

/// Why no version at all can meet the constraint: `">=2" and "<1" exclude each other`; nothing
/// where that is not certain.
std::optional<std::string> conflict(const Constraint& constraint);

}  // namespace goldenv::version
