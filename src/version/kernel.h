#pragma once

#include <compare>
#include <string_view>

#include "base/result.h"

namespace goldenv::version::kernel {

/// What uname(2) gives as release: numbers with dots, then whatever the builder added. Errors:
/// malformed.
Result<void> validate(std::string_view text);

/// The numbers (a missing one is 0), then "-rcN" before the release it leads to, then the builder's
/// words run by run as rpm does.
std::strong_ordering order(std::string_view a, std::string_view b);

}  // namespace goldenv::version::kernel
