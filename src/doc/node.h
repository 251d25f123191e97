#pragma once

#include <cstddef>
#include <functional>
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
  bool quoted = false;         ///< scalar only
  std::string text;            ///< scalar only; for null the text as written ("", "~", "null")
  std::vector<Node> items;     ///< sequence only
  std::vector<Entry> entries;  ///< mapping only, in the order of the text, keys unique

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

/// Whether two trees have the same kinds, texts and structure; where they stand, how they were
/// quoted and how a null was written do not count.
bool same(const Node& a, const Node& b);

/// What a text may be at most; a document over a limit is an error, never a crash.
struct Limits {
  std::size_t bytes = 16u << 20;  ///< of the text, and of all scalars after aliases are expanded
  std::size_t depth = 64;         ///< of sequences and mappings in each other
  std::size_t nodes = 1u << 20;   ///< after aliases are expanded: bounds alias bombs
};

enum class Format { yaml, json };

/// The one document in a text. Errors: malformed or too_large, the message beginning
/// "NAME:LINE:COLUMN: ". Refused: a second document, duplicate keys, keys that are not scalars,
/// tags, `<<` merge keys, invalid UTF-8, raw NUL and other control characters (as escapes in quotes
/// they are read), recursion of aliases, aliases and anchors of keys, anything behind the document.
/// A UTF-8 byte order mark is skipped. Characters that stand for bytes (doc/bytes.h) become these.
/// A YAML text of nothing but blanks and comments is a null node; an empty JSON text is an error.
Result<Node> parse(std::string_view text, Format format, std::string_view name,
                   const Limits& limits = {});

/// Takes the entries of one large mapping while a text is read, so that no tree of it is held: of a
/// snapshot of 5,000 facts that tree would be most of what comparing it costs.
struct Parts {
  std::string_view under;                  ///< the key, at the top, of that mapping
  std::function<void(Node::Entry&)> take;  ///< may move out of what it is given
  std::size_t taken = 0;                   ///< entries handed over so far
};

/// The same document without those entries, which `parts.take` is given in their order. Where the
/// text turns out to be wrong behind them, they have been taken all the same.
Result<Node> parse_parts(std::string_view text, Format format, std::string_view name, Parts& parts,
                         const Limits& limits = {});

/// JSON if the first character that is not blank is '{' or '['; else YAML.
Format guess_format(std::string_view text);

/// "NAME:LINE:COLUMN: MESSAGE" as an error of code malformed.
Error error_at(std::string_view name, Mark mark, std::string_view message);

/// YAML in block style with two-blank indents: scalars are quoted exactly where a reader could take
/// them for something else (yaml.org/spec/1.1 and 1.2 core schema), so that parse(render(n)) == n
/// in kind, text and structure (same()). Plain decimal numbers and true/false stay plain; every
/// other scalar is taken for a string. With `flow_leaves`, mappings and sequences of only scalars
/// that fit 100 columns are written in flow style; from the second level on, also those that hold
/// such. Bytes that are no UTF-8 are written as characters that stand for them (doc/bytes.h).
std::string render_yaml(const Node& node, bool flow_leaves = false);

/// JSON, two-blank indents, or on one line. A plain (unquoted) scalar that is true, false or a JSON
/// number without exponent (and of at most 100 characters) is written bare, everything else as a
/// string; null as null.
std::string render_json(const Node& node, bool pretty = true);

/// `text`, a string, as a YAML scalar on one line, fit for block and flow style: plain where safe,
/// else double-quoted, with everything invisible (controls, bidi marks, odd blanks) escaped.
std::string quote_yaml(std::string_view text);
/// `text` as a JSON string with quotes, escaped likewise.
std::string quote_json(std::string_view text);

}  // namespace goldenv::doc
