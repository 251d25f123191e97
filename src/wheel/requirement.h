#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wheel/marker.h"
#include "wheel/specifier.h"

namespace goldenv::wheel {

/// What a package asks of another (PEP 508): `numpy[x,y]>=1.20; python_version < "3.12"`,
/// `torch @ https://...`.
struct Requirement {
  std::string name;  ///< as written; compare normalised_name()
  std::vector<std::string> extras;
  Specifiers specifiers;
  std::string url;  ///< empty where there is none
  std::optional<Marker> marker;

  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// Errors: malformed, what is wrong and at which byte.
Result<Requirement> parse_requirement(std::string_view text);

/// In one spelling, that parse_requirement reads as the same: `foo[x,y]>=1,<2; os_name == "nt"`,
/// `foo @ https://h/a.whl`. A user in the URL stands in it.
std::string render(const Requirement& requirement);

}  // namespace goldenv::wheel
