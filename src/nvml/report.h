#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::nvml {

/// Return codes by which answers are told apart. Source: nvmlReturn_t of NVML's API reference.
inline constexpr int kSuccess = 0;
inline constexpr int kNotSupported = 3;
inline constexpr int kNoPermission = 4;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kLibraryNotFound = 12;
inline constexpr int kFunctionNotFound = 13;
inline constexpr int kGpuIsLost = 15;
inline constexpr int kResetRequired = 16;
inline constexpr int kOperatingSystem = 17;
inline constexpr int kVersionMismatch = 18;
inline constexpr int kUnknown = 999;

/// One thing that was asked of the library.
struct Answer {
  std::string where;  ///< "" of the whole system, "0" of a GPU, "0-1" of a pair, in NVML's order
  std::string name;   ///< "ecc", "power_limit": what follows "gpu." in the facts' names
  int code = kSuccess;
  std::string text;  ///< value where code is 0

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// All that the library said, as far as it came.
struct Report {
  enum class End {
    complete,
    timed_out,  ///< a call did not come back; the child that made it may be left behind
    died,       ///< the library took the child down with it
    not_started,
  };
  End end = End::complete;
  std::string doing;    ///< what it was at, where it is not complete: "GPU 3"
  int code = kSuccess;  ///< of loading and initialising; kLibraryNotFound where it cannot be loaded
  std::string problem;  ///< in words, where code is not 0
  std::vector<Answer> answers;

  /// The answer, or nullptr where it was not asked or not reached.
  [[nodiscard]] const Answer* find(std::string_view where, std::string_view name) const;

  friend bool operator==(const Report&, const Report&) = default;
};

/// Text form, one line an answer; inverses for every report whose texts are clean.
std::string encode(const Report& report);
/// Errors: unreadable. Nothing in the text is trusted: the child that wrote it ran foreign code.
Result<Report> decode(const std::string& text);

/// A text of the library's as a fact may hold it: valid UTF-8, control characters as '?', short.
std::string clean(std::string_view text);

}  // namespace goldenv::nvml
