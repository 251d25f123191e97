#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/catalogue.h"
#include "facts/snapshot.h"

// Contradictions inside one machine: facts that can each be right and cannot all be what was meant,
// such as a libcuda beside a module of another version. They are computed from a snapshot alone, so
// that a snapshot file of last week says the same as the machine did.
//
// An alternative was to probe for them: it would have needed the machine, and every rule would have
// read what a fact says already.
namespace goldenv::findings {

/// One contradiction.
struct Finding {
  std::string_view rule;  ///< stable name of what found it: "driver-userland"
  facts::Level level = facts::Level::should;
  std::string summary;                ///< one line that stands alone
  std::string_view means;             ///< what follows from it
  std::string_view remedy;            ///< what to do
  std::vector<facts::FactKey> facts;  ///< what contradicts what, the first being what is right
};

/// The contradictions of a snapshot: worst first, then by rule. Facts that are unknown contradict
/// nothing.
std::vector<Finding> contradictions(const facts::Snapshot& snapshot);

/// The keys that the rules look at; families by their name before the placeholder
/// ("next_boot.sysctl").
std::vector<std::string_view> keys();

/// What they look at besides because of what a snapshot holds: of each value that the next boot
/// sets, the one now; of a kernel that only the next boot starts, its modules.
std::vector<facts::FactKey> keys_beside(const facts::Snapshot& snapshot);

}  // namespace goldenv::findings
