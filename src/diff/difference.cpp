#include "diff/difference.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace goldenv::diff {
namespace {

using facts::Absent;
using facts::Value;

bool lighter_or_equal(facts::Level a, facts::Level b) { return a >= b; }

template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, [](const Row& x, const Row& y) {
    return std::tie(x.level, x.entry->layer, x.key) < std::tie(y.level, y.entry->layer, y.key);
  });
}

}  // namespace

bool names_a_build(std::string_view key) {
  return key.ends_with(".build_id") || key.ends_with(".srcversion") || key.ends_with(".digest") ||
         key.ends_with(".git");
}

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"version", "changed", "missing",
                                                      "extra",   "rebuilt", "unmet"};
  return kNames.at(static_cast<std::size_t>(kind));
}

void sort(std::vector<Difference>& differences) { sort_rows(differences); }
void sort(std::vector<Undecided>& undecided) { sort_rows(undecided); }

void classify(Difference& difference, bool headline_same) {
  if (std::holds_alternative<Absent>(difference.b)) {
    difference.kind = Kind::missing;
    return;
  }
  if (std::holds_alternative<Absent>(difference.a)) {
    difference.kind = Kind::extra;
    return;
  }
  const auto* a = std::get_if<Value>(&difference.a);
  const auto* b = std::get_if<Value>(&difference.b);
  const facts::Entry& entry = *difference.entry;
  if (entry.type == facts::Type::version && a != nullptr && b != nullptr &&
      a->form == Value::Form::scalar && b->form == Value::Form::scalar) {
    const auto from = version::parse(entry.scheme, a->text);
    const auto to = version::parse(entry.scheme, b->text);
    if (from && to) {
      difference.kind = Kind::version;
      difference.change = version::change(*from, *to);
      return;
    }
  }
  difference.kind =
      headline_same && names_a_build(difference.key.name) ? Kind::rebuilt : Kind::changed;
}

std::vector<Difference> fold(std::vector<Difference> differences) {
  std::map<facts::FactKey, std::size_t> places;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    places.emplace(differences[i].key, i);
  }
  // The row that tells each difference: its headline's, and so on up; chains are short.
  std::vector<std::size_t> teller(differences.size());
  for (std::size_t i = 0; i < differences.size(); ++i) {
    std::size_t at = i;
    for (std::size_t steps = 0; steps < 8; ++steps) {
      const Difference& row = differences[at];
      const std::string headline = facts::headline_of(*row.entry, row.key.name);
      auto found = headline.empty() ? places.end() : places.find({headline, row.key.label});
      if (found == places.end() && !row.key.label.empty()) {
        found = places.find({headline, ""});
      }
      if (found == places.end() || found->second == at ||
          !lighter_or_equal(differences[i].level, differences[found->second].level)) {
        break;
      }
      at = found->second;
    }
    teller[i] = at;
  }
  std::vector<Difference> kept;
  std::vector<std::size_t> place_of_kept(differences.size());
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (teller[i] == i) {
      place_of_kept[i] = kept.size();
      kept.push_back(differences[i]);
    }
  }
  for (std::size_t i = 0; i < differences.size(); ++i) {
    if (teller[i] != i) {
      kept[place_of_kept[teller[i]]].with.push_back(std::move(differences[i]));
    }
  }
  for (Difference& row : kept) {
    std::ranges::sort(row.with, {}, &Difference::key);
  }
  return kept;
}

std::size_t count(const std::vector<Difference>& differences) {
  std::size_t sum = differences.size();
  for (const Difference& difference : differences) {
    sum += count(difference.with);
  }
  return sum;
}

}  // namespace goldenv::diff
