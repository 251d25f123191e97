#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "unpack/unpack.h"

namespace goldenv::unpack {

/// Where members of an archive go, by strip and place. Pure.
class Placing {
 public:
  Placing(unsigned strip, const std::vector<Placement>& place) : strip_(strip), place_(place) {}

  /// A member's path without "./" in front and without a final slash; "" for the archive's top.
  /// Errors: malformed, what is wrong with it: absolute, "..", an empty part, a backslash, control
  /// characters, no UTF-8.
  static Result<std::string> cleaned(std::string_view member);

  /// Below the tree; none for what strip or place leave out. `path` is cleaned.
  [[nodiscard]] std::optional<std::string> target(std::string_view path) const;

  /// The text of a link that lies at `path` (cleaned) and leads to `to` as written; absolute ones
  /// count from the archive's top where `has_root` (of a .deb). Errors: malformed: absolute, leads
  /// out of the archive, or to what is not placed.
  [[nodiscard]] Result<std::string> link(std::string_view path, std::string_view to,
                                         bool has_root) const;

 private:
  unsigned strip_;
  const std::vector<Placement>& place_;
};

}  // namespace goldenv::unpack
