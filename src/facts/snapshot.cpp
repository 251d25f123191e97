#include "facts/snapshot.h"

#include <algorithm>

#include "base/text.h"
#include "facts/catalogue.h"
#include "facts/variable_names.h"

namespace goldenv::facts {
namespace {

// In the order of FactKey, without building one.
bool before(const Fact& fact, const FactKey& key) { return fact.key < key; }

// A probe may hand over a list where the catalogue says set, and the reverse; the text form does
// not tell them apart, so the catalogue decides.
void settle_form(Fact& fact) {
  auto* value = std::get_if<Value>(&fact.reading);
  if (value == nullptr || (value->form != Value::Form::list && value->form != Value::Form::set)) {
    return;
  }
  const Entry* entry = entry_of(fact.key.name);
  const bool set = entry != nullptr && entry->type == Type::set;
  *value = set ? Value::set(std::move(value->items)) : Value::list(std::move(value->items));
}

// The kernel takes '-' and '_' in parameter names for the same.
bool same_parameter(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

Reading parameter(const Reading& cmdline, std::string_view name) {
  const auto* value = std::get_if<Value>(&cmdline);
  if (value == nullptr) {
    return cmdline;
  }
  std::vector<std::string> found;
  for (const std::string& word : value->items) {
    const std::size_t equals = word.find('=');
    if (same_parameter(std::string_view(word).substr(0, equals), name)) {
      found.push_back(equals == std::string::npos ? "" : word.substr(equals + 1));
    }
  }
  if (found.empty()) {
    return Absent{"not on the command line"};
  }
  return found.size() == 1 ? Value::scalar(std::move(found.front()))
                           : Value::list(std::move(found));
}

bool is_listed(const std::vector<std::string>& listed, std::string_view name) {
  // Of variables that are never read unless asked for by name, a list that lacks them says nothing.
  constexpr std::string_view kVariable = "env.";
  if (name.starts_with(kVariable) && !is_listed_variable(name.substr(kVariable.size()))) {
    return false;
  }
  return std::ranges::any_of(listed,
                             [&](const std::string& family) { return in_family(name, family); });
}

/// Whether a key of GPUs was read of each: only where their number is known, too, since a snapshot
/// may have been cut down to some.
bool holds_every_gpu(const Snapshot& snapshot, const Entry& entry, const std::string& name) {
  const Fact* count = snapshot.find({"gpu.count", ""});
  const auto* value = count == nullptr ? nullptr : std::get_if<Value>(&count->reading);
  const Fact* common = snapshot.find({name, ""});
  return entry.label == "GPU" && value != nullptr && common != nullptr &&
         !std::holds_alternative<Unknown>(common->reading) &&
         to_number(value->text) == snapshot.instances(name).size();
}

}  // namespace

const Fact* Snapshot::find(const FactKey& key) const {
  const auto it = std::lower_bound(facts.begin(), facts.end(), key, before);
  return it != facts.end() && it->key == key ? &*it : nullptr;
}

Fact Snapshot::read(const FactKey& key) const {
  if (const Fact* fact = find(key)) {
    return *fact;
  }
  const Entry* entry = entry_of(key.name);
  if (entry != nullptr && !entry->view.empty() && key.label.empty()) {
    const FactKey base{std::string(entry->view), {}};
    Fact fact = read(base);
    fact.reading = parameter(fact.reading, key.name.substr(base.name.size() + 1));
    fact.key = key;
    return fact;
  }
  if (key.label.empty() && is_listed(listed, key.name)) {
    return {key, Absent{}, {}};
  }
  if (!key.label.empty() && entry != nullptr && holds_every_gpu(*this, *entry, key.name)) {
    return {key, Absent{"no such instance"}, {}};
  }
  return {key, Unknown{Why::not_probed, "", ""}, {}};
}

std::span<const Fact> Snapshot::instances(std::string_view name) const {
  const auto below = [](const Fact& fact, std::string_view wanted) {
    return fact.key.name < wanted || (fact.key.name == wanted && fact.key.label.empty());
  };
  const auto first = std::lower_bound(facts.begin(), facts.end(), name, below);
  auto last = first;
  while (last != facts.end() && last->key.name == name) {
    ++last;
  }
  return {first, last};
}

std::string Snapshot::title() const {
  const Fact* fact = find({"host.name", ""});
  if (fact != nullptr) {
    if (const auto* value = std::get_if<Value>(&fact->reading); value != nullptr) {
      return value->text;
    }
  }
  return source;
}

Snapshot make_snapshot(std::string source, std::vector<std::string> listed,
                       std::vector<Fact> facts) {
  std::ranges::sort(listed);
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  std::ranges::for_each(facts, settle_form);
  // What is read back is in order already, and moving thousands of facts costs more than looking.
  const auto not_ascending = [](const Fact& x, const Fact& y) { return !(x.key < y.key); };
  if (std::adjacent_find(facts.begin(), facts.end(), not_ascending) == facts.end()) {
    return {std::move(source), std::move(listed), std::move(facts)};
  }
  std::ranges::stable_sort(facts, {}, &Fact::key);
  // Of facts with one key the last stays.
  std::vector<Fact> kept;
  kept.reserve(facts.size());
  for (Fact& fact : facts) {
    if (!kept.empty() && kept.back().key == fact.key) {
      kept.back() = std::move(fact);
    } else {
      kept.push_back(std::move(fact));
    }
  }
  return {std::move(source), std::move(listed), std::move(kept)};
}

namespace {

using doc::Node;

/// Numbers and truth values are written bare; everything else is text, so that no reader makes
/// 12.1 of 12.10.
Node scalar_node(const Entry* entry, const std::string& text) {
  const bool bare =
      entry != nullptr && (entry->type == Type::integer || entry->type == Type::number ||
                           entry->type == Type::boolean || entry->type == Type::bytes);
  return Node::scalar(text, !bare);
}

Node items_node(const std::vector<std::string>& items) {
  std::vector<Node> nodes;
  nodes.reserve(items.size());
  for (const std::string& item : items) {
    nodes.push_back(Node::scalar(item, true));
  }
  return Node::sequence(std::move(nodes));
}

void put(Node& mapping, std::string_view key, Node value) {
  mapping.entries.push_back({std::string(key), {}, std::move(value)});
}

void put_text(Node& mapping, std::string_view key, const std::string& text) {
  if (!text.empty()) {
    put(mapping, key, Node::scalar(text, true));
  }
}

void put_value(Node& mapping, const Entry* entry, const Value& value) {
  switch (value.form) {
    case Value::Form::scalar:
      put(mapping, "value", scalar_node(entry, value.text));
      return;
    case Value::Form::prefix:
      put(mapping, "prefix", Node::scalar(value.text, true));
      return;
    case Value::Form::one_of:
      put(mapping, "one_of", items_node(value.items));
      return;
    case Value::Form::list:
    case Value::Form::set:
      put(mapping, "value", items_node(value.items));
      return;
    case Value::Form::map:
    case Value::Form::tally: {
      Node entries = Node::mapping({});
      std::uint64_t total = 0;
      for (const auto& [name, amount] : value.entries) {
        put(entries, name,
            Node::scalar(amount, value.form == Value::Form::map && !to_number(amount)));
        total += to_number(amount).value_or(0);
      }
      put(mapping, "value", std::move(entries));
      if (value.form == Value::Form::tally) {
        put(mapping, "of", Node::scalar(std::to_string(total)));
      }
    }
  }
}

Node fact_node(const Fact& fact) {
  Node node = Node::mapping({});
  if (const auto* value = std::get_if<Value>(&fact.reading)) {
    put_value(node, entry_of(fact.key.name), *value);
  } else if (const auto* absent = std::get_if<Absent>(&fact.reading)) {
    put(node, "absent", Node::scalar(absent->reason.empty() ? "not there" : absent->reason, true));
  } else {
    const auto& unknown = std::get<Unknown>(fact.reading);
    put(node, "unknown", Node::scalar(std::string(name(unknown.why)), true));
    put_text(node, "detail", unknown.detail);
    put_text(node, "needs", unknown.needs);
  }
  put_text(node, "basis", fact.evidence.basis);
  put_text(node, "from", fact.evidence.from);
  if (fact.evidence.line != 0) {
    put(node, "line", Node::scalar(std::to_string(fact.evidence.line)));
  }
  put_text(node, "build_id", fact.evidence.build_id);
  if (!fact.evidence.notes.empty()) {
    put(node, "notes", items_node(fact.evidence.notes));
  }
  return node;
}

/// Reads one fact; throws nothing, says where it is wrong.
class FactReader {
 public:
  explicit FactReader(std::string_view file) : file_(file) {}

