#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doc/node.h"
#include "version/version.h"

// Where a component comes from at a version, as data: docs/RECIPES.md. One file a component, so
// that a new one needs no program. Texts in, values out: who reads folders and repositories, and
// what is fetched, is others' business.
//
// An alternative was a small language (as Spack and conda-build have): it would have had to be run
// to be looked at. Placeholders in texts and conditions on versions were enough for every component
// that goldenv ships.
namespace goldenv::recipe {

/// What kind of place a source is.
enum class Kind {
  wheel,      ///< a project of the Python index that the user has
  redist,     ///< NVIDIA's archives behind a redistrib_<label>.json
  deb,        ///< a Debian package, by URL or from apt's own sources
  archive,    ///< a tarball or zip by URL and digest
  git,        ///< a repository at a commit, built without network
  installed,  ///< what the machine has already: its Python
};
std::string_view name(Kind kind);

/// A folder of an archive and where what it holds lands in the component's tree: bin, lib, include,
/// share, site (site-packages) or data (the environment's top), or below one of them.
struct Layout {
  std::string from;
  std::string to;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// One place that may have the component. Texts are patterns with placeholders until they are
/// expanded; what a kind has no use for is empty.
struct Source {
  Kind kind = Kind::wheel;
  std::string name;                            ///< wheel: project; deb: package; installed: program
  std::string version;                         ///< wheel, deb: how it is numbered there
  std::string url;                             ///< archive, git, deb; redist: of the index document
  std::vector<std::string> components;         ///< redist: parts of the index
  std::string variant;                         ///< redist: "cuda12" where there is that level
  std::map<std::string, std::string> sha256;   ///< archive, deb: by version
  std::map<std::string, std::string> commits;  ///< git: by version
  std::vector<std::string> build;              ///< git: commands, in order
  std::size_t strip = 0;                       ///< archive, redist: leading folders to drop
  std::vector<Layout> layout;                  ///< archive, redist, git
  std::map<std::string, std::string> when;     ///< of "cuda", "python", ...: a constraint
  doc::Mark mark;
  friend bool operator==(const Source&, const Source&) = default;
};

/// What must be there with it.
struct Requirement {
  std::string component;  ///< canonical key
  std::string want;       ///< a constraint; "" any
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

struct Variable {
  std::string name;
  std::string value;  ///< may hold ${prefix}, the environment's folder
  friend bool operator==(const Variable&, const Variable&) = default;
};

enum class Place { link, copy };
/// What putting it in force takes beside files of one's own.
enum class Need { root, module_reload, reboot };
std::string_view name(Need need);

struct Recipe {
  std::string component;          ///< canonical key, or a family: "python.package.*"
  std::string about;              ///< one line
  std::vector<std::string> also;  ///< further keys that a pin on it may stand under
  version::Scheme versions = version::Scheme::dotted;
  std::map<std::string, std::string> hosts;  ///< {host.NAME} of its URLs
  std::vector<Source> sources;               ///< in order of preference
  std::string cannot;                        ///< why it cannot be had; then there are no sources
  std::vector<std::string> libraries;        ///< sonames it provides
  std::vector<std::string> binaries;         ///< programs
  std::vector<std::string> include;          ///< header folders or files below include/
  std::vector<std::string> site_packages;    ///< folders below site-packages
  std::vector<Variable> environment;
  std::vector<Requirement> needs_components;  ///< `requires`
  Place place = Place::link;
  std::vector<std::string> unfold;  ///< folders that stay real
  std::vector<Need> needs;
  std::string file;  ///< where it was read from

  /// Whether it is for all keys of a family.
  [[nodiscard]] bool is_generic() const { return component.ends_with(".*"); }
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Reads a recipe (YAML or JSON). Errors: malformed, "FILE:LINE:COLUMN: what is wrong, what was
/// expected": all of doc::parse, unknown keys (with the nearest), components that are no version in
/// the catalogue, placeholders that do not exist, digests, versions and constraints that are none,
/// paths that lead out.
Result<Recipe> parse(std::string_view text, std::string_view file);

/// The form of a recipe as a JSON Schema (draft 2020-12): docs/recipe.schema.json.
std::string json_schema();

/// What placeholders stand for: "version" of the component and "name", the last part of the key
/// that the pin stands under; "cuda", "python", "torch", "arch" of what is around it; "cudart", the
/// number of libcudart in a CUDA release (tables/cuda_releases.h); "host.NAME" instead of a
/// recipe's own.
using Values = std::map<std::string, std::string, std::less<>>;

/// The sources that can be asked for these values, in order, with everything filled in.
struct Expansion {
  std::vector<Source> sources;
  std::vector<std::string> passed_over;  ///< of the others, why: one sentence each
};
Expansion expand(const Recipe& recipe, const Values& values);

/// A text without placeholders. Errors: absent, naming the placeholder that has no value;
/// malformed, where it is no pattern.
Result<std::string> fill(std::string_view pattern, const Values& values);

/// What the placeholders of a pattern stand for in a text, by their names ("version",
/// "cuda.release"); nothing where the text is none of the pattern. A final '*' takes any rest; a
/// placeholder takes as little as it can, and something.
std::optional<Values> match(std::string_view pattern, std::string_view text);

/// The fact keys that a pin on the component may stand under with these values: its own, `also`,
/// and python.package.<project> of each wheel that can be named. Canonical, sorted.
std::vector<std::string> keys_of(const Recipe& recipe, const Values& values);

/// A text and the name that errors call it by.
struct Text {
  std::string name;
  std::string text;
};

/// Recipes by the keys that they are for.
class Collection {
 public:
  /// Adds those of one folder; they win over what was added before. Errors: of parse; malformed,
  /// where two of them are for one key.
  Result<void> add(std::span<const Text> texts);

  /// By a canonical fact key: the one that is for it, else the one for its family; nullptr.
  [[nodiscard]] const Recipe* find(std::string_view key) const;
  /// Sorted by component.
  [[nodiscard]] std::vector<const Recipe*> all() const;

 private:
  std::map<std::string, Recipe, std::less<>> recipes_;          // by component
  std::map<std::string, std::string, std::less<>> components_;  // by key
};

/// The recipes that goldenv brings: the files of recipes/.
std::span<const Text> shipped();
/// The same, read. They are right: a test reads them.
Collection shipped_collection();

}  // namespace goldenv::recipe
