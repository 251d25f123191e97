#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/proof.h"
#include "launch/variables.h"
#include "store/store.h"

namespace goldenv::launch {

/// A generation of a store that something is to run in.
struct Chosen {
  std::string digest;
  std::string name;  ///< the root's, or the first digits of the digest
};

/// The generation that a user means: the name of a root, or the first digits (six at least) of a
/// digest, which only one has. Errors: usage, with what there is; failed and denied of the store.
Result<Chosen> choose(const store::Store& store, std::string_view word);

/// The folder of the store that an environment's folder lies in: `folder` is it, or a link to it.
/// The digest behind the last slash. Errors: usage, where it is no environment's folder.
struct Place {
  std::string store;
  std::string digest;
};
Result<Place> place_of(const std::string& folder);

/// An environment as what runs in it needs to know it, and what has to be loaded from it.
struct Opened {
  Environment environment;
  Expected expected;
};
/// Errors: absent, malformed, failed of what was composed; failed, where two components set one
/// variable to different values.
Result<Opened> open_environment(const store::Store& store, const Chosen& chosen);

/// Whether an environment that has a Python can start it: where its bin/python leads to no program
/// any more, a program of that name would be found in the system instead. Errors: failed, with what
/// to do.
Result<void> check_python(const Environment& environment);

/// A variable that a component brings, by its recipe.
struct Brought {
  std::string component;
  Variable variable;
};

/// Whether what brings these variables could be used once it is composed, to be asked before that;
/// else plan() and open_environment() refuse it. `environment` is as it will be, without variables.
/// Errors: usage (the prefix cannot stand in a PATH, a variable that no recipe may set, one that
/// two components set to different values).
Result<void> check_brought(const Environment& environment, std::span<const Brought> brought);

}  // namespace goldenv::launch
