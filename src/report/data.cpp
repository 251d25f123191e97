#include "report/data.h"

#include <string>
#include <utility>

#include "facts/snapshot.h"

namespace goldenv::report {

using doc::Node;

void put(Node& mapping, std::string_view key, Node value) {
  mapping.entries.push_back({std::string(key), {}, std::move(value)});
}

void put(Node& mapping, std::string_view key, std::string_view text) {
  if (!text.empty()) {
    put(mapping, key, Node::scalar(std::string(text), true));
  }
}

void put(Node& mapping, std::string_view key, std::size_t number) {
  put(mapping, key, Node::scalar(std::to_string(number)));
}

Node reading_node(const facts::Fact& fact) {
  Node snapshot = facts::to_node(facts::make_snapshot("", {}, {fact}));
  return std::move(snapshot.entries.back().value.entries.front().value);
}

Node new_document() {
  Node node = Node::mapping({});
  put(node, "schema_version", std::size_t{0});
  return node;
}

}  // namespace goldenv::report
