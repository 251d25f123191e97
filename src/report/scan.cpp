#include "report/scan.h"

#include <algorithm>

#include "base/text.h"
#include "report/data.h"
#include "report/evidence.h"
#include "report/findings.h"
#include "report/origin.h"

namespace goldenv::report {
namespace {

using doc::Node;
using facts::Fact;

std::string value_text(const Fact& fact, const facts::Entry& entry) {
  std::string text = printable(facts::describe(fact.reading));
  const auto* value = std::get_if<facts::Value>(&fact.reading);
  if (value != nullptr && value->form == facts::Value::Form::scalar && !entry.unit.empty()) {
    text += " " + std::string(entry.unit);
  }
  return text;
}

// Hundreds of packages would hide the rest; `--only python.package` shows them.
bool is_package(std::string_view name) {
  return name.starts_with("python.package.") || name.starts_with("conda.");
}

bool shown_by_default(const Fact& fact, const facts::Entry& entry) {
  return fact.key.label.empty() && !is_package(fact.key.name) &&
         facts::class_of(entry, fact.key.name) == facts::Class::golden &&
         entry.level <= facts::Level::should && entry.layer != facts::Layer::packages;
}

struct Counts {
  std::size_t absent = 0;
  std::size_t unshown = 0;
  std::vector<const Fact*> unknown;
};

std::string unknown_lines(const std::vector<const Fact*>& unknown) {
  // One line a reason: the keys stand together, so that "needs root" is read once.
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Fact* fact : unknown) {
    const auto& state = std::get<facts::Unknown>(fact->reading);
    const std::string reason =
        std::string(facts::name(state.why)) + (state.needs.empty() ? "" : ", needs " + state.needs);
    const auto found =
        std::ranges::find(reasons, reason, [](const auto& pair) { return pair.first; });
    if (found == reasons.end()) {
      reasons.push_back({reason, {printable(fact->key.text())}});
    } else {
      found->second.push_back(printable(fact->key.text()));
    }
  }
  std::string out;
  for (const auto& [reason, keys] : reasons) {
    out += "unknown (" + reason + "): " + join(keys, ", ") + "\n";
  }
  return out;
}

std::string type_text(const facts::Entry& entry) {
  std::string text(facts::name(entry.type));
  if (entry.type == facts::Type::version) {
    text += ":" + std::string(version::name(entry.scheme));
  }
  return text;
}

}  // namespace

std::string scan_text(const facts::Snapshot& snapshot, const ScanView& view) {
  std::vector<const Fact*> shown;
  Counts counts;
  for (const Fact& fact : snapshot.facts) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    if (entry == nullptr) {
      continue;
    }
    const bool asked =
        view.selection.empty() ? view.all : view.selection.selects(fact.key.name, fact.key.label);
    if (!asked && (!view.selection.empty() || !shown_by_default(fact, *entry))) {
      counts.unshown += view.selection.empty() ? 1u : 0u;
      continue;
    }
    if (std::holds_alternative<facts::Unknown>(fact.reading) && !asked) {
      counts.unknown.push_back(&fact);
    } else if (std::holds_alternative<facts::Absent>(fact.reading) && !asked) {
      ++counts.absent;
    } else {
      shown.push_back(&fact);
    }
  }
  std::ranges::stable_sort(shown, {},
                           [](const Fact* fact) { return facts::entry_of(fact->key.name)->layer; });
  std::vector<std::vector<std::string>> rows;
  for (const Fact* fact : shown) {
    const facts::Entry& entry = *facts::entry_of(fact->key.name);
    rows.push_back({std::string(facts::name(entry.layer)), printable(fact->key.text()),
                    value_text(*fact, entry)});
  }
  const std::size_t told = view.selection.empty() ? snapshot.facts.size() : shown.size();
  std::string out =
      printable(shortened(snapshot.title())) +
      (snapshot.title() == snapshot.source ? ""
                                           : " (" + printable(shortened(snapshot.source)) + ")") +
      ": " + counted(told, "fact") + "\n";
  out += table(rows) + unknown_lines(counts.unknown);
  if (counts.absent + counts.unshown != 0) {
    out += "not shown: " + std::to_string(counts.absent) + " absent, " +
           std::to_string(counts.unshown) + " of less weight (--all)\n";
  }
  return out + findings_text(findings::contradictions(snapshot), snapshot, view.colour);
}

doc::Node scan_node(const facts::Snapshot& snapshot) {
  doc::Node node = facts::to_node(snapshot);
  const std::vector<findings::Finding> found = findings::contradictions(snapshot);
  if (!found.empty()) {
    put(node, "findings", findings_node(found));
  }
  return node;
}

facts::Snapshot selected(const facts::Snapshot& snapshot, const facts::Selection& selection) {
  if (selection.empty()) {
    return snapshot;
  }
  facts::Snapshot kept{snapshot.source, snapshot.listed, {}};
  for (const Fact& fact : snapshot.facts) {
    if (selection.selects(fact.key.name, fact.key.label)) {
      kept.facts.push_back(fact);
    }
  }
  // A family that was cut down is no longer listed whole.
  std::erase_if(kept.listed,
                [&](const std::string& family) { return !selection.selects(family + ".x", ""); });
  return kept;
}

