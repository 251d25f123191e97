#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "wheel/marker.h"
#include "wheel/metadata.h"

namespace goldenv::provision {

/// A package that an environment has.
struct Installed {
  std::string project;  ///< normalised
  std::string version;
  wheel::Metadata metadata;
};

/// A requirement that the set does not meet.
struct Unmet {
  std::string by;       ///< "torch 2.2.1+cu121"
  std::string wants;    ///< "sympy", "nvidia-nccl-cu12 ==2.19.3"
  std::string has;      ///< the version that the set has; "" where it has none
  bool certain = true;  ///< false: whether it holds hangs on what is not known of the target
  friend bool operator==(const Unmet&, const Unmet&) = default;
};

/// What the packages of a set require and do not find in it, extras that they ask of each other
/// included. In the order of the set. Source: core metadata, Requires-Dist (PEP 508).
std::vector<Unmet> unmet_requirements(const std::vector<Installed>& set,
                                      const wheel::MarkerEnvironment& environment);

}  // namespace goldenv::provision
