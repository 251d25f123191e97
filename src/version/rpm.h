#pragma once

#include <compare>
#include <string_view>

#include "base/result.h"

namespace goldenv::version::rpm {

/// [epoch:]version[-release]. The views lie in the text.
struct Parts {
  std::string_view epoch;  ///< digits; empty where none is written
  std::string_view version;
  std::string_view release;
  bool has_release = false;
};

Parts parts_of(std::string_view text);
/// Letters, digits and ".", "_", "+", "~", "^". Errors: malformed.
Result<void> validate(std::string_view text);
/// Epoch, version, release; a version without a release is less than with any.
std::strong_ordering order(std::string_view a, std::string_view b);
/// The same, but the release counts only where both have one, as in rpm's own dependencies.
std::strong_ordering order_as_required(std::string_view a, std::string_view b);

/// rpmvercmp: runs of digits and of letters, all else separates. A digit run is newer than a letter
/// run, and what goes on is newer than what has ended, but for "~", which is older than the end,
/// and
/// "^", which is newer than the end and older than all else.
/// Source: rpm's rpmvercmp manual and rpmio/rpmvercmp.c.
std::strong_ordering compare_runs(std::string_view a, std::string_view b);

}  // namespace goldenv::version::rpm
