#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "doc/quick_reader.h"
#include "doc/reader.h"
#include "doc/unicode.h"

namespace goldenv::doc {
namespace {

/// What a byte may be in a plain scalar.
enum class Class : std::uint8_t {
  word,   ///< nothing but text, also as the first byte
  inner,  ///< text, but not as the first byte
  check,  ///< blank, ':' and '#': depends on the neighbours
  flow,   ///< text in block style, punctuation in flow style
  other,  ///< not judged here
};

constexpr std::array<Class, 256> kClasses = [] {
  std::array<Class, 256> classes{};
  for (std::size_t i = 0; i < 256; ++i) {
    const auto c = static_cast<char>(i);
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    classes[i] = alnum || i >= 0x80                                                  ? Class::word
                 : std::string_view("/_.~+(<=^$;").find(c) != std::string_view::npos ? Class::word
                 : std::string_view(" :#").find(c) != std::string_view::npos         ? Class::check
                 : std::string_view(",[]{}?").find(c) != std::string_view::npos      ? Class::flow
                 : i > 0x20 && i < 0x7F                                              ? Class::inner
                                                                                     : Class::other;
  }
  return classes;
}();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

/// libyaml refuses a key of more than 1024 characters; near that, let it judge.
constexpr std::size_t kLongestKey = 900;

class QuickYamlReader {
 public:
  QuickYamlReader(std::string_view text, const Limits& limits, Parts* parts)
      : text_(text), limits_(limits), budget_(limits), parts_(parts) {}

  std::optional<Node> document() {
    Node root;
    if (text_.find('\t') != std::string_view::npos || text_.find('\r') != std::string_view::npos ||
        !next_line() || indent_ != 0 || at('-') || !mapping(root, 0, 1) || at_ < text_.size()) {
      return std::nullopt;
    }
    return root;
  }

 private:
  [[nodiscard]] bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\n';
  }
  [[nodiscard]] Mark mark() const { return {line_, at_ - line_start_ + 1}; }

  void skip_blanks() {
    while (at(' ')) {
      ++at_;
    }
  }

  /// To the first character of the next line that holds more than a comment; false at the end.
  bool next_line() {
    while (at_ < text_.size()) {
      line_start_ = at_;
      skip_blanks();
      if (at_ == text_.size()) {
        return false;
      }
      if (at('#')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      }
      if (!at('\n')) {
        indent_ = at_ - line_start_;
        return at_ < text_.size();
      }
      ++at_;
      ++line_;
    }
    return false;
  }

  /// Over the end of a line and on to the next one; at the end of the text indent_ is 0.
  bool end_line() {
    if (at_ < text_.size()) {
      if (text_[at_] != '\n') {
        return false;
      }
      ++at_;
      ++line_;
    }
    if (!next_line()) {
      indent_ = 0;
    }
    return true;
  }

  /// The entries at `indent`, of which the first is where the reader stands.
  bool mapping(Node& node, std::size_t indent, std::size_t depth) {
    node.kind = Node::Kind::mapping;
    node.mark = mark();
    if (depth > limits_.depth || !budget_.take(1, 0)) {
      return false;
    }
    while (at_ < text_.size() && indent_ == indent) {
      if (!entry(node.entries.emplace_back(), indent, depth)) {
        return false;
      }
    }
    return !find_duplicate(node.entries).found;
  }

  /// The same of the mapping that is handed over.
  bool parts(Node& node, std::size_t indent, std::size_t depth) {
    node.kind = Node::Kind::mapping;
    node.mark = mark();
    if (depth > limits_.depth || !budget_.take(1, 0)) {
      return false;
    }
    Handover handover(*parts_);
    while (at_ < text_.size() && indent_ == indent) {
      if (!entry(handover.next(), indent, depth) || !handover.give()) {
        return false;
      }
    }
    return true;
  }

  bool entry(Node::Entry& entry, std::size_t indent, std::size_t depth) {
    entry.mark = mark();
    if (!key(entry.key, false)) {
      return false;
    }
    if (peek(0) == '\n') {
      if (!end_line() || indent_ <= indent) {
        return false;  // an empty value, or a list at the indent of its key
      }
      const bool list = at('-') && peek(1) == ' ';
      const bool hand_over = depth == 1 && parts_ != nullptr && entry.key == parts_->under;
      if (!(list        ? sequence(entry.value, indent_, depth + 1)
            : hand_over ? parts(entry.value, indent_, depth + 1)
                        : mapping(entry.value, indent_, depth + 1))) {
        return false;
      }
    } else {
      skip_blanks();
      if (!value(entry.value, false, depth + 1) || !end_line()) {
        return false;
      }
    }
    return indent_ <= indent;  // else a plain scalar that goes on, or an error
  }

  /// Items at `indent`: scalars and what flow style holds.
  bool sequence(Node& node, std::size_t indent, std::size_t depth) {
    node.kind = Node::Kind::sequence;
    node.mark = mark();
    if (depth > limits_.depth || !budget_.take(1, 0)) {
      return false;
    }
    while (at_ < text_.size() && indent_ == indent) {
      if (!at('-') || peek(1) != ' ') {
        return false;
      }
      at_ += 2;
      skip_blanks();
      if (!value(node.items.emplace_back(), false, depth + 1) || !end_line() || indent_ > indent) {
        return false;
      }
    }
    return true;
  }

