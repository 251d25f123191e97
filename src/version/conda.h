#pragma once

#include <compare>
#include <string_view>

#include "base/result.h"

namespace goldenv::version::conda {

/// [epoch!]version[+local] of letters, digits, ".", and either "_" or "-". Errors: malformed.
Result<void> validate(std::string_view text);

/// Conda's own order: parts between "." and "_" are runs of digits and of letters; letters stand
/// before numbers ("1.1a1" < "1.1"), "dev" before all letters, "post" after all numbers, what is
/// missing is 0. Case does not count. Source: conda's documentation of VersionOrder.
std::strong_ordering order(std::string_view a, std::string_view b);

}  // namespace goldenv::version::conda
