#pragma once

#include <string>
#include <vector>

#include "doc/node.h"
#include "facts/origin.h"

namespace goldenv::report {

/// Rows of two cells: "set by" with the lines that set a value and whose files they are, "next
/// boot" with what will be set then. `fact` is the one explained.
std::vector<std::vector<std::string>> origin_rows(const facts::Origin& origin,
                                                  const facts::Fact& fact);

/// `set_by`, `over`, `files`, `notes`, `next_boot`; what there is none of is left out.
doc::Node origin_node(const facts::Origin& origin);

}  // namespace goldenv::report