  /// Moves texts out of what is written.
  Result<void> read(Node::Entry& written, Fact& fact) const {
    GOLDENV_TRY(fact.key, key(written));
    Node& node = written.value;
    if (!node.is_mapping()) {
      return doc::error_at(file_, node.mark,
                           "a fact is {value: ...}, {absent: ...} or {unknown: ...}");
    }
    const Node* of = node.find("of");
    int states = 0;
    for (Node::Entry& entry : node.entries) {
      if (auto read = field(fact, entry, of != nullptr, states); !read) {
        return read;
      }
    }
    if (states != 1) {
      return doc::error_at(file_, node.mark,
                           "a fact has exactly one of value, prefix, one_of, absent, unknown");
    }
    return {};
  }

 private:
  Result<FactKey> key(const Node::Entry& written) const {
    FactKey key = FactKey::parse(written.key);
    if (entry_of(key.name) != nullptr) {
      return key;
    }
    const Result<Resolved> resolved = resolve(written.key);
    if (!resolved) {
      return doc::error_at(file_, written.mark, resolved.error().message);
    }
    return FactKey{resolved->name, resolved->label};
  }

  Result<void> field(Fact& fact, Node::Entry& entry, bool counted, int& states) const {
    const std::string_view name = entry.key;
    if (name == "value" || name == "prefix" || name == "one_of") {
      ++states;
      GOLDENV_TRY(Value value, read_value(fact.key, entry, counted));
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
        return doc::error_at(file_, entry.value.mark, why.error().message);
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
      fact.evidence.line = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(to_number(text).value_or(0), UINT32_MAX));
    } else if (name != "of") {
      return doc::error_at(file_, entry.mark, "unknown field \"" + entry.key + "\" of a fact");
    }
    return {};
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

