#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv {

/// A SHA-256 digest. parse and hex are inverses.
struct Sha256 {
  std::array<std::uint8_t, 32> bytes{};

  /// 64 hexadecimal digits, either case. Errors: malformed.
  static Result<Sha256> parse(std::string_view hex);
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

  static Sha256 of(std::string_view data);
  /// Digest of everything that can be read from the descriptor, from its start. Errors: failed.
  static Result<Sha256> of_file(int fd);

  friend auto operator<=>(const Sha256&, const Sha256&) = default;
};

}  // namespace goldenv
