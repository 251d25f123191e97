// How the text form of a snapshot is read.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "facts/catalogue.h"
#include "facts/quantity.h"
#include "facts/scalar.h"
#include "facts/snapshot.h"

namespace goldenv::facts {
namespace {

using doc::Node;

constexpr std::string_view kFields =
    "value, prefix, one_of, of, absent, unknown, detail, needs, basis, from, line, build_id, notes";

/// What a key's values look like where a text can be none of them, or "". A text that is no version
/// under a version's key is kept: machines have them.
std::string_view expected_text(const Entry& entry, std::string_view text) {
  switch (entry.type) {
    case Type::version:
      return text.empty() ? "a version" : "";
    case Type::boolean:
      return canonical_boolean(text).empty() ? "true or false" : "";
    case Type::integer:
    case Type::number:
    case Type::bytes:
      return to_quantity(text) ? "" : "a number";
    default:
      return "";
  }
}

bool is_collection(Type type) {
  return type == Type::list || type == Type::set || type == Type::map;
}

/// Whether a key's value may be a list: variables and parameters are texts, and lists at times.
bool may_be_list(Type type) {
  return type == Type::list || type == Type::set || type == Type::text || type == Type::path;
}

/// Whether a family is one of the catalogue: a key, or some key is below it.
bool is_family(const std::string& name) {
  return !name.ends_with('.') && (entry_of(name + ".x") != nullptr || entry_of(name) != nullptr ||
                                  std::ranges::any_of(catalogue(), [&](const Entry& entry) {
                                    return in_family(entry.key, name);
                                  }));
}

/// Reads one fact; throws nothing, says where it is wrong.
class FactReader {
 public:
  explicit FactReader(std::string_view file) : file_(file) {}

  /// Moves texts out of what is written.
  Result<void> read(Node::Entry& written, Fact& fact) const {
    const Entry* entry = nullptr;
    GOLDENV_TRY(fact.key, key(written, entry));
    Node& node = written.value;
    if (!node.is_mapping()) {
      return doc::error_at(file_, node.mark,
                           "a fact is {value: ...}, {absent: ...} or {unknown: ...}");
    }
    const Node* of = node.find("of");
    int states = 0;
    for (Node::Entry& part : node.entries) {
      if (auto read = field(fact, *entry, part, of, states); !read) {
        return read;
      }
    }
    if (states != 1) {
      return doc::error_at(file_, node.mark,
                           "a fact has exactly one of value, prefix, one_of, absent, unknown");
    }
    if (of != nullptr) {
      return count(fact, *of);
    }
    return {};
  }

 private:
  Result<FactKey> key(const Node::Entry& written, const Entry*& entry) const {
    FactKey key = FactKey::parse(written.key);
    entry = entry_of(key.name);
    if (entry != nullptr) {
      return key;
    }
    const Result<Resolved> resolved = resolve(written.key);
    if (!resolved) {
      return doc::error_at(file_, written.mark, resolved.error().message);
    }
    entry = resolved->entry;
    return FactKey{resolved->name, resolved->label};
  }

  /// Holds a tally against the number of instances: where it tells of fewer, those left may have
  /// any value.
  Result<void> count(Fact& fact, const Node& of) const {
    const auto* value = std::get_if<Value>(&fact.reading);
    if (value == nullptr || value->form != Value::Form::tally) {
      return doc::error_at(file_, of.mark,
                           "of stands beside a value that counts; expected value: {VALUE: COUNT}");
    }
    const std::optional<std::uint64_t> all = of.is_scalar() ? to_number(of.text) : std::nullopt;
    if (!all || *all == 0) {
      return doc::error_at(file_, of.mark, "expected the number of all instances here");
    }
    std::uint64_t left = *all;
    for (const auto& [text, amount] : value->entries) {
      const std::uint64_t here = to_number(amount).value_or(0);
      if (here > left) {
        return doc::error_at(file_, of.mark,
                             "more are counted than there are; expected counts that add up to " +
                                 std::to_string(*all));
      }
      left -= here;
    }
    if (left != 0) {
      fact.reading = Unknown{
          Why::not_stated,
          describe(fact.reading) + " of " + std::to_string(*all) + ", nothing about the rest", ""};
    }
    return {};
  }

