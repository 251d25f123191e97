// The form of a manifest for editors and other validators: json-schema.org, draft 2020-12. It is
// made from the catalogue and says what a reader of JSON can know; what a version may look like or
// whether a constraint can be met is left to goldenv.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

using doc::Node;
using facts::Entry;
using facts::Many;
using facts::Type;

/// A text, which no reader takes for a number.
Node text(std::string_view value) { return Node::scalar(std::string(value), true); }
/// A number or a truth value.
Node bare(std::string_view value) { return Node::scalar(std::string(value)); }

Node texts(const std::vector<std::string_view>& values) {
  std::vector<Node> items;
  for (const std::string_view value : values) {
    items.push_back(text(value));
  }
  return Node::sequence(std::move(items));
}

/// A mapping under construction.
class Object {
 public:
  Object&& with(std::string_view key, Node value) && {
    entries_.push_back({std::string(key), {}, std::move(value)});
    return std::move(*this);
  }
  void add(std::string_view key, Node value) {
    entries_.push_back({std::string(key), {}, std::move(value)});
  }
  Node node() && { return Node::mapping(std::move(entries_)); }

 private:
  std::vector<Node::Entry> entries_;
};

Node reference(std::string_view definition) {
  return Object().with("$ref", text("#/$defs/" + std::string(definition))).node();
}

Node typed(std::string_view type) { return Object().with("type", text(type)).node(); }

/// A scalar that is taken for a text, whatever YAML makes of it: `name: 42`, `why: true`.
Node any_text() { return Object().with("type", texts({"string", "number", "boolean"})).node(); }

/// An object, or nothing behind `key:`: what is left when its last member is deleted.
Object object_or_nothing() { return Object().with("type", texts({"object", "null"})); }

Node any_of(std::vector<Node> alternatives) {
  return Object().with("anyOf", Node::sequence(std::move(alternatives))).node();
}

Node array_of(Node items) {
  return Object().with("type", text("array")).with("items", std::move(items)).node();
}

Node some_of(Node items) {
  return Object()
      .with("type", text("array"))
      .with("minItems", bare("1"))
      .with("items", std::move(items))
      .node();
}

Node map_of(Node values) {
  return Object()
      .with("type", text("object"))
      .with("additionalProperties", std::move(values))
      .node();
}

/// {want: ...} with what else a pin may say.
Node long_form(std::string_view want_key, Node want) {
  Object properties;
  properties.add(want_key, std::move(want));
  properties.add("level", reference("level"));
  properties.add("when", Object()
                             .with("type", text("string"))
                             .with("description", text("KEY OP VALUE, and, or, not, parentheses: "
                                                       "the pin counts only where it holds"))
                             .node());
  properties.add("why", any_text());
  if (want_key == "want") {
    properties.add("artifact",
                   Object()
                       .with("type", text("string"))
                       .with("description", text("The file that a version was installed from"))
                       .node());
    properties.add("sha256", Object()
                                 .with("type", text("string"))
                                 .with("pattern", text("^[0-9a-fA-F]{64}$"))
                                 .with("description", text("Of that file"))
                                 .node());
  }
  return Object()
      .with("type", text("object"))
      .with("properties", std::move(properties).node())
      .with("required", texts({want_key}))
      .with("additionalProperties", bare("false"))
      .node();
}

/// What can be wanted of a key: the name of a definition below.
std::string_view want_of(const Entry& entry) {
  switch (entry.type) {
    case Type::list:
    case Type::set:
      return "sequence";
    case Type::map:
      return "map";
    default:
      if (entry.key == "env.<NAME>") {
        return "sequence";  // PATH and its like are lists
      }
      // Where all instances count at once, a mapping says how many have which value.
      return entry.many == Many::all ? "scalar_or_tally" : "scalar";
  }
}

constexpr std::array<std::string_view, 4> kWants = {"scalar", "scalar_or_tally", "sequence", "map"};

