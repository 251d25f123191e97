#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/marker.h"

namespace goldenv::wheel {

/// The name that PEP 508 (and 751) has for a variable, older spellings included; empty for a word
/// that is none.
std::string_view variable_name(std::string_view word);

/// The value of one of those names; none where it is not known.
std::optional<std::string> variable_value(std::string_view name,
                                          const MarkerEnvironment& environment);

/// The list behind `extras` or `dependency_groups`; nullptr for other names.
const std::vector<std::string>* variable_list(std::string_view name,
                                              const MarkerEnvironment& environment);

}  // namespace goldenv::wheel
