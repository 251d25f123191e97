#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "provision/interpreter.h"
#include "provision/packages.h"
#include "provision/realiser.h"
#include "provision/wanted.h"
#include "store/store.h"

namespace goldenv::provision {

/// What the search for sources hangs on beside the components.
struct SourceSearch {
  const Interpreter& interpreter;
  PackageOptions packages;
  PackageSearch search;
  std::string lock_file;  ///< of another tool: its packages are wheels and nothing else
  const host::Host* machine = nullptr;  ///< whose apt's lists are looked at; none: nobody's
};

/// The source that a component is taken from.
struct Found {
  std::string source;                   ///< "wheel nvidia-nccl-cu12"
  std::vector<ObjectRequest> requests;  ///< one, or one a part; none where there is no source
  std::vector<std::string> remarks;
  Error error;  ///< where there is none: why not, of every source that was asked
};

/// The first source of each component, in the order of its recipe, that has it. Where an index
/// could not be asked, nothing is taken in its place: what a manifest comes to must not hang on the
/// weather. All indexes of one kind are asked at once, and what they said is remembered. One answer
/// a component, in their order. Errors: usage, failed.
Result<std::vector<Found>> find_sources(const std::vector<Component>& components,
                                        const SourceSearch& search, const store::Store& store);

}  // namespace goldenv::provision