  Result<Value> read_value(const FactKey& key, Node::Entry& entry, bool counted) const {
    Node& node = entry.value;
    if (entry.key == "one_of") {
      GOLDENV_TRY(auto items, texts(node));
      return Value::one_of(std::move(items));
    }
    if (node.is_scalar()) {
      return entry.key == "prefix" ? Value::prefix(std::move(node.text))
                                   : Value::scalar(std::move(node.text));
    }
    if (entry.key == "prefix" || node.is_null()) {
      return doc::error_at(file_, node.mark, "expected a text here");
    }
    if (node.is_sequence()) {
      GOLDENV_TRY(auto items, texts(node));
      const Entry* known = entry_of(key.name);
      return known != nullptr && known->type == Type::set ? Value::set(std::move(items))
                                                          : Value::list(std::move(items));
    }
    std::vector<std::pair<std::string, std::string>> entries;
    entries.reserve(node.entries.size());
    for (Node::Entry& member : node.entries) {
      if (!member.value.is_scalar()) {
        return doc::error_at(file_, member.value.mark, "expected a text or a number here");
      }
      entries.emplace_back(std::move(member.key), std::move(member.value.text));
    }
    return counted ? Value::tally(std::move(entries)) : Value::map(std::move(entries));
  }

  std::string_view file_;
};

}  // namespace

doc::Node to_node(const Snapshot& snapshot) {
  Node node = Node::mapping({});
  put(node, "goldenv_snapshot", Node::scalar(std::to_string(kSnapshotVersion)));
  put(node, "source", Node::scalar(snapshot.source, true));
  put(node, "listed", items_node(snapshot.listed));
  Node facts = Node::mapping({});
  facts.entries.reserve(snapshot.facts.size());
  for (const Fact& fact : snapshot.facts) {
    put(facts, fact.key.text(), fact_node(fact));
  }
  put(node, "facts", std::move(facts));
  return node;
}

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
  for (Node::Entry& entry : node.entries) {
    if (entry.key == "goldenv_snapshot") {
      if (!entry.value.is_scalar() || entry.value.text != std::to_string(kSnapshotVersion)) {
        return doc::error_at(
            name_, entry.value.mark,
            "this goldenv reads snapshots of version 0, not \"" + entry.value.text + "\"");
      }
    } else if (entry.key == "source" && entry.value.is_scalar()) {
      source = std::move(entry.value.text);
    } else if (entry.key == "listed" && entry.value.is_sequence()) {
      for (Node& family : entry.value.items) {
        if (!family.is_scalar()) {
          return doc::error_at(name_, family.mark, "expected the name of a family");
        }
        listed.push_back(std::move(family.text));
      }
    } else if (entry.key == kParts && entry.value.is_mapping()) {
      std::ranges::for_each(entry.value.entries, [this](Node::Entry& fact) { take(fact); });
    } else if (entry.key != "findings") {  // which follow from the facts
      return doc::error_at(name_, entry.mark,
                           "\"" + entry.key +
                               "\" is no field of a snapshot, or of a wrong form; "
                               "expected goldenv_snapshot, source, listed, facts, findings");
    }
  }
  if (error_) {
    return *std::move(error_);
  }
  return make_snapshot(std::move(source), std::move(listed), std::move(facts_));
}

Result<Snapshot> from_node(doc::Node node, std::string_view name) {
  return SnapshotReader(name, 0).finish(node);
}

}  // namespace goldenv::facts