  /// A key with the ':' behind it, which a blank or the end of the line follows.
  bool key(std::string& key, bool flow) {
    const std::size_t begin = at_;
    const bool quoted_key = at('"');
    if (!(quoted_key ? quoted(key) : plain(key, flow)) || !at(':') ||
        (peek(1) != ' ' && peek(1) != '\n') || at_ - begin > kLongestKey ||
        (!quoted_key && key == "<<") || !budget_.take(0, key.size())) {
      return false;
    }
    ++at_;
    return true;
  }

  bool value(Node& node, bool flow, std::size_t depth) {
    if (at('{') || at('[')) {
      return flow_container(node, depth);
    }
    node.mark = mark();
    node.kind = Node::Kind::scalar;
    node.quoted = at('"');
    if (!(node.quoted ? quoted(node.text) : plain(node.text, flow)) ||
        !budget_.take(1, node.text.size())) {
      return false;
    }
    if (!node.quoted && node.text.size() <= 4 &&
        (node.text == "~" || node.text == "null" || node.text == "Null" || node.text == "NULL")) {
      node.kind = Node::Kind::null;
    }
    return true;
  }

  /// {a: b, c: [d]} within the line.
  bool flow_container(Node& node, std::size_t depth) {
    node.mark = mark();
    const bool is_mapping = at('{');
    const char close = is_mapping ? '}' : ']';
    node.kind = is_mapping ? Node::Kind::mapping : Node::Kind::sequence;
    if (depth > limits_.depth || !budget_.take(1, 0)) {
      return false;
    }
    ++at_;
    skip_blanks();
    if (at(close)) {
      ++at_;
      return true;
    }
    if (is_mapping) {
      node.entries.reserve(4);  // as many as most facts have
    }
    while (true) {
      if (is_mapping) {
        Node::Entry& entry = node.entries.emplace_back();
        entry.mark = mark();
        if (!key(entry.key, true) || peek(0) != ' ') {
          return false;
        }
        skip_blanks();
        if (!value(entry.value, true, depth + 1)) {
          return false;
        }
      } else if (!value(node.items.emplace_back(), true, depth + 1)) {
        return false;
      }
      if (at(close)) {
        ++at_;
        return !is_mapping || !find_duplicate(node.entries).found;
      }
      if (!at(',')) {
        return false;  // also ':' behind an item: a pair in a list
      }
      ++at_;
      skip_blanks();
    }
  }

  /// The first byte from `at` on that is more than text: most of what is read goes by here.
  [[nodiscard]] std::size_t end_of_words(std::size_t at) const {
    while (at < text_.size() && class_of(text_[at]) <= Class::inner) {
      ++at;
    }
    return at;
  }

  /// A plain scalar up to the end of the line, to ": ", or in flow style to what ends an item.
  bool plain(std::string& out, bool flow) {
    const std::size_t begin = at_;
    if (at_ == text_.size() ||
        !(class_of(text_[at_]) == Class::word ||
          (text_[at_] == '-' && class_of(peek(1)) == Class::word)) ||
        text_.substr(at_, 3) == "...") {
      return false;
    }
    while (true) {
      at_ = end_of_words(at_);
      if (at_ == text_.size()) {
        break;
      }
      const char c = text_[at_];
      const Class what = class_of(c);
      if (what == Class::flow) {
        if (!flow) {
          ++at_;
          continue;
        }
        if (c == '?') {
          return false;
        }
        break;
      }
      if (c == '\n' || (c == ':' && (peek(1) == ' ' || peek(1) == '\n'))) {
        break;
      }
      if (what == Class::other || (c == ':' && flow && class_of(peek(1)) == Class::flow) ||
          (c == '#' && text_[at_ - 1] == ' ')) {
        return false;
      }
      ++at_;
    }
    if (text_[at_ - 1] == ' ') {
      return false;
    }
    out = std::string(text_.substr(begin, at_ - begin));
    return true;
  }

  /// A double-quoted scalar on one line, with the escapes that goldenv writes.
  bool quoted(std::string& out) {
    ++at_;
    while (true) {
      std::size_t stop = at_;
      while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\\' &&
             text_[stop] != '\n') {
        ++stop;
      }
      if (stop == text_.size() || text_[stop] == '\n') {
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
    const char c = peek(0);
    ++at_;
    switch (c) {
      case 'n':
        out += '\n';
        return true;
      case 't':
        out += '\t';
        return true;
      case '"':
      case '\\':
        out += c;
        return true;
      case 'x':
        return code_point(2, out);
      case 'u':
        return code_point(4, out);
      case 'U':
        return code_point(8, out);
      default:
        return false;
    }
  }

  bool code_point(std::size_t digits, std::string& out) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const auto digit = hex_digit(peek(i));
      if (digit > 15) {
        return false;
      }
      code = (code << 4U) | digit;
    }
    at_ += digits;
    return append_code(code, out);
  }

  std::string_view text_;
  Limits limits_;
  Budget budget_;
  Parts* parts_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
  std::size_t indent_ = 0;  ///< of the line that the reader stands in
};

}  // namespace

std::optional<Node> read_quick_yaml(std::string_view text, const Limits& limits, Parts* parts) {
  return QuickYamlReader(text, limits, parts).document();
}

}  // namespace goldenv::doc
