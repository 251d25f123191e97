#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "compat/compat.h"
#include "compose/compose.h"
#include "host/host.h"
#include "manifest/manifest.h"
#include "provision/interpreter.h"
#include "provision/packages.h"
#include "provision/realiser.h"
#include "provision/requirements.h"
#include "provision/wanted.h"
#include "store/store.h"

namespace goldenv::provision {

struct Options {
  std::string python;  ///< a program or a prefix; "" as find_interpreter chooses
  PackageOptions packages;
  PackageSearch search;
  recipe::Values values;                ///< "host.nvidia" instead of the recipes' own
  bool compile = true;                  ///< Python modules, when an object is made
  const host::Host* machine = nullptr;  ///< whose apt's lists may have what no index has
};

/// What an environment is made after.
struct Goal {
  manifest::Manifest manifest;
  std::string lock_file;  ///< a lock file of another tool instead; "" for none
  std::string lock_text;
};

/// An object and the component that it is, or is a part of.
struct Step {
  std::string key;  ///< of the pin
  std::string version;
  std::string source;     ///< "wheel nvidia-nccl-cu12"
  ObjectRequest request;  ///< what goldenv-realise is asked for
  std::string object;     ///< the object's id
  bool present = false;   ///< the store has it
  bool fetched = false;   ///< the store has its artifact
  std::vector<std::string> remarks;
};

/// A component that cannot be had, and why.
struct Fault {
  std::string key;
  std::string version;
  Error error;
};

struct Plan {
  Wanted wanted;
  Interpreter interpreter;
  std::vector<Step> steps;                 ///< by key; of one key as many as it has parts
  std::vector<Fault> faults;               ///< of components without an artifact
  std::vector<compat::Answer> impossible;  ///< what tables say cannot work together
  std::uint64_t fetch_bytes = 0;           ///< of artifacts whose size is told
  std::size_t unsized = 0;                 ///< artifacts whose size is not
  std::string digest;                      ///< of the generation; "" where there are faults
  bool composed = false;                   ///< it is there

  /// Nothing has to be fetched.
  [[nodiscard]] bool is_present() const;
};

/// What it takes to have what a manifest wants. Network is used where an artifact is not
/// remembered, unless `search.offline`. The recipes outlive the plan. Errors: usage (two pins
/// contradict each other, no Python, no index), malformed (a lock file), failed.
Result<Plan> make_plan(const Goal& goal, const recipe::Collection& recipes, const Options& options,
                       const store::Store& store);

/// The key of the object that a request comes to: of all that its tree follows from.
std::string object_key(const ObjectRequest& request);

struct Done {
  compose::Composed environment;
  std::string digest;
  std::size_t realised = 0;
};

/// What stands in the way of an environment.
struct Obstacles {
  std::vector<Refused> refused;  ///< artifacts
  std::vector<Unmet> unmet;      ///< requirements that nothing pins
  [[nodiscard]] bool none() const { return refused.empty() && unmet.empty(); }
};

/// Has what is missing realised. What was refused is in the obstacles; the rest stays for the next
/// time. Errors: failed (goldenv-realise), those of the store.
Result<Obstacles> realise_steps(const Plan& plan, const Options& options, const store::Store& store,
                                const Watch& watch);

/// The requirements of realised packages that the set does not meet. Errors: malformed, failed.
Result<std::vector<Unmet>> open_requirements(const Plan& plan, const store::Store& store);

/// Composes the environment of a plan whose objects are all there. Errors: failed (no proof on
/// paper, with the library), denied.
Result<Done> compose_steps(const Plan& plan, const store::Store& store);

}  // namespace goldenv::provision
