#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv {

/// Nothing was ever written into a hole, and a file of a few bytes can have terabytes of them:
/// these would take minutes each. What was written is digested whatever its size.
inline constexpr std::uint64_t kHoleLimitBytes = std::uint64_t{8} << 30;

/// A SHA-256 digest. parse and hex are inverses.
struct Sha256 {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 hexadecimal digits, either case. Errors: malformed.
  static Result<Sha256> parse(std::string_view hex);
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

  static Sha256 of(std::string_view data);
  /// Digest of everything that can be read from the descriptor, from its start. Errors: too_large
  /// (more than kHoleLimitBytes of it are holes), failed.
  static Result<Sha256> of_file(int fd);

  friend auto operator<=>(const Sha256&, const Sha256&) = default;
};

}  // namespace goldenv
