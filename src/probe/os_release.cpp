#include "probe/os_release.h"

#include "base/text.h"

namespace goldenv::probe {
namespace {

std::string unquoted(std::string_view value) {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) {
    return std::string(value);
  }
  const char quote = value.front();
  std::string text;
  for (std::size_t i = 1; i < value.size() && value[i] != quote; ++i) {
    if (quote == '"' && value[i] == '\\' && i + 1 < value.size()) {
      ++i;
    }
    text += value[i];
  }
  return text;
}

}  // namespace

std::map<std::string, std::string, std::less<>> parse_os_release(std::string_view text) {
  std::map<std::string, std::string, std::less<>> fields;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) {
      continue;
    }
    fields.insert_or_assign(std::string(line.substr(0, equals)), unquoted(line.substr(equals + 1)));
  }
  return fields;
}

}  // namespace goldenv::probe
