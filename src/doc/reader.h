#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doc/node.h"

// What the two readers share; other rooms include doc/node.h.
namespace goldenv::doc {

/// Line and column of byte offsets that never go back far: each call counts on from the last one,
/// so that all positions of a text cost one pass over it.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}
  /// Line ends are LF, CR LF and CR, as in YAML 1.2. Offsets behind the text mean its end.
  Mark at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;
  std::size_t line_ = 1;
};

/// The text behind a UTF-8 byte order mark, if what is left is UTF-8 without characters that the
/// format forbids in their raw form. Errors: malformed, too_large (more bytes than the limit).
Result<std::string_view> check_encoding(std::string_view text, Format format, std::string_view name,
                                        const Limits& limits);

/// What both readers count while they build a tree.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}
  /// So many more nodes that hold so many bytes of text; false when that is more than allowed.
  [[nodiscard]] bool take(std::size_t nodes, std::size_t bytes) {
    nodes_ += nodes;
    bytes_ += bytes;
    return nodes_ <= limits_.nodes && bytes_ <= limits_.bytes;
  }
  /// "more than 1048576 nodes" or "more than 16777216 bytes of text", aliases expanded.
  [[nodiscard]] std::string excess() const;

 private:
  Limits limits_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

/// The index of the first entry whose key an earlier entry has, with that earlier one; false if
/// there is none. Keys in ascending order, the usual case in snapshots, cost one comparison each.
struct Duplicate {
  std::size_t first = 0;
  std::size_t second = 0;
  bool found = false;
};
Duplicate find_duplicate(const std::vector<Node::Entry>& entries);

/// `text` for a message: in quotes, at most 40 bytes of it, everything odd escaped.
std::string snippet(std::string_view text);

Error too_large_at(std::string_view name, Mark mark, std::string_view message);
Error too_deep_at(std::string_view name, Mark mark, const Limits& limits);
Error duplicate_at(std::string_view name, const std::vector<Node::Entry>& entries,
                   const Duplicate& duplicate);

Result<Node> read_yaml(std::string_view text, std::string_view name, const Limits& limits);
Result<Node> read_json(std::string_view text, std::string_view name, const Limits& limits);

}  // namespace goldenv::doc
