#pragma once

#include <string>
#include <vector>

#include "doc/node.h"
#include "facts/snapshot.h"
#include "findings/finding.h"
#include "report/text.h"

namespace goldenv::report {

/// A line a contradiction, each with what it means, what to do and where it was seen; nothing where
/// there is none.
std::string findings_text(const std::vector<findings::Finding>& found,
                          const facts::Snapshot& snapshot, Colour colour);

/// "2 contradictions: libcuda 550.90.12 beside module 550.90.07; ..." on one line of at most two of
/// them, or nothing.
std::string findings_line(const std::vector<findings::Finding>& found, Colour colour);

/// A list of {rule, level, summary, means, remedy, facts}.
doc::Node findings_node(const std::vector<findings::Finding>& found);

/// Whether one of them weighs `must`.
bool any_must(const std::vector<findings::Finding>& found);

}  // namespace goldenv::report
