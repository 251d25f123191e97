#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/condition.h"
#include "facts/want.h"

namespace goldenv::manifest {

/// What is wanted of one fact, how much it matters, and when.
struct Pin {
  facts::FactKey key;  ///< canonical
  facts::Want want;
  facts::Level level = facts::Level::must;  ///< must, should or info
  std::optional<facts::Condition> when;
  std::string why;
  std::string artifact;  ///< the file that the version was installed from; "" where none is named
  std::string sha256;    ///< of that file, 64 lower-case hexadecimal digits; "" where none is
  std::string file;      ///< the manifest it stands in
  doc::Mark mark;        ///< of its key there

  /// The same pin, wherever it stands.
  friend bool operator==(const Pin& a, const Pin& b) {
    return a.key == b.key && a.want == b.want && a.level == b.level && a.when == b.when &&
           a.why == b.why && a.artifact == b.artifact && a.sha256 == b.sha256;
  }
};

/// What is wanted of a machine. `files:` are pins on file@PATH.
struct Manifest {
  std::string name;
  std::vector<std::string> extends;  ///< as written; already merged into the pins by `load`
  std::string target_python;
  std::vector<std::string> closed;  ///< globs of families, sorted
  facts::Level closed_level = facts::Level::should;
  std::vector<Pin> pins;  ///< sorted by key, one a key

  [[nodiscard]] const Pin* find(const facts::FactKey& key) const;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// Gives the text of a file that `extends` names, `name` being as written and `from` the file that
/// names it; also the name under which errors shall speak of it. Errors are shown at the position
/// of the entry.
struct Text {
  std::string name;  ///< also its identity: a loop is a name met again
  std::string text;
};
using Fetch = std::function<Result<Text>(std::string_view name, std::string_view from)>;

/// Reads a manifest (YAML or JSON) with everything it extends: later wins, `any` drops an inherited
/// pin. Errors: malformed, message "FILE:LINE:COLUMN: what is wrong, what was expected": unknown
/// keys (with the nearest), duplicate keys (two spellings of one key, too), malformed versions,
/// constraints nothing can meet, loops of extends, too many files (64), git: extends without a full
/// commit, and all of doc::parse.
Result<Manifest> load(std::string_view text, std::string_view file, const Fetch& fetch);

/// The error of a text that is no YAML, with what it comes from where that is a constraint without
/// quotes (`driver: >=535`): to YAML a '>' begins a block of text.
Error explain_syntax(Error error, std::string_view text, std::string_view file);

/// YAML text in a fixed order: goldenv, name, target_python, closed, pins by layer and key, files.
/// load(render(m)) == m for a manifest without extends.
std::string render(const Manifest& manifest);

/// The form of a manifest as a JSON Schema (draft 2020-12), made from the catalogue.
std::string json_schema();

}  // namespace goldenv::manifest
