#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::version::pep440 {

/// A Python version taken apart, as PEP 440 normalises it. Views lie in the text; numbers are
/// digits, an implicit number is empty and means 0.
struct Parts {
  enum class Stage { a, b, rc };
  struct Pre {
    Stage stage = Stage::a;
    std::string_view number;
  };

  std::string_view epoch;
  std::vector<std::string_view> release;
  std::optional<Pre> pre;
  std::optional<std::string_view> post;
  std::optional<std::string_view> dev;
  std::vector<std::string> local;  ///< lower case; empty where there is no local label

  [[nodiscard]] bool is_prerelease() const { return pre.has_value() || dev.has_value(); }
};

/// Accepts and refuses what Python's packaging.version does, but for blanks around the version,
/// which are refused here. Errors: malformed.
Result<Parts> parse(std::string_view text);

std::strong_ordering order(const Parts& a, const Parts& b);
/// The local labels left aside.
std::strong_ordering order_public(const Parts& a, const Parts& b);
/// Epoch and release alone, padded with zeros.
std::strong_ordering order_release(const Parts& a, const Parts& b);

}  // namespace goldenv::version::pep440
