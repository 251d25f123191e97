#include <algorithm>
#include <array>
#include <string>

#include "doc/bytes.h"
#include "doc/node.h"
#include "doc/scalar.h"
#include "doc/unicode.h"

namespace goldenv::doc {
namespace {

constexpr std::size_t kWidth = 100;
/// YAML 1.1 section 9.3.1: a key without '?' has at most 1024 characters; escapes included.
constexpr std::size_t kLongestSimpleKey = 1000;

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// ASCII that is text within a plain scalar whatever stands beside it, in block and flow style.
constexpr std::array<bool, 256> kPlainInside = [] {
  std::array<bool, 256> inside{};
  for (unsigned char c = 0x21; c < 0x7F; ++c) {
    inside[c] = std::string_view(",[]{}:#").find(static_cast<char>(c)) == std::string_view::npos;
  }
  return inside;
}();

/// Whether the text, written plain, is that text for every reader, in block and flow style, as key
/// and as value. Types are not looked at. Stricter than the grammar where readers differ.
bool is_plain_shape(std::string_view text) {
  if (text.empty() || text.back() == ' ' || text.back() == ':' || text.starts_with("...")) {
    return false;
  }
  const char first = text.front();
  const bool negative = first == '-' && text.size() > 1 && is_alnum(text[1]);
  if (!is_alnum(first) && !negative &&
      std::string_view("/_.~+(<=^$;").find(first) == std::string_view::npos &&
      static_cast<unsigned char>(first) < 0x80) {
    return false;
  }
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const Character character = character_at(text, i);
      if (character.bytes == 0 || is_invisible(character.code)) {
        return false;
      }
      i += character.bytes;
      continue;
    }
    if (kPlainInside[static_cast<unsigned char>(c)]) {
      ++i;
      continue;
    }
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F ||
        std::string_view(",[]{}").find(c) != std::string_view::npos ||
        (c == ':' && !is_alnum(next) && next != '/' && next != '.' && next != '_' && next != '-') ||
        (c == ' ' && next == '#')) {
      return false;
    }
    ++i;
  }
  return true;
}

void escape(std::uint32_t code, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const int length = code <= 0xFF ? 2 : code <= 0xFFFF ? 4 : 8;
  out += length == 2 ? "\\x" : length == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (length - 1); shift >= 0; shift -= 4) {
    out += digits[(code >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_alnum(c)) {
      out += c;
      ++i;
      continue;
    }
    const Character character = written_at(text, i);
    i += character.bytes;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (character.code != ' ' && is_invisible(character.code)) {
      escape(character.code, out);
    } else {
      out += text.substr(i - character.bytes, character.bytes);
    }
  }
  out += '"';
}

void append_text(std::string_view text, std::string& out) {
  if (is_plain_shape(text) && !is_typed_plain(text)) {
    out += text;
  } else {
    append_quoted(text, out);
  }
}

/// Plain scalars that are decimal numbers or booleans go back as they came: no reader of ours makes
/// anything but text of them, and 12.10 looks best without quotes.
bool goes_back_plain(const Node& node) {
  return !node.quoted && (node.text == "true" || node.text == "false" || is_decimal(node.text));
}

class YamlWriter {
 public:
  explicit YamlWriter(bool flow_leaves) : flow_leaves_(flow_leaves) {}

  std::string document(const Node& node) && {
    block(node, 0, 0);
    out_ += '\n';
    return std::move(out_);
  }

 private:
  static bool is_empty(const Node& node) { return node.items.empty() && node.entries.empty(); }
  static bool is_container(const Node& node) { return node.is_mapping() || node.is_sequence(); }

  void leaf(const Node& node) {
    if (node.is_null()) {
      out_ += "null";
    } else if (node.is_scalar()) {
      if (goes_back_plain(node)) {
        out_ += node.text;
      } else {
        append_text(node.text, out_);
      }
    } else {
      out_ += node.is_mapping() ? "{}" : "[]";
    }
  }

  /// Writes the node in one line up to `end`; false where it does not fit or is nested deeper than
  /// `levels`, with what was written taken back.
  bool flow(const Node& node, int levels, std::size_t end) {
    const std::size_t start = out_.size();
    if (append_flow(node, levels, end)) {
      return true;
    }
    out_.resize(start);
    return false;
  }

  bool append_flow(const Node& node, int levels, std::size_t end) {
    if (!is_container(node) || is_empty(node)) {
      leaf(node);
      return out_.size() <= end;
    }
    if (levels == 0) {
      return false;
    }
    out_ += node.is_mapping() ? '{' : '[';
    bool first = true;
    const auto separate = [&] {
      out_ += first ? "" : ", ";
      first = false;
    };
    for (const Node& item : node.items) {
      separate();
      if (!append_flow(item, levels - 1, end)) {
        return false;
      }
    }
    for (const Node::Entry& entry : node.entries) {
      separate();
      append_text(entry.key, out_);
      out_ += ": ";
      if (!append_flow(entry.value, levels - 1, end)) {
        return false;
      }
    }
    out_ += node.is_mapping() ? '}' : ']';
    return out_.size() <= end;
  }

  void indent(std::size_t by) { out_.append(by, ' '); }

  /// The node from where the cursor stands; its further lines are indented by `by`.
  void block(const Node& node, std::size_t by, std::size_t depth) {
    if (!is_container(node) || is_empty(node)) {
      return leaf(node);
    }
    bool first = true;
    const auto next_line = [&] {
      if (!first) {
        out_ += '\n';
        indent(by);
      }
      first = false;
    };
    for (const Node& item : node.items) {
      next_line();
      out_ += "- ";
      if (!flow_child(item, depth)) {
        block(item, by + 2, depth + 1);
      }
    }
    for (const Node::Entry& entry : node.entries) {
      next_line();
      const std::size_t start = out_.size();
      append_text(entry.key, out_);
      if (out_.size() - start > kLongestSimpleKey) {
        out_.insert(start, "? ");
        out_ += '\n';
        indent(by);
      }
      out_ += ':';
      value(entry.value, by, depth);
    }
  }

  void value(const Node& node, std::size_t by, std::size_t depth) {
    out_ += ' ';
    if (!is_container(node) || is_empty(node)) {
      return leaf(node);
    }
    if (flow_child(node, depth)) {
      return;
    }
    out_.back() = '\n';
    indent(by + 2);
    block(node, by + 2, depth + 1);
  }

  /// Writes a child of a container at `depth` in flow style if it is to be.
  bool flow_child(const Node& node, std::size_t depth) {
    if (!flow_leaves_ || !is_container(node) || (depth == 0 && node.is_mapping())) {
      return false;
    }
    const std::size_t line = out_.rfind('\n') + 1;  // npos + 1 is 0: the first line
    return flow(node, depth == 0 ? 1 : 2, line + kWidth);
  }

  bool flow_leaves_;
  std::string out_;
};

}  // namespace

std::string quote_yaml(std::string_view text) {
  std::string out;
  append_text(text, out);
  return out;
}

std::string render_yaml(const Node& node, bool flow_leaves) {
  return YamlWriter(flow_leaves).document(node);
}

}  // namespace goldenv::doc