  Result<void> field(Fact& fact, const Entry& known, Node::Entry& entry, const Node* of,
                     int& states) const {
    const std::string_view name = entry.key;
    if (name == "value" || name == "prefix" || name == "one_of") {
      ++states;
      GOLDENV_TRY(Value value, read_value(known, fact.key, entry, of != nullptr));
      fact.reading = std::move(value);
      return {};
    }
    if (name == "notes") {
      GOLDENV_TRY(fact.evidence.notes, texts(entry.value));
      return {};
    }
    if (!entry.value.is_scalar()) {
      return doc::error_at(file_, entry.value.mark, "expected a text here");
    }
    std::string& text = entry.value.text;
    if (name == "absent") {
      ++states;
      fact.reading = Absent{text == "not there" ? std::string() : std::move(text)};
    } else if (name == "unknown") {
      ++states;
      const Result<Why> why = parse_why(text);
      if (!why) {
        return doc::error_at(file_, entry.value.mark, why.error().message + reasons());
      }
      unknown(fact).why = *why;
    } else if (name == "detail") {
      unknown(fact).detail = std::move(text);
    } else if (name == "needs") {
      unknown(fact).needs = std::move(text);
    } else if (name == "basis") {
      fact.evidence.basis = std::move(text);
    } else if (name == "from") {
      fact.evidence.from = std::move(text);
    } else if (name == "build_id") {
      fact.evidence.build_id = std::move(text);
    } else if (name == "line") {
      const std::optional<std::uint64_t> line = to_number(text);
      if (!line) {
        return doc::error_at(file_, entry.value.mark, "expected the number of a line here");
      }
      fact.evidence.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(*line, UINT32_MAX));
    } else if (name != "of") {
      return doc::error_at(file_, entry.mark,
                           "unknown field " + doc::quote_json(entry.key) +
                               " of a fact; expected one of " + std::string(kFields));
    }
    return {};
  }

  static std::string reasons() {
    std::vector<std::string> known;
    for (int why = 0; why <= static_cast<int>(Why::unsupported); ++why) {
      known.emplace_back(name(static_cast<Why>(why)));
    }
    return "; expected one of " + join(known, ", ");
  }

  // detail and needs may stand before or after unknown.
  static Unknown& unknown(Fact& fact) {
    if (!std::holds_alternative<Unknown>(fact.reading)) {
      fact.reading = Unknown{};
    }
    return std::get<Unknown>(fact.reading);
  }

  Result<std::vector<std::string>> texts(Node& node) const {
    if (!node.is_sequence()) {
      return doc::error_at(file_, node.mark, "expected a list of texts");
    }
    std::vector<std::string> items;
    items.reserve(node.items.size());
    for (Node& item : node.items) {
      if (!item.is_scalar()) {
        return doc::error_at(file_, item.mark, "expected a text here");
      }
      items.push_back(std::move(item.text));
    }
    return items;
  }

  Result<void> check_text(const Entry& known, const FactKey& key, const Node& node) const {
    if (const std::string_view expected = expected_text(known, node.text); !expected.empty()) {
      return doc::error_at(file_, node.mark,
                           doc::quote_json(node.text) + " is no value of " + key.name +
                               "; expected " + std::string(expected));
    }
    return {};
  }

  [[nodiscard]] Error wrong_form(const Entry& known, const FactKey& key, const Node& node) const {
    const bool many = known.many == Many::all;
    return doc::error_at(
        file_, node.mark,
        "this is no value of " + key.name + ", whose type is " + std::string(name(known.type)) +
            "; expected " +
            (known.type == Type::map ? "{NAME: TEXT}"
             : is_collection(known.type)
                 ? "a list of texts"
                 : std::string("a text") + (many ? ", or {VALUE: COUNT} with of: beside it" : "")));
  }

  Result<Value> read_value(const Entry& known, const FactKey& key, Node::Entry& entry,
                           bool counted) const {
    Node& node = entry.value;
    if (entry.key == "one_of" || entry.key == "prefix") {
      return is_collection(known.type) ? wrong_form(known, key, node)
                                       : read_partial(known, key, entry);
    }
    if (node.is_null()) {
      return doc::error_at(file_, node.mark, "expected a value here");
    }
    if (node.is_scalar()) {
      if (is_collection(known.type)) {
        return wrong_form(known, key, node);
      }
      if (auto fits = check_text(known, key, node); !fits) {
        return std::move(fits).error();
      }
      return Value::scalar(std::move(node.text));
    }
    if (node.is_sequence()) {
      if (!may_be_list(known.type)) {
        return wrong_form(known, key, node);
      }
      GOLDENV_TRY(auto items, texts(node));
      return known.type == Type::set ? Value::set(std::move(items)) : Value::list(std::move(items));
    }
    if (!counted && known.type != Type::map) {
      return wrong_form(known, key, node);
    }
    std::vector<std::pair<std::string, std::string>> entries;
    entries.reserve(node.entries.size());
    for (Node::Entry& member : node.entries) {
      if (!member.value.is_scalar()) {
        return doc::error_at(file_, member.value.mark, "expected a text or a number here");
      }
      if (counted && !to_number(member.value.text)) {
        return doc::error_at(file_, member.value.mark, "expected how many have it here");
      }
      entries.emplace_back(std::move(member.key), std::move(member.value.text));
    }
    return counted ? Value::tally(std::move(entries)) : Value::map(std::move(entries));
  }

