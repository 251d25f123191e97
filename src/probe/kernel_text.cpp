#include "probe/kernel_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace goldenv::probe {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// user@host, perhaps in parentheses.
bool is_builder(std::string_view word) {
  const std::size_t at = word.find('@');
  const auto is_word = [](char c) { return c > ' ' && c != '(' && c != ')' && c != '#'; };
  return at != std::string_view::npos && at > 0 && at + 1 < word.size() && is_word(word[at - 1]) &&
         is_word(word[at + 1]);
}

}  // namespace

std::string_view version_compiler(std::string_view proc_version) {
  int depth = 0;
  int pair = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < proc_version.size(); ++i) {
    if (proc_version[i] == '(') {
      if (depth++ == 0) {
        ++pair;
        start = i + 1;
      }
    } else if (proc_version[i] == ')' && depth > 0 && --depth == 0 && pair == 2) {
      return proc_version.substr(start, i - start);
    }
  }
  return {};
}

std::string without_builder(std::string_view build) {
  std::string kept;
  for (const std::string_view word : words(build)) {
    if (!is_builder(word)) {
      kept += kept.empty() ? "" : " ";
      kept += word;
    }
  }
  return kept;
}

std::vector<std::string> split_cmdline(std::string_view text) {
  std::vector<std::string> parameters;
  std::string parameter;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\0') {
      break;
    }
    if (is_blank(c) && !quoted) {
      if (!parameter.empty()) {
        parameters.push_back(std::move(parameter));
        parameter.clear();
      }
      continue;
    }
    quoted = quoted != (c == '"');
    parameter += c;
  }
  std::string_view last = parameter;
  while (!last.empty() && is_blank(last.back())) {  // an open quote swallows the final newline
    last.remove_suffix(1);
  }
  if (!last.empty()) {
    parameters.emplace_back(last);
  }
  return parameters;
}

std::vector<std::string> taint_letters(std::uint64_t mask) {
  constexpr std::string_view kLetters = "PFSRMBUDAWCIOELKXTNJ";
  std::vector<std::string> letters;
  for (std::size_t bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1u) != 0) {
      letters.push_back(bit < kLetters.size() ? std::string(1, kLetters[bit])
                                              : std::to_string(bit));
    }
  }
  return letters;
}

std::optional<ConfigLine> find_option(std::string_view config, std::string_view option) {
  std::uint32_t number = 0;
  for (const std::string_view line : lines(config)) {
    ++number;
    if (line.starts_with(option) && line.size() > option.size() && line[option.size()] == '=') {
      std::string_view value = trim(line.substr(option.size() + 1));
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      return ConfigLine{std::string(value), number, true};
    }
    if (line.starts_with("# ") && line.substr(2).starts_with(option) &&
        line.substr(2 + option.size()) == " is not set") {
      return ConfigLine{"", number, false};
    }
  }
  return std::nullopt;
}

std::string_view quoted_definition(std::string_view header, std::string_view name) {
  for (const std::string_view line : lines(header)) {
    const auto parts = words(line);
    if (parts.size() < 3 || parts[0] != "#define" || parts[1] != name) {
      continue;
    }
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open != std::string_view::npos && close > open) {
      return line.substr(open + 1, close - open - 1);
    }
  }
  return {};
}

}  // namespace goldenv::probe