std::string explain_text(const Explanation& explanation, std::string_view title, Colour colour) {
  const Fact& fact = explanation.fact;
  const facts::Entry& entry = *explanation.entry;
  std::string out = paint(colour, Ink::bold, printable(fact.key.text())) + " = " +
                    value_text(fact, entry) + "  on " + printable(title) + "\n";
  std::vector<std::vector<std::string>> rows;
  if (explanation.pin != nullptr) {
    const manifest::Pin& pin = *explanation.pin;
    rows.push_back({"wanted", printable(facts::describe(pin.want)) + " by " + printable(pin.file) +
                                  ":" + std::to_string(pin.mark.line) + " (" +
                                  std::string(facts::name(pin.level)) + "): " + explanation.met});
    if (pin.when) {
      rows.push_back({"when", printable(pin.when->text())});
    }
    if (!pin.why.empty()) {
      rows.push_back({"why", printable(pin.why)});
    }
  }
  bool first = true;
  for (std::string& line : evidence_lines(fact.evidence)) {
    rows.push_back({first ? "from" : "", std::move(line)});
    first = false;
  }
  for (std::vector<std::string>& row : origin_rows(explanation.origin, fact)) {
    rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < explanation.instances.size(); ++i) {
    const Fact& instance = explanation.instances[i];
    std::string line = printable("@" + instance.key.label) + "  " + value_text(instance, entry);
    if (!instance.evidence.build_id.empty()) {
      line += "  build-id " + printable(instance.evidence.build_id);
    }
    rows.push_back({i == 0 ? "instances" : "", std::move(line)});
  }
  rows.push_back({"means", printable(entry.meaning)});
  rows.push_back({"kind", std::string(facts::name(entry.layer)) + ", " + type_text(entry) + ", " +
                              std::string(facts::name(entry.scope)) + ", " +
                              std::string(facts::name(facts::class_of(entry, fact.key.name))) +
                              ", locked as " + std::string(facts::name(entry.level))});
  return out + table(rows, 2);
}

doc::Node explain_node(const Explanation& explanation, std::string_view source) {
  Node node = new_document();
  put(node, "source", source);
  put(node, "key", explanation.fact.key.text());
  put(node, "fact", reading_node(explanation.fact));
  if (!explanation.instances.empty()) {
    Node instances = Node::mapping({});
    for (const Fact& instance : explanation.instances) {
      put(instances, instance.key.text(), reading_node(instance));
    }
    put(node, "instances", std::move(instances));
  }
  if (!explanation.origin.empty()) {
    put(node, "origin", origin_node(explanation.origin));
  }
  if (explanation.pin != nullptr) {
    Node pin = Node::mapping({});
    put(pin, "wanted", facts::describe(explanation.pin->want));
    put(pin, "level", facts::name(explanation.pin->level));
    put(pin, "file", explanation.pin->file);
    put(pin, "line", explanation.pin->mark.line);
    put(pin, "why", explanation.pin->why);
    put(pin, "state", explanation.met);
    put(node, "pin", std::move(pin));
  }
  put(node, "meaning", explanation.entry->meaning);
  put(node, "layer", facts::name(explanation.entry->layer));
  put(node, "type", type_text(*explanation.entry));
  put(node, "level", facts::name(explanation.entry->level));
  return node;
}

std::string list_text(const facts::Selection& selection, Colour colour) {
  std::vector<std::vector<std::string>> rows;
  for (const facts::Entry& entry : facts::catalogue()) {
    if (selection.empty() || selection.may_select(entry)) {
      rows.push_back({std::string(facts::name(entry.layer)), std::string(entry.key),
                      type_text(entry), std::string(facts::name(entry.level)),
                      std::string(entry.meaning)});
    }
  }
  return paint(colour, Ink::bold, counted(rows.size(), "key")) +
         ": layer, key, type, level in a lock, meaning\n" + table(rows);
}

doc::Node list_node(const facts::Selection& selection) {
  Node keys = Node::sequence({});
  for (const facts::Entry& entry : facts::catalogue()) {
    if (!selection.empty() && !selection.may_select(entry)) {
      continue;
    }
    Node node = Node::mapping({});
    put(node, "key", entry.key);
    put(node, "layer", facts::name(entry.layer));
    put(node, "type", type_text(entry));
    put(node, "values", entry.values);
    put(node, "unit", entry.unit);
    put(node, "scope", facts::name(entry.scope));
    put(node, "class", facts::name(entry.klass));
    put(node, "level", facts::name(entry.level));
    put(node, "many", facts::name(entry.many));
    put(node, "label", entry.label);
    put(node, "needs", entry.needs);
    put(node, "with", entry.with);
    put(node, "meaning", entry.meaning);
    keys.items.push_back(std::move(node));
  }
  Node node = new_document();
  put(node, "keys", std::move(keys));
  return node;
}

}  // namespace goldenv::report
