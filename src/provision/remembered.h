#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doc/node.h"
#include "store/store.h"

// What was found out once and holds as long as what is asked stays the same: which file of an
// index is meant by a version, what an interpreter is. Small files in the store's folder choices/,
// named by the digest of the question, so that an environment whose parts are all there needs no
// network and no other program. Losing them loses time only.
namespace goldenv::provision {

/// The answer to a question, none where it is not there or cannot be read.
std::optional<doc::Node> recall(const store::Store& store, std::string_view question);

/// Keeps an answer, by rename; a store that cannot be written keeps none.
void remember(const store::Store& store, std::string_view question, const doc::Node& answer);

// Building trees of text.
doc::Node text_node(std::string_view text);
doc::Node number_node(std::uint64_t number);
doc::Node flag_node(bool on);
void put(doc::Node& mapping, std::string_view key, doc::Node value);

// Reading them; "" and nothing where a key is missing or of another kind.
std::string text_at(const doc::Node& mapping, std::string_view key);
std::optional<std::uint64_t> number_at(const doc::Node& mapping, std::string_view key);
bool flag_at(const doc::Node& mapping, std::string_view key);

}  // namespace goldenv::provision
