#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

using doc::Node;

void put(Node& mapping, std::string_view key, Node value) {
  mapping.entries.push_back({std::string(key), {}, std::move(value)});
}

Node text(std::string_view words) { return Node::scalar(std::string(words), true); }

/// {`key`: `want`, level, when, why, artifact, sha256}, what is usual left out.
Node long_form(std::string_view key, Node want, const Pin& pin) {
  Node node = Node::mapping({});
  put(node, key, std::move(want));
  if (pin.level != facts::Level::must) {
    put(node, "level", text(facts::name(pin.level)));
  }
  if (pin.when) {
    put(node, "when", text(pin.when->text()));
  }
  if (!pin.why.empty()) {
    put(node, "why", text(pin.why));
  }
  if (!pin.artifact.empty()) {
    put(node, "artifact", text(pin.artifact));
  }
  if (!pin.sha256.empty()) {
    put(node, "sha256", text(pin.sha256));
  }
  return node;
}

bool is_usual(const Pin& pin) {
  return pin.level == facts::Level::must && !pin.when && pin.why.empty() && pin.sha256.empty();
}

/// Whether a pin can stand under `files:`: a digest, absent, or one of them with more to it.
bool is_file(const Pin& pin) {
  if (pin.key.name != "file" ||
      (!pin.key.label.starts_with('/') && !pin.key.label.starts_with("~/"))) {
    return false;
  }
  if (pin.want.kind == facts::Want::Kind::absent) {
    return true;
  }
  const auto sha256 = Sha256::parse(pin.want.value.text);
  return pin.want.kind == facts::Want::Kind::exact && sha256 &&
         sha256->hex() == pin.want.value.text;
}

/// A key that the catalogue does not know has no layer; it comes last.
std::pair<std::size_t, const facts::FactKey*> place_of(const Pin& pin) {
  const facts::Entry* entry = facts::entry_of(pin.key.name);
  return {entry == nullptr ? std::size_t{999} : static_cast<std::size_t>(entry->layer), &pin.key};
}

/// Counts read best without quotes, and no reader changes a whole number. Versions such as 12.10
/// keep theirs: other programs would make 12.1 of it.
void unquote_counts(Node& node) {
  constexpr std::size_t kExact = 15;  // digits that a double holds
  node.quoted =
      node.quoted && !(node.text == "0" || (!node.text.empty() && node.text[0] != '0' &&
                                            node.text.size() <= kExact && to_number(node.text)));
  for (Node& item : node.items) {
    unquote_counts(item);
  }
  for (Node::Entry& entry : node.entries) {
    unquote_counts(entry.value);
  }
}

Node pin_node(const Pin& pin) {
  const auto key = facts::resolve(pin.key.text());
  Node want = key ? facts::to_node(*key, pin.want) : text(facts::describe(pin.want));
  unquote_counts(want);
  const bool looks_long = want.is_mapping() && want.find("want") != nullptr;
  return is_usual(pin) && !looks_long ? want : long_form("want", std::move(want), pin);
}

Node file_node(const Pin& pin) {
  const bool absent = pin.want.kind == facts::Want::Kind::absent;
  Node digest = absent ? text("absent") : text(pin.want.value.text);
  return absent && is_usual(pin) ? digest : long_form("sha256", std::move(digest), pin);
}

Node closed_node(const Manifest& manifest) {
  Node list = Node::sequence({});
  for (const std::string& family : manifest.closed) {
    list.items.push_back(text(family));
  }
  if (manifest.closed_level == facts::Level::should) {
    return list;
  }
  Node node = Node::mapping({});
  put(node, "want", std::move(list));
  put(node, "level", text(facts::name(manifest.closed_level)));
  return node;
}

}  // namespace

std::string render(const Manifest& manifest) {
  Node root = Node::mapping({});
  put(root, "goldenv", Node::scalar("1"));
  if (!manifest.name.empty()) {
    put(root, "name", text(manifest.name));
  }
  if (!manifest.target_python.empty()) {
    put(root, "target_python", text(manifest.target_python));
  }
  if (!manifest.closed.empty()) {
    put(root, "closed", closed_node(manifest));
  }
  std::vector<const Pin*> order;
  for (const Pin& pin : manifest.pins) {
    order.push_back(&pin);
  }
  std::ranges::stable_sort(order, [](const Pin* a, const Pin* b) {
    const auto [layer_a, key_a] = place_of(*a);
    const auto [layer_b, key_b] = place_of(*b);
    return layer_a != layer_b ? layer_a < layer_b : *key_a < *key_b;
  });
  Node pins = Node::mapping({});
  Node files = Node::mapping({});
  for (const Pin* pin : order) {
    if (is_file(*pin)) {
      put(files, pin->key.label, file_node(*pin));
    } else {
      put(pins, pin->key.text(), pin_node(*pin));
    }
  }
  put(root, "pins", std::move(pins));
  if (!files.entries.empty()) {
    put(root, "files", std::move(files));
  }
  return doc::render_yaml(root, true);
}

}  // namespace goldenv::manifest
