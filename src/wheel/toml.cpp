#include "wheel/toml.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "base/text.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/impl/preprocessor.h>
// Behind "[." and "[[[" toml++ 3.3 takes for granted what it only then looks at; without this, that
// is undefined in release builds and the end of others.
#undef TOML_ASSERT
#define TOML_ASSERT(expression) static_cast<void>(0)
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expression) static_cast<void>(0)
#include <toml++/toml.h>

namespace goldenv::wheel {
namespace {

using doc::Node;

constexpr std::size_t kMaxKeyParts = 32;

/// Passes a string; its end, or that of the text where it has none.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
  const bool multi_line = text.substr(at).starts_with(triple);
  at += multi_line ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\' && quote == '"') {
      at += 2;
    } else if (multi_line ? text.substr(at).starts_with(triple) : text[at] == quote) {
      return at + (multi_line ? 3 : 1);
    } else if (!multi_line && text[at] == '\n') {
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

/// The line with a key of more parts than anybody writes; 0 where there is none. toml++ takes a
/// table for each of them, and frees them by calls in calls.
std::size_t deep_key_line(std::string_view text) {
  std::size_t line = 1;
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = behind_string(text, at);
      for (; at < end && at < text.size(); ++at) line += text[at] == '\n' ? 1U : 0U;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.') {
      if (++dots >= kMaxKeyParts) return line;
    } else if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) {
      dots = 0;
      if (c == '\n') ++line;
    }
    ++at;
  }
  return 0;
}

class Converter {
 public:
  explicit Converter(const doc::Limits& limits) : limits_(limits) {}

  Node convert(const toml::node& from, std::size_t depth) {
    if (depth > limits_.depth || ++nodes_ > limits_.nodes) {
      too_large = true;
      return {};
    }
    Node node;
    if (const auto* table = from.as_table()) {
      node.kind = Node::Kind::mapping;
      for (const auto& [key, value] : *table) {
        node.entries.push_back(
            {std::string(key.str()), mark_of(key.source().begin), convert(value, depth + 1)});
      }
    } else if (const auto* array = from.as_array()) {
      node.kind = Node::Kind::sequence;
      for (const toml::node& item : *array) node.items.push_back(convert(item, depth + 1));
    } else if (const auto* text = from.as_string()) {
      node = Node::scalar(text->get(), true);
    } else if (const auto* number = from.as_integer()) {
      node = Node::scalar(std::to_string(number->get()));
    } else if (const auto* boolean = from.as_boolean()) {
      node = Node::scalar(boolean->get() ? "true" : "false");
    } else {
      node = Node::scalar(streamed(from));
    }
    node.mark = mark_of(from.source().begin);
    return node;
  }

  bool too_large = false;

 private:
  static doc::Mark mark_of(const toml::source_position& position) {
    return {position.line == 0 ? 1U : position.line, position.column == 0 ? 1U : position.column};
  }

  /// A float or date as text.
  static std::string streamed(const toml::node& from) {
    std::ostringstream out;
    from.visit([&](const auto& value) {
      if constexpr (toml::is_floating_point<decltype(value)> ||
                    toml::is_chronological<decltype(value)>) {
        out << value.get();
      }
    });
    return out.str();
  }

  doc::Limits limits_;
  std::size_t nodes_ = 0;
};

}  // namespace

Result<Node> parse_toml(std::string_view text, std::string_view name, const doc::Limits& limits) {
  if (text.size() > limits.bytes) {
    return Error{Errc::too_large,
                 std::string(name) + ": more than " + std::to_string(limits.bytes) + " bytes",
                 {}};
  }
  if (const std::size_t line = deep_key_line(text); line != 0) {
    return doc::error_at(name, {line, 1}, "a key with more than 32 parts");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::source_position at = parsed.error().source().begin;
    return doc::error_at(name, {at.line, at.column},
                         shortened(to_utf8(parsed.error().description()), 200));
  }
  Converter converter(limits);
  Node node = converter.convert(parsed.table(), 0);
  if (converter.too_large) {
    return Error{Errc::too_large,
                 std::string(name) + ": more than " + std::to_string(limits.nodes) +
                     " values, or nested more than " + std::to_string(limits.depth) + " deep",
                 {}};
  }
  return node;
}

}  // namespace goldenv::wheel
