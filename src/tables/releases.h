#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tables/confidence.h"
#include "version/version.h"

namespace goldenv::tables {

/// One release of a component.
struct Release {
  std::string version;
  std::string date;  ///< "2024-02-26"; "" where it is not known
  std::string note;  ///< what else the table says of it: "CUDA 11, 12"
  friend bool operator==(const Release&, const Release&) = default;
};

/// What is known of a component's releases: a lower bound, as of a day. What came later, and what
/// its source passed over, is not in it.
struct ReleaseList {
  std::string_view component;  ///< key of the fact: "nccl"
  version::Scheme scheme = version::Scheme::dotted;
  std::string_view source;
  std::string_view as_of;
  Confidence confidence = Confidence::reported;
  std::vector<Release> releases;  ///< oldest first
};

/// The components that have such a list, sorted.
std::span<const std::string_view> listed_components();

/// The releases of a component; an empty list where it is none of the above.
ReleaseList releases_of(std::string_view component);

}  // namespace goldenv::tables