Node definitions() {
  Object defs;
  defs.add("level", Object().with("enum", texts({"must", "should", "info"})).node());
  defs.add("value", Object()
                        .with("type", texts({"string", "number", "boolean"}))
                        .with("description",
                              text("A value, a constraint (>=5.5, 12.1.*, ~=2.2, !=2.31, joined by "
                                   "commas), `absent`, or `any`, which drops an inherited pin"))
                        .node());
  std::vector<Node> scalar;
  scalar.push_back(reference("value"));
  scalar.push_back(some_of(reference("value")));
  defs.add("scalar", any_of(scalar));
  std::vector<Node> tally = scalar;
  std::vector<Node> count;
  count.push_back(typed("integer"));
  count.push_back(Object().with("type", text("string")).with("pattern", text("^[0-9]+$")).node());
  tally.push_back(map_of(any_of(std::move(count))));
  defs.add("scalar_or_tally", any_of(std::move(tally)));
  std::vector<Node> member;
  member.push_back(reference("value"));
  member.push_back(array_of(reference("value")));
  std::vector<Node> sequence;
  sequence.push_back(reference("value"));
  sequence.push_back(array_of(any_of(std::move(member))));
  defs.add("sequence", any_of(std::move(sequence)));
  std::vector<Node> map;
  map.push_back(reference("value"));
  map.push_back(map_of(reference("value")));
  map.push_back(some_of(map_of(reference("value"))));
  defs.add("map", any_of(std::move(map)));
  for (const std::string_view want : kWants) {
    std::vector<Node> pin;
    pin.push_back(reference(want));
    pin.push_back(long_form("want", reference(want)));
    defs.add("pin_" + std::string(want), any_of(std::move(pin)));
  }
  return std::move(defs).node();
}

Node pin_on(const Entry& entry, std::string_view written) {
  Object pin;
  pin.add("$ref", text("#/$defs/pin_" + std::string(want_of(entry))));
  pin.add("description", text(written == entry.key ? std::string(entry.meaning)
                                                   : "Same as " + std::string(entry.key) + ": " +
                                                         std::string(entry.meaning)));
  if (entry.type == Type::choice) {
    pin.add("examples", texts(split(entry.values, '|')));
  }
  return std::move(pin).node();
}

/// Whether some key goes on behind this one, so that its last placeholder holds no dots.
bool goes_on(std::string_view key) {
  for (const Entry& other : facts::catalogue()) {
    if (facts::in_family(other.key, key)) {
      return true;
    }
  }
  return false;
}

/// An ECMA 262 expression for a key with placeholders, without its anchors.
std::string expression(std::string_view key) {
  // Python's names may be written with dots, too.
  const bool dots = !goes_on(key) || key == "python.package.<name>";
  std::string pattern;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '<') {
      i = key.find('>', i);
      pattern += i + 1 == key.size() && dots ? "[^@]+" : "[^.@]+";
    } else {
      pattern += key[i] == '.' ? std::string("\\.") : std::string(1, key[i]);
    }
  }
  return pattern;
}

