#include "fleet/group.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "base/sha256.h"
#include "base/text.h"
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
      if (entry->key.ends_with("kernel.cmdline")) {  // of this boot and the next
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

/// Whether the snapshot states, of some fact with a tolerance, what none of `others` does and what
/// does not lie between two of theirs. One that does not is near whatever all of them are near.
bool widens(const facts::Snapshot& snapshot, const std::vector<const facts::Snapshot*>& others,
            const diff::CompareOptions& options) {
  return std::ranges::any_of(snapshot.facts, [&](const facts::Fact& fact) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    const auto* value = std::get_if<facts::Value>(&fact.reading);
    if (value == nullptr || !is_selected(entry, fact.key, options) || !has_tolerance(*entry)) {
      return false;
    }
    const auto number = to_number(value->text);
    bool below = false;
    bool above = false;
    for (const facts::Snapshot* other : others) {
      const facts::Fact* theirs = other->find(fact.key);
      const auto* stated =
          theirs == nullptr ? nullptr : std::get_if<facts::Value>(&theirs->reading);
      if (stated == nullptr) {
        continue;
      }
      if (*stated == *value) {
        return false;
      }
      const auto bound = to_number(stated->text);
      below = below || (number && bound && *bound < *number);
      above = above || (number && bound && *bound > *number);
    }
    return !(below && above);
  });
}

/// A group while it grows. Nearness is not transitive, so that each member must be near each other:
/// it is enough to be near those that stand at the ends.
struct Cluster {
  std::vector<std::size_t> members;
  std::vector<const facts::Snapshot*> ends;
};

/// Of the largest group what it knows, and of the rest what the next largest knows: two groups that
/// differ from each other must not both hide behind a first one that could not look.
facts::Snapshot reference_of(const facts::Snapshot& first, const std::vector<Cluster>& clusters,
                             const std::vector<facts::Snapshot>& snapshots) {
  std::vector<facts::Fact> all = first.facts;
  const auto is_known = [](const facts::Fact& fact) {
    return !std::holds_alternative<facts::Unknown>(fact.reading);
  };
  std::set<facts::FactKey> known;
  for (const facts::Fact& fact : first.facts) {
    if (is_known(fact)) {
      known.insert(fact.key);
    }
  }
  for (const Cluster& cluster : clusters) {
    for (const facts::Fact& fact : snapshots[cluster.members.front()].facts) {
      // What the first one knows to be absent, because it lists the family, is known, too.
      if (is_known(fact) && std::holds_alternative<facts::Unknown>(first.read(fact.key).reading) &&
          known.insert(fact.key).second) {
        all.push_back(fact);
      }
    }
  }
  return facts::make_snapshot(first.source, first.listed, std::move(all));
}

}  // namespace

std::vector<Group> group(const std::vector<facts::Snapshot>& snapshots,
                         const diff::CompareOptions& options) {
  std::unordered_map<std::string, std::vector<std::size_t>> buckets;  // signature -> clusters
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    std::vector<std::size_t>& bucket = buckets[signature(snapshots[i], options)];
    const auto found = std::ranges::find_if(bucket, [&](std::size_t place) {
      return std::ranges::all_of(clusters[place].ends, [&](const facts::Snapshot* end) {
        return near(*end, snapshots[i], options);
      });
    });
    if (found == bucket.end()) {
      bucket.push_back(clusters.size());
      clusters.push_back({{i}, {&snapshots[i]}});
      continue;
    }
    Cluster& cluster = clusters[*found];
    cluster.members.push_back(i);
    if (widens(snapshots[i], cluster.ends, options)) {
      cluster.ends.push_back(&snapshots[i]);
    }
  }
  std::ranges::stable_sort(clusters, [](const Cluster& x, const Cluster& y) {
    return x.members.size() > y.members.size();
  });
  const facts::Snapshot reference =
      clusters.size() < 2 ? facts::Snapshot{}
                          : reference_of(*clusters.front().ends.front(), clusters, snapshots);
  std::vector<Group> groups;
  for (const Cluster& cluster : clusters) {
    Group& made = groups.emplace_back();
    made.members = cluster.members;
    if (groups.size() == 1) {
      continue;
    }
    const facts::Snapshot& own = snapshots[cluster.members.front()];
    // The member of the largest group that it is not near, if that is what sets it apart.
    const std::vector<const facts::Snapshot*>& ends = clusters.front().ends;
    const auto apart = std::ranges::find_if(
        ends, [&](const facts::Snapshot* end) { return !near(*end, own, options); });
    made.against_largest = diff::compare(apart == ends.end() || *apart == ends.front()
                                             ? reference
                                             : reference_of(**apart, clusters, snapshots),
                                         own, options);
  }
  return groups;
}

}  // namespace goldenv::fleet
