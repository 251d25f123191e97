#include "fleet/group.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/sha256.h"
#include "facts/want.h"

namespace goldenv::fleet {
namespace {

bool is_selected(const facts::Entry* entry, const facts::FactKey& key,
                 const diff::CompareOptions& options) {
  return entry != nullptr && (options.all || diff::takes_part(*entry, key)) &&
         (options.selection.empty() || options.selection.selects(key.name, key.label));
}

bool has_tolerance(const facts::Entry& entry) { return !entry.compare.empty(); }

/// A digest that two snapshots share exactly if no fact that takes part differs, those with a
/// tolerance left out: the memory of two equal nodes differs by some pages.
std::string signature(const facts::Snapshot& snapshot, const diff::CompareOptions& options) {
  std::string text;
  for (const facts::Fact& fact : snapshot.facts) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    if (!is_selected(entry, fact.key, options) || has_tolerance(*entry)) {
      continue;
    }
    text += fact.key.text() + '\n';
    if (std::holds_alternative<facts::Absent>(fact.reading)) {
      text += "absent";
    } else if (std::holds_alternative<facts::Unknown>(fact.reading)) {
      text += "unknown";
    } else {
      facts::Value value = std::get<facts::Value>(fact.reading);
      if (entry->key == "kernel.cmdline") {
        std::erase_if(value.items,
                      [](const std::string& word) { return facts::is_identity_parameter(word); });
      }
      text += '=' + facts::describe(facts::Reading(value));
    }
    text += '\n';
  }
  return Sha256::of(text).hex();
}

/// Whether the facts with a tolerance are the same in both.
bool near(const facts::Snapshot& a, const facts::Snapshot& b, const diff::CompareOptions& options) {
  return std::ranges::all_of(a.facts, [&](const facts::Fact& fact) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    return !is_selected(entry, fact.key, options) || !has_tolerance(*entry) ||
           facts::same(*entry, fact.reading, b.read(fact.key).reading) != Truth::no;
  });
}

}  // namespace

std::vector<Group> group(const std::vector<facts::Snapshot>& snapshots,
                         const diff::CompareOptions& options) {
  std::unordered_map<std::string, std::vector<std::size_t>> buckets;  // signature -> groups
  std::vector<Group> groups;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    std::vector<std::size_t>& bucket = buckets[signature(snapshots[i], options)];
    const auto found = std::ranges::find_if(bucket, [&](std::size_t place) {
      return near(snapshots[groups[place].members.front()], snapshots[i], options);
    });
    if (found != bucket.end()) {
      groups[*found].members.push_back(i);
      continue;
    }
    bucket.push_back(groups.size());
    groups.push_back({{i}, {}});
  }
  std::ranges::stable_sort(
      groups, [](const Group& x, const Group& y) { return x.members.size() > y.members.size(); });
  for (std::size_t i = 1; i < groups.size(); ++i) {
    groups[i].against_largest = diff::compare(snapshots[groups.front().members.front()],
                                              snapshots[groups[i].members.front()], options);
  }
  return groups;
}

}  // namespace goldenv::fleet
