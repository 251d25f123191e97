#include "diff/compare.h"

#include <algorithm>

#include "facts/want.h"

namespace goldenv::diff {
namespace {

using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Snapshot;
using facts::Unknown;
using facts::Value;

/// The two snapshots side by side, one step a key.
template <typename Visit>
void for_each_pair(const Snapshot& a, const Snapshot& b, Visit visit) {
  auto left = a.facts.begin();
  auto right = b.facts.begin();
  while (left != a.facts.end() || right != b.facts.end()) {
    if (right == b.facts.end() || (left != a.facts.end() && left->key < right->key)) {
      visit(*left, b.read(left->key));
      ++left;
    } else if (left == a.facts.end() || right->key < left->key) {
      visit(a.read(right->key), *right);
      ++right;
    } else {
      visit(*left, *right);
      ++left;
      ++right;
    }
  }
}

Reading reading_of(const Snapshot& snapshot, const std::string& name) {
  return snapshot.read({name, ""}).reading;
}

bool is_prefix_value(const Reading& reading) {
  const auto* value = std::get_if<Value>(&reading);
  return value != nullptr && value->form == Value::Form::prefix;
}

/// Whether the headline of a key is known to be the same on both sides.
bool same_headline(const Snapshot& a, const Snapshot& b, const facts::Entry& entry,
                   std::string_view name) {
  const std::string headline = facts::headline_of(entry, name);
  const facts::Entry* of = headline.empty() ? nullptr : facts::entry_of(headline);
  return of != nullptr &&
         facts::same(*of, reading_of(a, headline), reading_of(b, headline)) == Truth::yes;
}

// Numbers of two kinds (Linux driver, Windows driver, L4T) are different, never older or newer.
bool numberings_differ(const Snapshot& a, const Snapshot& b) {
  const facts::Entry* entry = facts::entry_of("driver.numbering");
  return entry != nullptr && facts::same(*entry, reading_of(a, "driver.numbering"),
                                         reading_of(b, "driver.numbering")) == Truth::no;
}

}  // namespace

bool takes_part(const facts::Entry& entry, const FactKey& key) {
  return key.label.empty() && entry.view.empty() &&
         facts::class_of(entry, key.name) == facts::Class::golden;
}

bool is_compared(const facts::Entry& entry, const FactKey& key, const CompareOptions& options) {
  return options.all || takes_part(entry, key) ||
         (!options.selection.empty() && !key.label.empty());
}

facts::Level level_of(const facts::Entry& entry) {
  return std::min(entry.level, facts::Level::info);
}

Comparison compare(const Snapshot& a, const Snapshot& b, const CompareOptions& options) {
  Comparison result;
  const bool other_numbers = numberings_differ(a, b);
  for_each_pair(a, b, [&](const Fact& left, const Fact& right) {
    const facts::Entry* entry = facts::entry_of(left.key.name);
    if (entry == nullptr || !is_compared(*entry, left.key, options)) {
      return;
    }
    if (!options.selection.empty() && !options.selection.selects(left.key.name, left.key.label)) {
      return;
    }
    const manifest::Pin* pin =
        options.manifest == nullptr ? nullptr : options.manifest->find(left.key);
    const facts::Level level = pin == nullptr ? level_of(*entry) : pin->level;
    const Truth equal = facts::same(*entry, left.reading, right.reading);
    if (equal == Truth::yes) {
      ++result.compared;
      return;
    }
    if (equal == Truth::unknown) {
      const bool none_known = std::holds_alternative<Unknown>(left.reading) &&
                              std::holds_alternative<Unknown>(right.reading);
      if (none_known) {
        ++result.unknown_on_both;
      } else if (is_prefix_value(left.reading) && left.reading == right.reading &&
                 same_headline(a, b, *entry, left.key.name)) {
        // Both know the same part of it, and what it was derived from is the same.
        ++result.compared;
      } else {
        Undecided one{left.key, entry, level, left.reading, right.reading, ""};
        one.pinned = pin != nullptr;
        result.one_sided.push_back(std::move(one));
      }
      return;
    }
    ++result.compared;
    Difference difference;
    difference.key = left.key;
    difference.entry = entry;
    difference.level = level;
    difference.a = left.reading;
    difference.b = right.reading;
    difference.evidence_a = left.evidence;
    difference.evidence_b = right.evidence;
    classify(difference, same_headline(a, b, *entry, left.key.name));
    if (other_numbers && difference.kind == Kind::version && left.key.name.starts_with("driver")) {
      difference.kind = Kind::changed;
    }
    result.differences.push_back(std::move(difference));
  });
  sort(result.differences);
  result.differences = fold(std::move(result.differences));
  sort(result.one_sided);
  return result;
}

}  // namespace goldenv::diff
