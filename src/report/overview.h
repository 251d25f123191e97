#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diff/check.h"
#include "doc/node.h"
#include "facts/snapshot.h"
#include "findings/finding.h"
#include "report/text.h"

namespace goldenv::report {

/// What bare `goldenv` says: at most ten lines of what is in force, and whether it matches.
struct Overview {
  facts::Snapshot snapshot;
  std::string manifest_file;  ///< empty: none was found
  std::optional<diff::Check> check;
  std::vector<findings::Finding> found;
};

std::string overview_text(const Overview& overview, Colour colour);
doc::Node overview_node(const Overview& overview);

/// The keys that the overview shows.
std::vector<facts::FactKey> overview_keys();

}  // namespace goldenv::report
