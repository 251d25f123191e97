#include <string>

#include "doc/bytes.h"
#include "doc/node.h"
#include "doc/scalar.h"
#include "doc/unicode.h"

namespace goldenv::doc {
namespace {

void append_unit(std::uint32_t unit, std::string& out) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out += digits[(unit >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

void append_string(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
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
    } else if (character.code > 0xFFFF && is_invisible(character.code)) {
      append_unit(0xD800U + ((character.code - 0x10000U) >> 10U), out);
      append_unit(0xDC00U + ((character.code - 0x10000U) & 0x3FFU), out);
    } else if (is_invisible(character.code)) {
      append_unit(character.code, out);
    } else {
      out += text.substr(i - character.bytes, character.bytes);
    }
  }
  out += '"';
}

class JsonWriter {
 public:
  explicit JsonWriter(bool pretty) : pretty_(pretty) {}

  std::string document(const Node& node) && {
    write(node, 0);
    if (pretty_) {
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  void new_line(std::size_t depth) {
    if (pretty_) {
      out_ += '\n';
      out_.append(2 * depth, ' ');
    }
  }

  void write(const Node& node, std::size_t depth) {
    if (node.is_null()) {
      out_ += "null";
      return;
    }
    if (node.is_scalar()) {
      const bool bare =
          !node.quoted && (node.text == "true" || node.text == "false" || is_decimal(node.text));
      if (bare) {
        out_ += node.text;
      } else {
        append_string(node.text, out_);
      }
      return;
    }
    out_ += node.is_mapping() ? '{' : '[';
    bool first = true;
    const auto next = [&] {
      if (!first) {
        out_ += pretty_ ? "," : ", ";
      }
      first = false;
      new_line(depth + 1);
    };
    for (const Node& item : node.items) {
      next();
      write(item, depth + 1);
    }
    for (const Node::Entry& entry : node.entries) {
      next();
      append_string(entry.key, out_);
      out_ += ": ";
      write(entry.value, depth + 1);
    }
    if (!first) {
      new_line(depth);
    }
    out_ += node.is_mapping() ? '}' : ']';
  }

  bool pretty_;
  std::string out_;
};

}  // namespace

std::string quote_json(std::string_view text) {
  std::string out;
  append_string(text, out);
  return out;
}

std::string render_json(const Node& node, bool pretty) { return JsonWriter(pretty).document(node); }

}  // namespace goldenv::doc
