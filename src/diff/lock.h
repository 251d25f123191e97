#pragma once

#include <string>
#include <vector>

#include "facts/snapshot.h"
#include "manifest/manifest.h"

namespace goldenv::diff {

enum class Float { none, patch, minor };  ///< what a pinned version may still move in

struct LockOptions {
  bool all = false;           ///< also what the catalogue weighs as info
  Float loose = Float::none;  ///< patch: 12.1.*; minor: 12.*
  std::string name;           ///< of the manifest; empty: the machine's
};

/// The manifest that the machine of a snapshot meets: every known golden fact that the catalogue
/// weighs must or should (with `all` info too), values only; what is known in part as what is known
/// (12.8.1 or 12.8.2; 570.124.*). `env` is closed where it was listed and a manifest can name all
/// of its members. What it says is read back by manifest::load, whatever the values are.
manifest::Manifest lock(const facts::Snapshot& snapshot, const LockOptions& options = {});

/// Facts that lock pins as a must where they are known, and that are not, sorted: a manifest
/// without them holds less than its reader may think.
std::vector<facts::Fact> unknown_musts(const facts::Snapshot& snapshot);

/// Golden facts under names that no manifest can hold (a variable's with a control character),
/// sorted; lock leaves them out.
std::vector<facts::FactKey> unnameable(const facts::Snapshot& snapshot);

}  // namespace goldenv::diff