/// Every spelling of every key, with and without '@'.
Node pins() {
  Object properties;
  Object patterns;
  for (const Entry& entry : facts::catalogue()) {
    std::vector<std::string_view> spellings = words(entry.also);
    spellings.insert(spellings.begin(), entry.key);
    for (const std::string_view spelling : spellings) {
      const std::string optional = entry.type == Type::version ? "(\\.version)?" : "";
      const bool family = spelling.find('<') != std::string_view::npos;
      if (!family && entry.many != Many::only_named) {
        properties.add(spelling, pin_on(entry, spelling));
      }
      if (family) {
        patterns.add("^" + expression(spelling) + (entry.many == Many::one ? "$" : "(@.+)?$"),
                     pin_on(entry, spelling));
      } else if (entry.many != Many::one) {
        patterns.add("^" + expression(spelling) + optional + "@.+$", pin_on(entry, spelling));
      }
    }
  }
  // A key's other name stands for it in longer keys, too: libcuda.path is driver.libcuda.path.
  for (const Entry& entry : facts::catalogue()) {
    for (const std::string_view spelling : words(entry.also)) {
      for (const Entry& longer : facts::catalogue()) {
        if (spelling.find('<') != std::string_view::npos ||
            !facts::in_family(longer.key, entry.key)) {
          continue;
        }
        const std::string key =
            std::string(spelling) + std::string(longer.key.substr(entry.key.size()));
        if (std::ranges::count(words(longer.also), key) != 0) {
          continue;  // has been written above
        }
        if (key.find('<') != std::string::npos) {
          patterns.add("^" + expression(key) + (longer.many == Many::one ? "$" : "(@.+)?$"),
                       pin_on(longer, key));
        } else {
          properties.add(key, pin_on(longer, key));
          if (longer.many != Many::one) {
            patterns.add("^" + expression(key) + "@.+$", pin_on(longer, key));
          }
        }
      }
    }
  }
  // A version's own ".version" is read and dropped.
  for (const Entry& entry : facts::catalogue()) {
    const std::string longer = std::string(entry.key) + ".version";
    if (entry.type == Type::version && entry.key.find('<') == std::string_view::npos) {
      properties.add(longer, pin_on(entry, longer));
    }
  }
  return object_or_nothing()
      .with("properties", std::move(properties).node())
      .with("patternProperties", std::move(patterns).node())
      .with("additionalProperties", bare("false"))
      .node();
}

Node files() {
  std::vector<Node> digest;
  digest.push_back(Object().with("pattern", text("^[0-9a-fA-F]{64}$")).node());
  digest.push_back(Object().with("enum", texts({"absent", "any"})).node());
  std::vector<Node> file;
  file.push_back(Object().with("enum", texts({"absent", "any"})).node());
  file.push_back(long_form("sha256", Object()
                                         .with("type", texts({"string", "number"}))
                                         .with("anyOf", Node::sequence(std::move(digest)))
                                         .node()));
  return object_or_nothing()
      .with("patternProperties", Object().with("^(/|~/)", any_of(std::move(file))).node())
      .with("additionalProperties", bare("false"))
      .node();
}

Node text_or_texts() {
  std::vector<Node> alternatives;
  alternatives.push_back(any_text());
  alternatives.push_back(array_of(any_text()));
  alternatives.push_back(typed("null"));
  return any_of(std::move(alternatives));
}

Node closed() {
  Object properties;
  properties.add("want", text_or_texts());
  properties.add("level", reference("level"));
  std::vector<Node> alternatives;
  alternatives.push_back(text_or_texts());
  alternatives.push_back(Object()
                             .with("type", text("object"))
                             .with("properties", std::move(properties).node())
                             .with("required", texts({"want"}))
                             .with("additionalProperties", bare("false"))
                             .node());
  return any_of(std::move(alternatives));
}

}  // namespace

std::string json_schema() {
  Object properties;
  properties.add("goldenv", Object().with("enum", Node::sequence({bare("1"), text("1")})).node());
  properties.add("name", any_text());
  properties.add("extends", text_or_texts());
  properties.add("target_python",
                 Object().with("type", text("string")).with("pattern", text("^(/|~/)")).node());
  properties.add("closed", closed());
  properties.add("pins", pins());
  properties.add("files", files());
  const Node schema = Object()
                          .with("$schema", text("https://json-schema.org/draft/2020-12/schema"))
                          .with("title", text("goldenv manifest"))
                          .with("type", text("object"))
                          .with("properties", std::move(properties).node())
                          .with("required", texts({"goldenv"}))
                          .with("additionalProperties", bare("false"))
                          .with("$defs", definitions())
                          .node();
  std::string rendered = doc::render_json(schema);
  if (!rendered.ends_with('\n')) {
    rendered += '\n';
  }
  return rendered;
}

}  // namespace goldenv::manifest
