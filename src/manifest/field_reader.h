#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "doc/node.h"
#include "facts/catalogue.h"

// What the manifest's own files share; other rooms include manifest/manifest.h.
namespace goldenv::manifest {

using Words = std::span<const std::string_view>;

/// One text of a manifest: its name in messages and its bytes, to find positions within scalars.
struct Place {
  std::string_view file;
  std::string_view text;

  [[nodiscard]] Error wrong(doc::Mark mark, std::string_view message) const {
    return doc::error_at(file, mark, message);
  }
  /// Where byte `offset` of a scalar stands; the scalar's own mark where escapes, folding or
  /// indentation part what is written from what is meant.
  [[nodiscard]] doc::Mark within(const doc::Node& scalar, std::size_t offset) const;
};

/// `text` in quotes, cut short and with everything odd escaped, for a message.
std::string shown(std::string_view text);

/// "; did you mean X?" with the nearest of the known words, or "" where none is near.
std::string nearest(std::string_view word, Words known);

/// "; expected one of a, b and c".
std::string one_of(Words known);

/// Errors: malformed, where an entry's key is none of `known`; `where` says of what ("a pin").
Result<void> check_keys(const Place& place, const doc::Node& mapping, std::string_view where,
                        Words known);

/// The text of a scalar. Errors: malformed, `what` naming it ("name").
Result<std::string> read_text(const Place& place, const doc::Node& node, std::string_view what);

/// must, should or info. Errors: malformed.
Result<facts::Level> read_level(const Place& place, const doc::Node& node);

}  // namespace goldenv::manifest
