#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::store {

/// What running processes have of a store: the generations and objects that are named in what they
/// run, map, stand in and have in their environment. Whatever stands before the names does not
/// count: a container may have the store elsewhere.
struct InUse {
  std::set<std::string> generations;  ///< digests
  std::set<std::string> objects;      ///< ids
  std::vector<int> unseen;            ///< processes that may not be looked at
};

/// Adds what a text (a path, a memory map, an environment) names.
void add_names(std::string_view text, InUse& in_use);

/// Looks at all processes below `proc` ("/proc") but this one. Kernel threads and zombies have
/// nothing. Errors: failed, denied, where there is no /proc. Source: proc(5).
Result<InUse> used_by_processes(const std::string& proc);

}  // namespace goldenv::store
