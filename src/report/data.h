#pragma once

#include <cstddef>
#include <string_view>

#include "doc/node.h"
#include "facts/reading.h"

namespace goldenv::report {

/// Adds a member to a mapping: a node, a text (nothing where the text is empty), a number.
void put(doc::Node& mapping, std::string_view key, doc::Node value);
void put(doc::Node& mapping, std::string_view key, std::string_view text);
void put(doc::Node& mapping, std::string_view key, std::size_t number);

/// A fact's reading with its evidence, in the form it has in a snapshot.
doc::Node reading_node(const facts::Fact& fact);

/// A document of this program's own form begins so; the number grows with incompatible changes.
doc::Node new_document();

}  // namespace goldenv::report
