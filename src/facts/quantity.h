#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace goldenv::facts {

/// A number as facts and manifests write it: an optional minus, digits, an optional fraction, and
/// an optional binary suffix for bytes (k, K, M, G, T, then optionally i and B: "64MiB", "8G").
/// "unlimited", "max" and "infinity" are +infinity. None for anything else.
std::optional<double> to_quantity(std::string_view text);

/// How far apart two numbers may be: "2%" of the larger, or a quantity ("1MiB").
/// `tolerance` is what stands behind "numeric-tolerance:".
bool within(double a, double b, std::string_view tolerance);

}  // namespace goldenv::facts
