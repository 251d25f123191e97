#include "probe/nvidia_proc.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "probe/compiler.h"

namespace goldenv::probe {
namespace {

/// Two or three runs of digits with single dots between.
bool is_driver_version(std::string_view word) {
  const auto parts = split(word, '.');
  return (parts.size() == 2 || parts.size() == 3) &&
         std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() < 10 &&
                  std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
         });
}

}  // namespace

Result<NvidiaModule> parse_nvidia_version(std::string_view text) {
  constexpr std::string_view kStart = "NVRM version:";
  constexpr std::string_view kKind = "Kernel Module";
  NvidiaModule module;
  for (const std::string_view line : lines(text)) {
    if (line.starts_with("GCC version:")) {
      module.compiler = compiler_name(line.substr(line.find(':') + 1));
      continue;
    }
    const std::size_t kind = line.find(kKind);
    if (!line.starts_with(kStart) || kind == std::string_view::npos) {
      continue;
    }
    const auto before = words(line.substr(kStart.size(), kind - kStart.size()));
    module.open = !before.empty() && before.back() == "Open";
    if (!module.open && !before.empty() && before.back() != "UNIX") {
      module.arch = before.back();
    }
    auto after = words(line.substr(kind + kKind.size()));
    if (after.size() >= 2 && after[0] == "for") {
      module.arch = after[1];
      after.erase(after.begin(), after.begin() + 2);
    }
    const auto version = std::ranges::find_if(after, is_driver_version);
    if (version != after.end()) {
      module.version = *version;
    }
  }
  if (module.version.empty()) {
    return Error{
        Errc::malformed, "/proc/driver/nvidia/version: no version behind \"Kernel Module\"", {}};
  }
  return module;
}

std::vector<std::pair<std::string, std::string>> parse_nvidia_lines(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string_view line : lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view name = trim(line.substr(0, colon));
    std::string_view value = trim(line.substr(colon + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (!name.empty()) {
      found.emplace_back(name, value);
    }
  }
  return found;
}

}  // namespace goldenv::probe
