#include <cstddef>
#include <cstdint>
#include <string>

#include "doc/quick_reader.h"
#include "doc/reader.h"
#include "doc/scalar.h"
#include "doc/unicode.h"

namespace goldenv::doc {
namespace {

class QuickJsonReader {
 public:
  QuickJsonReader(std::string_view text, const Limits& limits, Parts* parts)
      : text_(text), limits_(limits), budget_(limits), parts_(parts) {}

  std::optional<Node> document() {
    Node root;
    skip_blanks();
    if (!value(root, 1)) {
      return std::nullopt;
    }
    skip_blanks();
    if (at_ < text_.size()) {
      return std::nullopt;
    }
    return root;
  }

 private:
  [[nodiscard]] bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] Mark mark() const { return {line_, at_ - line_start_ + 1}; }

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (text_[at_] != ' ') {
        return;  // tabs and carriage returns, too, are for the general reader
      }
    }
  }

  bool value(Node& node, std::size_t depth) {
    node.mark = mark();
    if (at_ == text_.size()) {
      return false;
    }
    switch (text_[at_]) {
      case '{':
      case '[':
        return depth <= limits_.depth && budget_.take(1, 0) &&
               (at('{') ? object(node, depth) : array(node, depth));
      case '"':
        node.kind = Node::Kind::scalar;
        node.quoted = true;
        return string(node.text) && budget_.take(1, node.text.size());
      default:
        return word(node);
    }
  }

  bool word(Node& node) {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    const std::string_view text = text_.substr(at_, end - at_);
    const bool is_number = is_decimal(text);
    if (text != "true" && text != "false" && text != "null" && !is_number) {
      return false;
    }
    node.kind = text == "null" ? Node::Kind::null : Node::Kind::scalar;
    node.text.assign(text);
    at_ = end;
    return budget_.take(1, text.size());
  }

  /// Whether another item follows; `ok` is false where neither it nor the end does.
  bool next_item(char close, bool& ok) {
    skip_blanks();
    ok = at(',') || at(close);
    const bool more = at(',');
    ++at_;
    skip_blanks();
    return ok && more;
  }

  bool object(Node& node, std::size_t depth) {
    node.kind = Node::Kind::mapping;
    ++at_;
    skip_blanks();
    if (at('}')) {
      ++at_;
      return true;
    }
    node.entries.reserve(4);  // as many as most facts have
    bool ok = true;
    do {
      if (!entry(node.entries.emplace_back(), depth)) {
        return false;
      }
    } while (next_item('}', ok));
    return ok && !find_duplicate(node.entries).found;
  }

  /// The object that is handed over, at its brace.
  bool parts(Node& node, std::size_t depth) {
    node.mark = mark();
    node.kind = Node::Kind::mapping;
    if (depth > limits_.depth || !budget_.take(1, 0)) {
      return false;
    }
    ++at_;
    skip_blanks();
    if (at('}')) {
      ++at_;
      return true;
    }
    Handover handover(*parts_);
    bool ok = true;
    do {
      if (!entry(handover.next(), depth) || !handover.give()) {
        return false;
      }
    } while (next_item('}', ok));
    return ok;
  }

  bool entry(Node::Entry& entry, std::size_t depth) {
    entry.mark = mark();
    if (!at('"') || !string(entry.key) || !budget_.take(0, entry.key.size())) {
      return false;
    }
    skip_blanks();
    if (!at(':')) {
      return false;
    }
    ++at_;
    skip_blanks();
    const bool hand_over = depth == 1 && parts_ != nullptr && entry.key == parts_->under && at('{');
    return hand_over ? parts(entry.value, depth + 1) : value(entry.value, depth + 1);
  }

  bool array(Node& node, std::size_t depth) {
    node.kind = Node::Kind::sequence;
    ++at_;
    skip_blanks();
    if (at(']')) {
      ++at_;
      return true;
    }
    bool ok = true;
    do {
      if (!value(node.items.emplace_back(), depth + 1)) {
        return false;
      }
    } while (next_item(']', ok));
    return ok;
  }

  bool string(std::string& out) {
    ++at_;
    while (true) {
      std::size_t stop = at_;
      while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' &&
             static_cast<unsigned char>(text_[stop]) >= 0x20) {
        ++stop;
      }
      if (stop == text_.size() || (text_[stop] != '"' && text_[stop] != '\\')) {
        return false;
      }
      out.append(text_.substr(at_, stop - at_));
      at_ = stop + 1;
      if (text_[stop] == '"') {
        return true;
      }
      if (!escape(out)) {
        return false;
      }
    }
  }

  bool escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) {
      return false;
    }
    const char c = text_[at_++];
    if (c != 'u') {
      const std::size_t which = kNames.find(c);
      if (which == std::string_view::npos) {
        return false;
      }
      out += kMeant[which];
      return true;
    }
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const auto digit = at_ < text_.size() ? hex_digit(text_[at_]) : 16U;
      if (digit > 15) {
        return false;
      }
      code = (code << 4U) | digit;
    }
    return append_code(code, out);  // not a surrogate
  }

  std::string_view text_;
  Limits limits_;
  Budget budget_;
  Parts* parts_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace

std::optional<Node> read_quick_json(std::string_view text, const Limits& limits, Parts* parts) {
  return QuickJsonReader(text, limits, parts).document();
}

}  // namespace goldenv::doc
