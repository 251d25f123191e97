#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/reading.h"
#include "version/version.h"

namespace goldenv::diff {

/// How two readings of one key differ.
enum class Kind {
  version,  ///< both versions with an order: see change
  changed,  ///< values of no order, or versions of two numberings
  missing,  ///< there in A (or wanted), absent in B
  extra,    ///< absent in A (or wanted absent, or closed), there in B
  rebuilt,  ///< same version, another build
  unmet,    ///< does not meet a constraint
};

std::string_view name(Kind kind);

/// One difference. In a comparison `a` is A's reading and `b` is B's; in a check `wanted` says what
/// is wanted and `b` is what was found.
struct Difference {
  facts::FactKey key;
  const facts::Entry* entry = nullptr;
  facts::Level level = facts::Level::info;
  Kind kind = Kind::changed;
  version::Change change;  ///< of b seen from a, where kind is version
  facts::Reading a;
  facts::Reading b;
  facts::Evidence evidence_a;
  facts::Evidence evidence_b;
  std::string wanted;            ///< check only
  std::string why;               ///< check only: the pin's reason
  std::string file;              ///< check only: the manifest that the pin stands in
  doc::Mark mark;                ///< check only: where there
  std::vector<Difference> with;  ///< what moves with this one and differs too, sorted by key
};

/// A fact that could not be compared, and why.
struct Undecided {
  facts::FactKey key;
  const facts::Entry* entry = nullptr;
  facts::Level level = facts::Level::info;
  facts::Reading a;  ///< in a check: unused
  facts::Reading b;
  std::string wanted;    ///< check only
  std::string why = {};  ///< check only: what leaves it open, where the reading does not say
  bool pinned = false;   ///< of a comparison: the manifest in force pins it
};

/// Whether a key names one build of the version that it belongs to: nccl.build_id.
bool names_a_build(std::string_view key);

/// By level, then layer from firmware up (as the catalogue orders layers), then key.
void sort(std::vector<Difference>& differences);
void sort(std::vector<Undecided>& undecided);

/// Moves each difference whose headline differs too, and weighs at least as much, into the
/// headline's `with`. What is left keeps its order.
std::vector<Difference> fold(std::vector<Difference> differences);

/// Kind and change of two readings that are not the same. `headline_same`: the version that this
/// key belongs to is the same on both sides.
void classify(Difference& difference, bool headline_same);

/// All differences, those told inside another's row too.
std::size_t count(const std::vector<Difference>& differences);

}  // namespace goldenv::diff
