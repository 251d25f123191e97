#include "probe/accelerate_config.h"

#include <algorithm>
#include <cstddef>
#include <optional>
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

/// Without a comment at its end: a '#' that begins the text or has a blank before it.
std::string_view without_comment(std::string_view text) {
  for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t') {
      return trim(text.substr(0, at));
    }
  }
  return trim(text);
}

/// A text that begins with a quote; none where it goes on over its line, something but a comment
/// follows it, or it holds escapes other than of quotes and backslashes.
std::optional<std::string> quoted(std::string_view text) {
  const char quote = text[0];
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (quote == '"' && text[i] == '\\') {
      if (next != '"' && next != '\\') {
        return std::nullopt;
      }
      value += next;
      ++i;
    } else if (text[i] != quote) {
      value += text[i];
    } else if (quote == '\'' && next == quote) {
      value += quote;
      ++i;
    } else {
      const std::string_view rest = text.substr(i + 1);
      const bool is_end = without_comment(rest).empty() && (rest.empty() || rest[0] != '#');
      return is_end ? std::optional(std::move(value)) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// What stands behind "name:" or "-" on one line; none where it takes more of YAML than this to
/// read: flow lists and mappings that are not empty, block texts, anchors, aliases, tags.
std::optional<std::string> scalar(std::string_view text) {
  text = trim(text);
  if (!text.empty() && (text[0] == '\'' || text[0] == '"')) {
    return quoted(text);
  }
  text = without_comment(text);
  const bool is_plain = text.empty() || text == "[]" || text == "{}" ||
                        std::string_view("[]{}|>&*!%@`,?").find(text[0]) == text.npos;
  return is_plain ? std::optional(std::string(text)) : std::nullopt;
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
  std::optional<std::size_t> whole_at;  // indent of a setting whose value stands on its own line
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const std::string_view content = trim(line);
    if (content.empty() || content[0] == '#') {
      continue;
    }
    const std::size_t indent = line.find_first_not_of(' ');
    if (content.starts_with("- ") && open_list != std::string_view::npos) {
      AccelerateSetting& setting = found[open_list];
      const auto item = scalar(content.substr(2));
      setting.is_readable = setting.is_readable && item;
      setting.value += (setting.value.empty() ? "" : ", ") + item.value_or("");
      continue;
    }
    if (whole_at && indent > *whole_at) {
      // A value that goes on over its line: of a flow list, a block text, a folded text.
      found.back().is_readable = false;
      continue;
    }
    const std::size_t colon = content.find(':');
    std::string_view name = content.substr(0, colon);
    if (name.size() > 2 && (name[0] == '"' || name[0] == '\'') && name.back() == name[0]) {
      name = name.substr(1, name.size() - 2);
    }
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
    const std::string_view behind = content.substr(colon + 1);
    std::optional<std::string> value = scalar(behind);
    open_list = std::string_view::npos;
    whole_at.reset();
    if (value && without_comment(behind).empty()) {
      // A section, or a list whose items follow: as long as none does, it says nothing.
      if (sections.size() < kDepthLimit) {
        sections.push_back({indent, std::string(name)});
      }
      open_list = found.size();
    } else {
      whole_at = indent;
    }
    const bool is_readable = value.has_value();
    found.push_back({std::move(whole), std::move(value).value_or(""), number, is_readable});
  }
  for (AccelerateSetting& setting : found) {
    setting.value = setting.is_readable ? std::move(setting.value) : std::string();
  }
  // What turned out to be the name of a section.
  std::erase_if(found, [&](const AccelerateSetting& one) {
    return one.is_readable && one.value.empty() &&
           std::ranges::any_of(found, [&](const AccelerateSetting& other) {
             return other.name.starts_with(one.name + ".");
           });
  });
  return found;
}

}  // namespace goldenv::probe
