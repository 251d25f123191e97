#pragma once

#include <cstddef>
#include <vector>

#include "diff/compare.h"
#include "facts/snapshot.h"

namespace goldenv::fleet {

/// Machines that are the same in every fact that takes part in comparisons.
struct Group {
  std::vector<std::size_t> members;  ///< places in the list that was given, ascending
  diff::Comparison against_largest;  ///< the largest group's first member as A, this group's as B
};

/// Groups of equal snapshots, the largest first, then by first member. What is unknown on a
/// snapshot is part of what makes it equal to another: two groups may differ in nothing but what is
/// known. Each snapshot is looked at once (its facts are hashed), so ten thousand are no trouble.
std::vector<Group> group(const std::vector<facts::Snapshot>& snapshots,
                         const diff::CompareOptions& options = {});

}  // namespace goldenv::fleet
