#pragma once

#include <compare>
#include <string_view>

#include "base/result.h"

namespace goldenv::version::dotted {

/// Digits and single dots. Errors: malformed.
Result<void> validate(std::string_view text);
/// Number by number; a shorter one is less where all else is equal.
std::strong_ordering order(std::string_view a, std::string_view b);

}  // namespace goldenv::version::dotted
