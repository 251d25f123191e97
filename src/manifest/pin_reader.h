#pragma once

#include <vector>

#include "base/result.h"
#include "doc/node.h"
#include "manifest/field_reader.h"
#include "manifest/manifest.h"

namespace goldenv::manifest {

/// The pins under `pins:` and `files:` of one text (either node may be nullptr), sorted by key;
/// pins whose want is `any` are among them. Errors: malformed.
Result<std::vector<Pin>> read_pins(const Place& place, const doc::Node* pins,
                                   const doc::Node* files);

}  // namespace goldenv::manifest
