#pragma once

#include <cstddef>
#include <vector>

#include "diff/compare.h"
#include "facts/snapshot.h"

namespace goldenv::fleet {

/// Machines that are the same in every fact that takes part in comparisons.
struct Group {
  std::vector<std::size_t> members;  ///< places in the list that was given, ascending
  /// The largest group as A, this group's first member as B. Of A what the largest group does not
  /// know is taken from the next largest that does.
  diff::Comparison against_largest;
};

/// Groups of equal snapshots, the largest first, then by first member. What is unknown on a
/// snapshot is part of what makes it equal to another: two groups may differ in nothing but what is
/// known. Of facts with a tolerance every two members are near each other. Each snapshot is looked
/// at once (its facts are hashed), so ten thousand are no trouble.
std::vector<Group> group(const std::vector<facts::Snapshot>& snapshots,
                         const diff::CompareOptions& options = {});

}  // namespace goldenv::fleet
