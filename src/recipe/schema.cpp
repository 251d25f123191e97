// The form of a recipe for editors and other validators: json-schema.org, draft 2020-12. What only
// the catalogue knows (which component, which versions) is left to goldenv.
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "doc/node.h"
#include "recipe/recipe.h"
#include "recipe/words.h"

namespace goldenv::recipe {
namespace {

using doc::Node;
using Entries = std::vector<Node::Entry>;

Node text(std::string_view value) { return Node::scalar(std::string(value), true); }
Node bare(std::string_view value) { return Node::scalar(std::string(value)); }
Node object(Entries entries) { return Node::mapping(std::move(entries)); }
Node::Entry entry(std::string_view key, Node value) {
  return {std::string(key), {}, std::move(value)};
}

Node texts(std::span<const std::string_view> words) {
  std::vector<Node> items;
  for (const std::string_view word : words) {
    items.push_back(text(word));
  }
  return Node::sequence(std::move(items));
}

/// A scalar that is taken for a text, whatever YAML makes of it: `strip: 1`, `2.20: ...`.
Node any_text() {
  static constexpr std::array<std::string_view, 3> kTypes = {"string", "number", "boolean"};
  return object({entry("type", texts(kTypes))});
}

Node one_of(std::span<const std::string_view> words) {
  return object({entry("enum", texts(words))});
}

Node list(Node items) {
  std::vector<Node> either;
  either.push_back(items);
  either.push_back(object({entry("type", text("array")), entry("items", std::move(items))}));
  return object({entry("anyOf", Node::sequence(std::move(either)))});
}

Node map_of(Node values) {
  return object({entry("type", text("object")), entry("additionalProperties", std::move(values))});
}

Node closed(Entries properties, std::span<const std::string_view> required) {
  return object({entry("type", text("object")), entry("properties", object(std::move(properties))),
                 entry("required", texts(required)), entry("additionalProperties", bare("false"))});
}

Node digits(std::string_view pattern) { return map_of(object({entry("pattern", text(pattern))})); }

/// One key of a source.
Node field(std::string_view key) {
  if (key == "sha256") {
    return digits("^[0-9a-fA-F]{64}$");
  }
  if (key == "commit") {
    return digits("^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$");
  }
  if (key == "layout") {
    std::string places;
    for (const std::string_view place : kLayouts) {
      places += (places.empty() ? "" : "|") + std::string(place);
    }
    return digits("^(" + places + ")(/.+)?$");
  }
  if (key == "build" || key == "redist") {
    return list(any_text());
  }
  return any_text();
}

Node source(std::string_view kind, std::span<const std::string_view> keys,
            std::vector<std::string_view> required) {
  Entries properties;
  properties.push_back(entry(kind, field(kind)));
  for (const std::string_view key : keys) {
    properties.push_back(entry(key, field(key)));
  }
  static constexpr std::array<std::string_view, 5> kBases = {"version", "cuda", "python", "torch",
                                                             "arch"};
  Entries conditions;
  for (const std::string_view base : kBases) {
    conditions.push_back(entry(base, any_text()));
  }
  properties.push_back(entry("when", closed(std::move(conditions), {})));
  required.push_back(kind);
  return closed(std::move(properties), required);
}

Node sources() {
  std::vector<Node> kinds;
  kinds.push_back(source("wheel", kWheelKeys, {}));
  kinds.push_back(source("redist", kRedistKeys, {"index"}));
  kinds.push_back(source("deb", kDebKeys, {}));
  kinds.push_back(source("archive", kArchiveKeys, {}));
  kinds.push_back(source("git", kGitKeys, {"commit"}));
  kinds.push_back(source("installed", {}, {}));
  return object({entry("type", text("array")), entry("minItems", bare("1")),
                 entry("items", object({entry("anyOf", Node::sequence(std::move(kinds)))}))});
}

Node provides() {
  Entries properties;
  for (const std::string_view key : kProvides) {
    properties.push_back(entry(key, key == "environment" ? map_of(any_text()) : list(any_text())));
  }
  return closed(std::move(properties), {});
}

Node property(std::string_view key) {
  if (key == "goldenv_recipe") {
    std::vector<Node> one;
    one.push_back(bare("1"));
    one.push_back(text("1"));
    return object({entry("enum", Node::sequence(std::move(one)))});
  }
  if (key == "sources") {
    return sources();
  }
  if (key == "provides") {
    return provides();
  }
  if (key == "hosts") {
    return map_of(any_text());
  }
  if (key == "requires") {
    Entries properties;
    for (const std::string_view one : kRequires) {
      properties.push_back(entry(one, any_text()));
    }
    static constexpr std::array<std::string_view, 1> kRequired = {"component"};
    return object(
        {entry("type", text("array")), entry("items", closed(std::move(properties), kRequired))});
  }
  if (key == "place") {
    return one_of(kPlaces);
  }
  if (key == "needs") {
    return list(one_of(kNeeds));
  }
  return key == "also" || key == "unfold" ? list(any_text()) : any_text();
}

}  // namespace

std::string json_schema() {
  Entries properties;
  for (const std::string_view key : kKeys) {
    properties.push_back(entry(key, property(key)));
  }
  static constexpr std::array<std::string_view, 2> kRequired = {"goldenv_recipe", "component"};
  Node schema = closed(std::move(properties), kRequired);
  std::vector<Node> either;
  for (const std::string_view key : {"sources", "cannot"}) {
    const std::array<std::string_view, 1> required = {key};
    either.push_back(object({entry("required", texts(required))}));
  }
  schema.entries.insert(schema.entries.begin(),
                        {entry("$schema", text("https://json-schema.org/draft/2020-12/schema")),
                         entry("title", text("goldenv recipe"))});
  schema.entries.push_back(entry("anyOf", Node::sequence(std::move(either))));
  std::string rendered = doc::render_json(schema);
  if (!rendered.ends_with('\n')) {
    rendered += '\n';
  }
  return rendered;
}

}  // namespace goldenv::recipe
