#include "probe/extlinux.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace goldenv::probe {

Result<BootEntry> parse_extlinux(std::string_view text, const std::string& file) {
  std::vector<BootEntry> entries;
  std::string wanted;
  std::uint32_t number = 0;
  for (std::string_view line : lines(text)) {
    ++number;
    line = trim(line);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string word = to_lower(line.substr(0, end));
    const std::string value(trim(line.substr(end)));
    if (word == "label") {
      BootEntry entry;
      entry.id = value;
      entry.file = file;
      entry.line = number;
      entries.push_back(std::move(entry));
    } else if (word == "default" && entries.empty()) {
      wanted = value;
    } else if (entries.empty()) {
      continue;
    } else if (word == "linux" || word == "kernel") {
      entries.back().image = value;
    } else if (word == "append") {
      entries.back().options = value;
      entries.back().line = number;
    }
  }
  const auto chosen =
      wanted.empty() ? entries.begin() : std::ranges::find(entries, wanted, &BootEntry::id);
  if (chosen == entries.end()) {
    return Error{Errc::malformed,
                 wanted.empty() ? file + " has no entry" : file + " has no entry " + wanted,
                 {}};
  }
  return std::move(*chosen);
}

}  // namespace goldenv::probe
