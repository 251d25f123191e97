#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probe/probe.h"

namespace goldenv::probe {

/// The version of a program as the package that installed it says it.
struct PackageVersion {
  std::string version;  ///< the digits of its upstream part: "24.0.7" of 5:24.0.7-1~ubuntu.22.04
  std::string package;  ///< "docker-ce 5:24.0.7-1~ubuntu.22.04"
  facts::Evidence evidence;
};

/// Of the first of these packages that is installed, by dpkg or by rpm; none where none is. Errors:
/// those of reading a list of packages that is there.
Result<std::optional<PackageVersion>> package_version(Survey& survey,
                                                      std::span<const std::string_view> names);

/// The numbers with dots with which the upstream part of [epoch:]upstream[-revision] begins, or "".
std::string upstream_numbers(std::string_view version);

}  // namespace goldenv::probe