  /// What is known of a text only in part: its beginning, or some that it is one of.
  Result<Value> read_partial(const Entry& known, const FactKey& key, Node::Entry& entry) const {
    Node& node = entry.value;
    if (entry.key == "prefix") {
      if (!node.is_scalar() || node.text.empty()) {
        return doc::error_at(file_, node.mark, "expected the beginning of a value here");
      }
      return Value::prefix(std::move(node.text));
    }
    if (!node.is_sequence() || node.items.empty()) {
      return doc::error_at(file_, node.mark,
                           "expected a list of the values that it may be, at least one");
    }
    for (const Node& item : node.items) {
      if (auto fits = item.is_scalar() ? check_text(known, key, item) : Result<void>(); !fits) {
        return std::move(fits).error();
      }
    }
    GOLDENV_TRY(auto items, texts(node));
    return Value::one_of(std::move(items));
  }

  std::string_view file_;
};

/// A fact that has another of its key beside it, or nullptr.
const Fact* twice(const std::vector<Fact>& facts) {
  const auto not_ascending = [](const Fact& x, const Fact& y) { return !(x.key < y.key); };
  if (std::adjacent_find(facts.begin(), facts.end(), not_ascending) == facts.end()) {
    return nullptr;  // as goldenv writes them
  }
  std::vector<const Fact*> sorted;
  sorted.reserve(facts.size());
  for (const Fact& fact : facts) {
    sorted.push_back(&fact);
  }
  std::ranges::sort(sorted, [](const Fact* x, const Fact* y) { return x->key < y->key; });
  const auto found = std::adjacent_find(
      sorted.begin(), sorted.end(), [](const Fact* x, const Fact* y) { return x->key == y->key; });
  return found == sorted.end() ? nullptr : *found;
}

}  // namespace

bool is_snapshot(const doc::Node& node) {
  return node.is_mapping() && node.find("goldenv_snapshot") != nullptr;
}

SnapshotReader::SnapshotReader(std::string_view name, std::size_t bytes) : name_(name) {
  // Short facts take this much; memory that is not needed in the end is never touched.
  constexpr std::size_t kBytesOfFact = 64;
  facts_.reserve(bytes / kBytesOfFact);
}

void SnapshotReader::take(doc::Node::Entry& written) {
  if (error_) {
    return;
  }
  if (auto read = FactReader(name_).read(written, facts_.emplace_back()); !read) {
    error_ = std::move(read).error();
  }
}

Result<Snapshot> SnapshotReader::finish(doc::Node& node) && {
  if (!is_snapshot(node)) {
    return doc::error_at(name_, node.mark, "no snapshot: it has no goldenv_snapshot");
  }
  std::string source;
  std::vector<std::string> listed;
  doc::Mark facts_mark = node.mark;
  for (Node::Entry& entry : node.entries) {
    if (entry.key == "goldenv_snapshot") {
      if (!entry.value.is_scalar() || entry.value.text != std::to_string(kSnapshotVersion)) {
        return doc::error_at(
            name_, entry.value.mark,
            "this goldenv reads snapshots of version 0, not " + doc::quote_json(entry.value.text));
      }
    } else if (entry.key == "source" && entry.value.is_scalar()) {
      source = std::move(entry.value.text);
    } else if (entry.key == "listed" && entry.value.is_sequence()) {
      for (Node& family : entry.value.items) {
        if (!family.is_scalar() || !is_family(family.text)) {
          return doc::error_at(
              name_, family.mark,
              (family.is_scalar() ? doc::quote_json(family.text) + " is no family; "
                                  : std::string()) +
                  "expected the name of a family, such as env or dpkg.package");
        }
        listed.push_back(std::move(family.text));
      }
    } else if (entry.key == kParts && entry.value.is_mapping()) {
      facts_mark = entry.mark;
      std::ranges::for_each(entry.value.entries, [this](Node::Entry& fact) { take(fact); });
    } else if (entry.key != "findings") {  // which follow from the facts
      return doc::error_at(name_, entry.mark,
                           doc::quote_json(entry.key) +
                               " is no field of a snapshot, or of a wrong form; "
                               "expected goldenv_snapshot, source, listed, facts, findings");
    }
  }
  if (error_) {
    return *std::move(error_);
  }
  if (const Fact* fact = twice(facts_)) {
    return doc::error_at(name_, facts_mark,
                         doc::quote_json(fact->key.text()) +
                             " is among the facts twice, under two spellings; expected each once");
  }
  return make_snapshot(std::move(source), std::move(listed), std::move(facts_));
}

Result<Snapshot> from_node(doc::Node node, std::string_view name) {
  return SnapshotReader(name, 0).finish(node);
}

}  // namespace goldenv::facts
