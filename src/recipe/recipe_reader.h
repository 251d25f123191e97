#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doc/node.h"
#include "version/version.h"

// What the recipe's own files share; other rooms include recipe/recipe.h.
namespace goldenv::recipe {

using Words = std::span<const std::string_view>;

/// Reads nodes of one text and keeps the first thing that was wrong: what is read behind it is of
/// no use, and no use is made of it.
class FieldReader {
 public:
  explicit FieldReader(std::string_view file) : file_(file) {}

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  void wrong(doc::Mark mark, const std::string& message);

  /// The keys of a mapping are among those; `where` names it ("a source").
  void check_keys(const doc::Node& mapping, std::string_view where, Words known);
  /// A text that is not empty, at most 4,096 bytes.
  std::string text(const doc::Node& node, std::string_view what);
  /// A text with placeholders that exist; those of hosts are among `hosts`.
  std::string pattern(const doc::Node& node, std::string_view what, Words hosts);
  /// One text or a list of them.
  std::vector<const doc::Node*> items(const doc::Node& node, std::string_view what);
  /// One of some words.
  std::string choice(const doc::Node& node, std::string_view what, Words known);
  /// A relative path without "..".
  std::string path(const doc::Node& node, std::string_view what);
  /// The canonical key of a component.
  std::string component(const doc::Node& node, std::string_view what, bool family);
  /// Exactly so many hexadecimal digits, in lower case.
  std::string digits(const doc::Node& node, std::string_view what, std::vector<std::size_t> counts);
  /// A URL, or a pattern of one.
  std::string url(const doc::Node& node, std::string_view what, Words hosts);
  std::string constraint(const doc::Node& node, std::string_view what, version::Scheme scheme);

 private:
  std::string file_;
  std::optional<Error> error_;
};

/// `text` in quotes, cut short and with everything odd escaped.
std::string shown(std::string_view text);
/// "; did you mean X?" or "; expected one of a, b and c".
std::string hint(std::string_view word, Words known);

}  // namespace goldenv::recipe
