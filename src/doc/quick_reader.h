#pragma once

#include <optional>
#include <string_view>

#include "doc/node.h"

// Readers for the forms in which goldenv writes its own files. libyaml and nlohmann-json take 20 to
// 25 ms for a snapshot of 5,000 facts (measured), most of what comparing two of them would cost;
// these take a quarter. They know no errors: whatever they do not know for certain gives nothing,
// and the general reader decides. What they give is what it would have given, marks included, to
// which a test and a fuzz target hold them.
namespace goldenv::doc {

/// Block mappings and lists, flow style within a line, plain and double-quoted scalars on one line;
/// no tabs, no anchors, no comments behind values. `text` has passed check_encoding.
std::optional<Node> read_quick_yaml(std::string_view text, const Limits& limits);

/// All of JSON but surrogate escapes and numbers with exponents or very many digits. `text` has
/// passed check_encoding.
std::optional<Node> read_quick_json(std::string_view text, const Limits& limits);

}  // namespace goldenv::doc
