#pragma once

#include <string>
#include <vector>

#include "diff/difference.h"
#include "facts/snapshot.h"
#include "manifest/manifest.h"

namespace goldenv::diff {

/// What a machine has against what is wanted of it.
struct Check {
  std::vector<Difference> differences;  ///< pins not met, and unpinned members of closed families
  std::vector<Undecided> undecided;     ///< pins of which nobody can tell, and why; sorted
  std::size_t pins = 0;                 ///< pins that apply
  std::size_t must_pins = 0;            ///< of these, at must
  std::size_t not_applying = 0;         ///< pins whose condition is false
};

Check check(const manifest::Manifest& manifest, const facts::Snapshot& snapshot);

/// The keys that `check` looks at: of pins, their conditions, and what these are derived from.
std::vector<facts::FactKey> keys_of(const manifest::Manifest& manifest);
/// The families that a manifest closes, their globs cut at the first wildcard; "" for a glob that
/// could mean any.
std::vector<std::string> families_of(const manifest::Manifest& manifest);

/// Whether anything of this weight or more differs / is undecided.
bool differs_at(const Check& check, facts::Level level);
bool undecided_at(const Check& check, facts::Level level);

}  // namespace goldenv::diff
