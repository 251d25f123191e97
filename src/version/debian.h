#pragma once

#include <compare>
#include <string_view>

#include "base/result.h"

namespace goldenv::version::debian {

/// [epoch:]upstream[-revision] as deb-version(7) has it. The views lie in the text.
struct Parts {
  std::string_view epoch;  ///< digits; empty where none is written
  std::string_view upstream;
  std::string_view revision;  ///< empty where none is written, which orders like "0"
};

/// The parts of a text, whether or not it is valid.
Parts parts_of(std::string_view text);
/// Refuses what `dpkg --validate-version` refuses, and blanks and signs that it lets pass. Errors:
/// malformed.
Result<void> validate(std::string_view text);
/// As `dpkg --compare-versions`.
std::strong_ordering order(std::string_view a, std::string_view b);

}  // namespace goldenv::version::debian
