#include "probe/compiler.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace goldenv::probe {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The leading "12.2.0" of a word, or "" where it has no dot.
std::string_view version_of(std::string_view word) {
  std::size_t end = 0;
  while (end < word.size() && (is_digit(word[end]) || word[end] == '.')) {
    ++end;
  }
  while (end > 0 && word[end - 1] == '.') {
    --end;
  }
  const std::string_view version = word.substr(0, end);
  return !version.empty() && is_digit(version[0]) && version.find('.') != std::string_view::npos
             ? version
             : std::string_view{};
}

}  // namespace

std::string compiler_name(std::string_view text) {
  std::string outside;  // of parentheses, which may be nested
  int depth = 0;
  for (const char c : text) {
    if (c == '(') {
      ++depth;
    } else if (c == ')') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0) {
      outside += c == ',' ? ' ' : c;
      if (c == ',') {
        outside += "\n ";  // the linker comes behind the comma
      }
    }
  }
  const std::string_view first = std::string_view(outside).substr(0, outside.find('\n'));
  std::string_view family;
  if (first.find("clang") != std::string_view::npos) {
    family = "clang";
  } else if (first.find("gcc") != std::string_view::npos ||
             first.find("g++") != std::string_view::npos) {
    family = "gcc";
  } else {
    return "";
  }
  for (const std::string_view word : words(first)) {
    if (const std::string_view version = version_of(word); !version.empty()) {
      return std::string(family) + " " + std::string(version);
    }
  }
  return "";
}

}  // namespace goldenv::probe
