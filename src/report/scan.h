#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/origin.h"
#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "report/text.h"

namespace goldenv::report {

struct ScanView {
  bool all = false;            ///< instances (@), identity and volatile facts, packages
  facts::Selection selection;  ///< --only
  Colour colour = Colour::none;
};

/// Facts for people: a line a fact, by layer; absent ones and unknown ones in one closing line each
/// unless `all` or a selection asks for them.
std::string scan_text(const facts::Snapshot& snapshot, const ScanView& view);

/// A snapshot as data: its own form, with the contradictions in it beside the facts, if there are
/// any. Readers of snapshots pass them over: they follow from the facts.
doc::Node scan_node(const facts::Snapshot& snapshot);

/// Of a snapshot only what a selection takes.
facts::Snapshot selected(const facts::Snapshot& snapshot, const facts::Selection& selection);

/// One key in full: value, evidence, instances, what the catalogue says, the pin on it.
struct Explanation {
  facts::Fact fact;
  const facts::Entry* entry = nullptr;
  std::vector<facts::Fact> instances;  ///< key@..., sorted
  const manifest::Pin* pin = nullptr;  ///< of the manifest in force, if one is there
  std::string met;       ///< met, not met, not known, does not apply; "" without a pin
  facts::Origin origin;  ///< what set the value, where that can be told
};
std::string explain_text(const Explanation& explanation, std::string_view title, Colour colour);
doc::Node explain_node(const Explanation& explanation, std::string_view source);

/// The catalogue for `scan --list`: key, type, level, class, meaning.
std::string list_text(const facts::Selection& selection, Colour colour);
doc::Node list_node(const facts::Selection& selection);

}  // namespace goldenv::report
