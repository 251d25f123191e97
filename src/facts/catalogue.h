#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "version/version.h"

namespace goldenv::facts {

enum class Layer : std::uint8_t {
  host,
  firmware,
  hardware,
  kernel,
  driver,
  network,
  tuning,
  limits,
  storage,
  library,
  cuda,
  python,
  framework,
  packages,
  environment,
  services,
  files,
  leftovers,
  events,
};
enum class Type : std::uint8_t {
  version,
  text,
  integer,
  number,
  boolean,
  list,
  set,
  map,
  path,
  digest,
  bytes,
  choice,
};
enum class Class : std::uint8_t { golden, identity, volatile_ };
enum class Level : std::uint8_t { must, should, info, omit };  ///< in order of weight
enum class Scope : std::uint8_t { host, container, process, user };
enum class Many : std::uint8_t { one, in_force, all, only_named };

/// A family member that moves with a headline: name pattern (`*`) -> key.
struct Companion {
  std::string_view pattern;
  std::string_view headline;
};

/// One key or family of keys of the vocabulary. All text points into static storage.
/// Source: docs/facts.yaml, to which a test holds the table equal.
struct Entry {
  std::string_view key = {};   ///< with placeholders: "module.<module>.loaded"
  std::string_view also = {};  ///< further spellings, separated by blanks
  Layer layer = Layer::host;
  Type type = Type::text;
  version::Scheme scheme = version::Scheme::dotted;  ///< where type is version
  std::string_view values = {};                      ///< of a choice, separated by '|'
  std::string_view unit = {};
  Scope scope = Scope::host;
  Class klass = Class::golden;
  std::string_view needs = {};    ///< "", root, same-user, nvml, ptrace
  Level level = Level::info;      ///< in a generated lock; omit for identity and volatile
  std::string_view compare = {};  ///< "" (by type) or "numeric-tolerance:2%", ":1MiB"
  Many many = Many::one;
  std::string_view label = {};  ///< what stands after @
  std::string_view with = {};   ///< headline it normally moves with; may hold the placeholder
  std::span<const Companion> with_names = {};
  std::string_view identity_names = {};  ///< members of that class, separated by blanks, globs
  std::string_view volatile_names = {};
  std::string_view view = {};  ///< the fact it is computed from
  std::string_view meaning = {};
};

/// The whole vocabulary, in the order of docs/facts.yaml.
std::span<const Entry> catalogue();

/// A key as a user wrote it, found in the catalogue.
struct Resolved {
  const Entry* entry = nullptr;
  std::string
      name;  ///< canonical spelling with placeholders filled in ("kernel" for "kernel.release")
  std::string label;   ///< after '@'
  std::string member;  ///< what fills the (last) placeholder, else empty
};

/// Canonical form of a written key: aliases, short names, a dropped trailing ".version",
/// python.package names after PEP 503, python.package.torch as torch, module names with '_'.
/// Errors: malformed, `unknown key "X"; did you mean Y?` (nearest by edit distance, not offered
/// where nothing is near); an index in mid-key (gpu.0.name) and brackets get the hint with '@'.
Result<Resolved> resolve(std::string_view written);

/// The entry of a canonical key name (no label), or nullptr.
const Entry* entry_of(std::string_view name);

/// The class of a key: the entry's, or that of a member named in identity_names or volatile_names.
Class class_of(const Entry& entry, std::string_view name);

/// The headline that `name` moves with, placeholders filled in, or "".
std::string headline_of(const Entry& entry, std::string_view name);

/// Whether `name` belongs to the family `family` ("env", "python.package", "dpkg.package"): is
/// below it by a dot.
bool in_family(std::string_view name, std::string_view family);

std::string_view name(Layer layer);
std::string_view name(Type type);
std::string_view name(Class klass);
std::string_view name(Level level);
std::string_view name(Scope scope);
std::string_view name(Many many);
Result<Level> parse_level(std::string_view name);

/// A pattern with a family's other spelling at its front ("pip.*") put into the catalogue's
/// ("python.package.*").
std::string canonical_pattern(std::string_view pattern);

/// A choice of keys: --only and `closed`. See docs/FACTS.md: a pattern names a key and all below
/// it;
/// `*` stays within a dot, `**` does not; `layer:NAME`; `!` takes away; without '@' no instances;
/// `gpu@5` all of GPU 5, `nccl@*` every copy. An empty selection selects every bare key.
class Selection {
 public:
  Selection() = default;
  /// Errors: malformed (unknown layer, a pattern that matches no key of the catalogue, with hint).
  static Result<Selection> parse(const std::vector<std::string>& patterns);
  [[nodiscard]] bool selects(std::string_view name, std::string_view label) const;
  [[nodiscard]] bool empty() const { return rules_.empty(); }
  /// Whether some member of a catalogue family may be selected (to skip whole probes).
  [[nodiscard]] bool may_select(const Entry& entry) const;
  /// Whether a canonical key, an instance of it, or something below it may be selected; `name` may
  /// be a family ("env", "module.nvidia.param").
  [[nodiscard]] bool may_select_at(std::string_view name) const;

 private:
  struct Rule {
    bool take = true;
    std::optional<Layer> layer;
    std::string name;
    std::string label;
    bool has_label = false;
  };
  std::vector<Rule> rules_;
};

/// The catalogue as a Markdown reference: one table a layer. docs/FACTS.md is this text.
std::string catalogue_markdown();

}  // namespace goldenv::facts
