#pragma once

#include <optional>
#include <string_view>

#include "doc/node.h"

// Readers for the forms in which goldenv writes its own files. libyaml and nlohmann-json take 20 to
// 25 ms for a snapshot of 5,000 facts (measured), most of what comparing two of them would cost;
// these take a quarter. They know no errors: whatever they do not know for certain gives nothing,
// and the general reader decides. What they give is what it would have given, marks included, to
// which a test and a fuzz target hold them.
namespace goldenv::doc {

/// Block mappings and lists, flow style within a line, plain and double-quoted scalars on one line;
/// no tabs, no anchors, no comments behind values. `text` has passed check_encoding.
std::optional<Node> read_quick_yaml(std::string_view text, const Limits& limits,
                                    Parts* parts = nullptr);

/// All of JSON but surrogate escapes and numbers with exponents or very many digits. `text` has
/// passed check_encoding.
std::optional<Node> read_quick_json(std::string_view text, const Limits& limits,
                                    Parts* parts = nullptr);

/// Hands over the entries of the mapping that `parts` names: one is held at a time. Keys must
/// ascend, since what is no longer held cannot be searched for duplicates.
class Handover {
 public:
  explicit Handover(Parts& parts) : parts_(parts) {}

  /// A fresh entry to read into.
  [[nodiscard]] Node::Entry& next() {
    entry_.key.clear();
    entry_.value.kind = Node::Kind::null;
    entry_.value.quoted = false;
    entry_.value.text.clear();
    entry_.value.items.clear();
    entry_.value.entries.clear();
    return entry_;
  }

  /// Gives that entry away; false where its key does not ascend.
  [[nodiscard]] bool give() {
    if (parts_.taken > 0 && entry_.key <= last_) {
      return false;
    }
    last_ = entry_.key;
    parts_.take(entry_);
    ++parts_.taken;
    return true;
  }

 private:
  Parts& parts_;
  Node::Entry entry_;
  std::string last_;
};

}  // namespace goldenv::doc
