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

}  // namespace goldenv::facts
