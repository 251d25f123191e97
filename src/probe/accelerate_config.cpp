#include "probe/accelerate_config.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kDepthLimit = 8;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() < 128 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
    return std::string(text.substr(1, text.size() - 2));
  }
  return std::string(trim(text.substr(0, text.find(" #"))));
}

struct Section {
  std::size_t indent = 0;  ///< of the line that names it
  std::string name;
};

}  // namespace

std::vector<AccelerateSetting> parse_accelerate_config(std::string_view text) {
  std::vector<AccelerateSetting> found;
  std::vector<Section> sections;
  std::size_t open_list = std::string_view::npos;  // index in found of a setting that awaits items
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const std::string_view content = trim(line);
    if (content.empty() || content[0] == '#') {
      continue;
    }
    const std::size_t indent = line.find_first_not_of(' ');
    if (content.starts_with("- ") && open_list != std::string_view::npos) {
      std::string& value = found[open_list].value;
      value += (value.empty() ? "" : ", ") + unquoted(content.substr(2));
      continue;
    }
    const std::size_t colon = content.find(':');
    const std::string_view name = content.substr(0, colon);
    if (colon == std::string_view::npos || !is_name(name)) {
      continue;
    }
    while (!sections.empty() && sections.back().indent >= indent) {
      sections.pop_back();
    }
    std::string whole;
    for (const Section& section : sections) {
      whole += section.name + ".";
    }
    whole += name;
    std::string value = unquoted(content.substr(colon + 1));
    open_list = std::string_view::npos;
    if (value.empty()) {
      // A section, or a list whose items follow: as long as none does, it says nothing.
      if (sections.size() < kDepthLimit) {
        sections.push_back({indent, std::string(name)});
      }
      open_list = found.size();
    }
    found.push_back({std::move(whole), std::move(value), number});
  }
  // What turned out to be the name of a section.
  std::erase_if(found, [&](const AccelerateSetting& one) {
    return one.value.empty() && std::ranges::any_of(found, [&](const AccelerateSetting& other) {
             return other.name.starts_with(one.name + ".");
           });
  });
  return found;
}

}  // namespace goldenv::probe
