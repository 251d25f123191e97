#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "manifest/manifest.h"
#include "recipe/recipe.h"
#include "wheel/lock.h"

// From a manifest to an environment. Exact sets in, exact sets out: what a manifest leaves open is
// named, and nothing is chosen for it. A resolver of one's own was no alternative: those who have
// pins have resolved already, and who has not has pip and uv.
namespace goldenv::provision {

/// Something that a manifest pins to one version and that a recipe can realise below a user's own
/// folders.
struct Component {
  std::string key;  ///< the pin's, canonical: "nccl", "python.package.numpy"
  std::string version;
  std::vector<std::string> also;  ///< further pins that ask for the very same
  const recipe::Recipe* recipe = nullptr;
  recipe::Expansion expansion;                 ///< its sources, in order
  std::optional<wheel::LockedPackage> locked;  ///< what a lock file says of it
  std::string sha256 = {};                     ///< of the one file that a pin allows; "" any
};

/// A pin that is not realised, and why.
struct Left {
  std::string key;
  std::string want;  ///< as people read it
  std::string why;
  friend bool operator==(const Left&, const Left&) = default;
};

struct Wanted {
  std::vector<Component> components;  ///< by key
  std::string python;                 ///< the version that is pinned, "" where none is
  std::vector<Left> open;             ///< leaves a choice
  std::vector<Left> host;             ///< needs root or a reboot, or only the machine has it
  std::size_t settings = 0;           ///< pins on what no recipe realises: sysctls, links, ...
};

/// What stands around the components, for recipes' placeholders.
struct Around {
  std::string arch;       ///< "x86_64"
  std::string python;     ///< of the interpreter in use, "3.11.7"; "" where not known yet
  recipe::Values values;  ///< further ones: "host.nvidia" instead of a recipe's own
};

/// What a manifest wants of an environment. `cuda` of the placeholders is the pin on cuda, else
/// what torch's version says. Errors: usage, where two pins ask for two versions of one thing.
Result<Wanted> wanted_of(const manifest::Manifest& manifest, const recipe::Collection& recipes,
                         const Around& around);

/// What the lock file of another tool wants: Python packages alone. What it names and is no wheel
/// is in `host`. `recipes` has one for all packages.
Wanted wanted_of(const wheel::LockedSet& set, const recipe::Collection& recipes,
                 const Around& around);

}  // namespace goldenv::provision
