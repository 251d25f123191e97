#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/store.h"

// What composing asks of objects' trees on disk; other rooms include compose/compose.h.
namespace goldenv::compose {

/// The members of a folder of an object, sorted, folders with "/" behind them.
Result<std::vector<std::string>> tree_listing(const store::Store& store, const std::string& id,
                                              const std::string& folder);

/// Whether two objects' files have the same bytes, or are links with the same text.
Result<bool> same_file(const store::Store& store, const std::string& id, const std::string& path,
                       const std::string& other_id, const std::string& other_path);

/// What a copy of a program of an object would hold: its own bytes, but of a script that begins
/// "#!python" with the interpreter's path in that place. None where the bytes stay as they are.
Result<std::optional<std::string>> rewritten(int fd, const std::string& path,
                                             const std::string& interpreter);

}  // namespace goldenv::compose
