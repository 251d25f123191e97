#pragma once

#include <vector>

#include "diff/difference.h"
#include "facts/catalogue.h"
#include "facts/snapshot.h"
#include "manifest/manifest.h"

namespace goldenv::diff {

struct CompareOptions {
  bool all = false;            ///< identity and volatile facts and instances (@) too
  facts::Selection selection;  ///< --only; empty: every bare key
  /// What it pins has its levels; else, and without one, the catalogue's count.
  const manifest::Manifest* manifest = nullptr;
};

/// What differs between two snapshots.
struct Comparison {
  std::vector<Difference> differences;  ///< sorted and folded
  std::vector<Undecided> one_sided;     ///< known on one side alone, or in part only; sorted
  std::size_t unknown_on_both = 0;
  std::size_t compared = 0;  ///< facts known on both sides
};

/// Compares every fact that is golden (see CompareOptions::all). What is unknown on either side is
/// never a difference and never a match; a missing member of a family that a snapshot lists whole
/// is absent there.
Comparison compare(const facts::Snapshot& a, const facts::Snapshot& b,
                   const CompareOptions& options = {});

/// Whether a fact takes part in comparisons and locks by default: golden, bare, no view.
bool takes_part(const facts::Entry& entry, const facts::FactKey& key);

/// Whether a fact takes part in this comparison, its selection aside.
bool is_compared(const facts::Entry& entry, const facts::FactKey& key,
                 const CompareOptions& options);

/// The level of a key where no manifest speaks: the catalogue's, `omit` as info.
facts::Level level_of(const facts::Entry& entry);

}  // namespace goldenv::diff
