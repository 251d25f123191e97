#pragma once

#include <string_view>

#include "base/result.h"
#include "doc/node.h"

// toml++ is included by toml.cpp alone; the rest of the room sees the trees of doc.
namespace goldenv::wheel {

/// A TOML 1.0 document as a tree: tables are mappings (keys sorted), arrays sequences, everything
/// else scalars, strings quoted. Errors: malformed ("NAME:LINE:COLUMN: ..."), too_large.
Result<doc::Node> parse_toml(std::string_view text, std::string_view name,
                             const doc::Limits& limits = {});

}  // namespace goldenv::wheel
