#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace goldenv::doc {

/// Where something stands in a text; both count from 1, columns count bytes.
struct Mark {
  std::size_t line = 1;
  std::size_t column = 1;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

/// One node of a YAML or JSON document. Scalars stay text, so that 12.10 keeps its zero; whether a
/// scalar was quoted is kept, since a quoted "null" is a word and a plain one is nothing.
struct Node {
  enum class Kind { null, scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::null;
  Mark mark;
  bool quoted = false;             ///< scalar only
  std::string text;                ///< scalar only; for null the text as written ("", "~", "null")
  std::vector<Node> items;         ///< sequence only
  std::vector<Entry> entries;      ///< mapping only, in the order of the text, keys unique

  [[nodiscard]] bool is_null() const { return kind == Kind::null; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  /// The value under `key`, or nullptr.
  [[nodiscard]] const Node* find(std::string_view key) const;

  static Node scalar(std::string text, bool quoted = false);
  static Node sequence(std::vector<Node> items);
  static Node mapping(std::vector<Entry> entries);
};

struct Node::Entry {
  std::string key;
  Mark mark;  ///< of the key
  Node value;
};

/// What a text may be at most; a document over a limit is an error, never a crash.
struct Limits {
  std::size_t bytes = 16u << 20;
  std::size_t depth = 64;
  std::size_t nodes = 1u << 20;  ///< after aliases are expanded: bounds alias bombs
};

enum class Format { yaml, json };

/// The one document in a text. Errors: malformed or too_large, the message beginning
/// "NAME:LINE:COLUMN: ". Refused: a second document, duplicate keys, keys that are not scalars,
/// tags, `<<` merge keys, invalid UTF-8, NUL and other control characters, recursion of aliases,
/// anything behind the document. A text of nothing but blanks and comments is a null node.
Result<Node> parse(std::string_view text, Format format, std::string_view name,
                   const Limits& limits = {});

/// JSON if the first character that is not blank is '{' or '['; else YAML.
Format guess_format(std::string_view text);

/// "NAME:LINE:COLUMN: MESSAGE" as an error of code malformed.
Error error_at(std::string_view name, Mark mark, std::string_view message);

/// YAML in block style with two-blank indents: scalars are quoted exactly where a reader could take
/// them for something else (yaml.org/spec/1.1 and 1.2 core schema), so that parse(render(n)) == n in
/// kind, text and structure. Mappings and sequences of only scalars that fit 100 columns are
/// written in flow style when `flow_leaves`.
std::string render_yaml(const Node& node, bool flow_leaves = false);

/// JSON, two-blank indents, or on one line. A plain (unquoted) scalar that is a JSON number or
/// true/false is written bare, everything else as a string; null as null.
std::string render_json(const Node& node, bool pretty = true);

/// `text` as a YAML scalar on one line: plain where safe, else double-quoted with escapes.
std::string quote_yaml(std::string_view text);
/// `text` as a JSON string with quotes; invalid UTF-8 becomes U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace goldenv::doc
