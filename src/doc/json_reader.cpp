#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "doc/bytes.h"
#include "doc/reader.h"

namespace goldenv::doc {
namespace {

using Json = nlohmann::json;

/// Where each token stands. nlohmann's events carry no positions, but come in the order of the
/// text: asked once per event, this walks beside the parser, which has judged the grammar already.
class TokenStarts {
 public:
  explicit TokenStarts(std::string_view text) : text_(text) {}

  /// Moves to the next token that is no punctuation and gives its offset.
  std::size_t next() {
    start_ = peek();
    offset_ = start_;
    if (offset_ >= text_.size()) {
      return start_;
    }
    const char c = text_[offset_++];
    if (c == '"') {
      while (offset_ < text_.size() && text_[offset_] != '"') {
        offset_ += text_[offset_] == '\\' ? 2U : 1U;
      }
      offset_ = std::min(offset_ + 1, text_.size());
    } else if (c != '{' && c != '[') {
      offset_ = std::min(text_.find_first_of(" \t\r\n,:]}", offset_), text_.size());
    }
    return start_;
  }
  /// Where the next token would begin.
  [[nodiscard]] std::size_t peek() const {
    return std::min(text_.find_first_not_of(" \t\r\n,:]}", offset_), text_.size());
  }
  /// The token as written.
  [[nodiscard]] std::string_view token() const { return text_.substr(start_, offset_ - start_); }

 private:
  std::string_view text_;
  std::size_t start_ = 0;
  std::size_t offset_ = 0;
};

/// "[json.exception.parse_error.101] parse error at line 1, column 8: syntax error while parsing
/// value - unexpected '}'; expected ..." as "unexpected '}'; expected ...", without the echo of
/// what was read, which may be long.
std::string reworded(std::string_view what) {
  if (what.find("number overflow") != std::string_view::npos) {
    return "a number out of range; expected one that fits a double";
  }
  if (const auto dash = what.find(" - "); dash != std::string_view::npos) {
    what.remove_prefix(dash + 3);
  }
  std::string says(what.substr(0, what.find("; last read: ")));
  if (says.find("; expected ") == std::string::npos) {
    says += "; expected JSON";
  }
  return says;
}

/// Builds the tree in place: a pointer to an open container stays valid, since only the innermost
/// one grows.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::string_view name, const Limits& limits)
      : text_(text),
        name_(name),
        limits_(limits),
        starts_(text),
        positions_(text),
        budget_(limits) {}

  Result<Node> result() && {
    if (error_) {
      return *std::move(error_);
    }
    return std::move(root_);
  }

  // The events that nlohmann::json::sax_parse calls; each says whether to go on.
  bool null() { return add_token(Node::Kind::null, false); }
  bool boolean(bool /*value*/) { return add_token(Node::Kind::scalar, false); }
  bool number_integer(std::int64_t /*value*/) { return add_token(Node::Kind::scalar, false); }
  bool number_unsigned(std::uint64_t /*value*/) { return add_token(Node::Kind::scalar, false); }
  bool number_float(double /*value*/, const std::string& /*text*/) {
    return add_token(Node::Kind::scalar, false);
  }
  bool string(const std::string& value) {
    Node* node = add(starts_.next(), value.size());
    if (node == nullptr) {
      return false;
    }
    node->kind = Node::Kind::scalar;
    node->quoted = true;
    node->text.assign(value);
    return true;
  }
  bool binary(const Json::binary_t& /*value*/) { return false; }  // only in binary formats
  bool key(const std::string& value) {
    Node::Entry& entry = open_.back()->entries.emplace_back();
    entry.mark = positions_.at(starts_.next());
    entry.key.assign(value);
    return budget_.take(0, value.size()) || refuse_excess(entry.mark);
  }
  bool start_object(std::size_t /*size*/) { return open(Node::Kind::mapping); }
  bool start_array(std::size_t /*size*/) { return open(Node::Kind::sequence); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool end_object() {
    const auto& entries = open_.back()->entries;
    if (const Duplicate duplicate = find_duplicate(entries); duplicate.found) {
      error_ = duplicate_at(name_, entries, duplicate);
      return false;
    }
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t bytes_read, const std::string& /*token*/,
                   const Json::exception& problem) {
    const std::string says = reworded(problem.what());
    std::size_t at = std::min(bytes_read > 0 ? bytes_read - 1 : 0, text_.size());
    // A whole token in the wrong place, or without an end: show its first byte and not its last.
    if (says.starts_with("unexpected") || says.starts_with("a number") ||
        says.find("missing closing quote") != std::string::npos) {
      at = std::min(at, starts_.peek());
    }
    error_ = error_at(name_, positions_.at(at), says);
    return false;
  }

 private:
  bool refuse_excess(Mark mark) {
    error_ = too_large_at(name_, mark, budget_.excess());
    return false;
  }

  /// The node that the next value goes into, or nullptr when there may be no more.
  Node* add(std::size_t offset, std::size_t bytes) {
    Node* node = &root_;
    if (!open_.empty()) {
      Node& parent = *open_.back();
      node = parent.is_mapping() ? &parent.entries.back().value : &parent.items.emplace_back();
    }
    node->mark = positions_.at(offset);
    if (!budget_.take(1, bytes)) {
      refuse_excess(node->mark);
      return nullptr;
    }
    return node;
  }

  bool add_token(Node::Kind kind, bool quoted) {
    const std::size_t start = starts_.next();
    Node* node = add(start, starts_.token().size());
    if (node == nullptr) {
      return false;
    }
    node->kind = kind;
    node->quoted = quoted;
    node->text.assign(starts_.token());
    return true;
  }

  bool open(Node::Kind kind) {
    Node* node = add(starts_.next(), 0);
    if (node == nullptr) {
      return false;
    }
    node->kind = kind;
    if (open_.size() >= limits_.depth) {
      error_ = too_deep_at(name_, node->mark, limits_);
      return false;
    }
    open_.push_back(node);
    return true;
  }

  std::string_view text_;
  std::string_view name_;
  Limits limits_;
  TokenStarts starts_;
  Positions positions_;
  Budget budget_;
  Node root_;
  std::vector<Node*> open_;
  std::optional<Error> error_;
};

}  // namespace

Result<Node> read_json(std::string_view text, std::string_view name, const Limits& limits) {
  TreeBuilder builder(text, name, limits);
  // Strict: anything behind the document is an error.
  Json::sax_parse(text.data(), text.data() + text.size(), &builder, Json::input_format_t::json,
                  true);
  GOLDENV_TRY(Node root, std::move(builder).result());
  if (may_hold_bytes(text)) {
    if (Result<void> restored = restore_bytes(root, name); !restored) {
      return std::move(restored).error();
    }
  }
  return root;
}

}  // namespace goldenv::doc
