#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goldenv::probe {

/// A limit as a unit's file sets it: numbers as in /proc/PID/limits, or "unlimited".
struct UnitLimit {
  std::string soft;
  std::string hard;

  friend bool operator==(const UnitLimit&, const UnitLimit&) = default;
};

/// `value` of LimitMEMLOCK= and its like: "infinity", a number with K, M, G, T, P or E (powers of
/// 1024) behind it, or two of these with a colon between, soft and hard. None for others. Source:
/// systemd.exec(5).
std::optional<UnitLimit> parse_unit_limit(std::string_view value);

}  // namespace goldenv::probe
