#include "probe/limits_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.h"

namespace goldenv::probe {
namespace {

struct Title {
  std::string_view resource;
  std::string_view title;
};

/// Source: the kernel's fs/proc/base.c, lnames.
constexpr auto kTitles = std::to_array<Title>({
    {"memlock", "Max locked memory"},
    {"stack", "Max stack size"},
    {"core", "Max core file size"},
    {"nofile", "Max open files"},
    {"nproc", "Max processes"},
    {"msgqueue", "Max msgqueue size"},
    {"rtprio", "Max realtime priority"},
    {"cpu", "Max cpu time"},
    {"fsize", "Max file size"},
    {"data", "Max data size"},
    {"rss", "Max resident set"},
    {"as", "Max address space"},
    {"locks", "Max file locks"},
    {"sigpending", "Max pending signals"},
    {"nice", "Max nice priority"},
    {"rttime", "Max realtime timeout"},
});

bool is_limit(std::string_view word) { return word == "unlimited" || to_number(word).has_value(); }

}  // namespace

std::string_view limit_title(std::string_view resource) {
  const auto found = std::ranges::find(kTitles, resource, &Title::resource);
  return found == kTitles.end() ? std::string_view{} : found->title;
}

std::optional<Limit> find_limit(std::string_view text, std::string_view resource) {
  const std::string_view title = limit_title(resource);
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (title.empty() || !line.starts_with(title)) {
      continue;
    }
    const auto parts = words(line.substr(title.size()));
    if (parts.size() < 2 || !is_limit(parts[0]) || !is_limit(parts[1])) {
      return std::nullopt;
    }
    return Limit{parts[0], parts[1], number};
  }
  return std::nullopt;
}

CgroupPaths parse_cgroup(std::string_view text) {
  CgroupPaths paths;
  bool v1 = false;
  bool v2 = false;
  for (const std::string_view line : lines(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view names = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (line.substr(0, first) == "0" && names.empty()) {
      v2 = true;
      paths.unified = path;
      continue;
    }
    for (const std::string_view name : split(names, ',')) {
      // A named hierarchy (name=systemd) limits nothing and stands beside v2 as well.
      if (!name.starts_with("name=") && !name.empty()) {
        v1 = true;
        paths.controllers.emplace_back(name, path);
      }
    }
  }
  paths.version = v1 && v2 ? "hybrid" : (v2 ? "v2" : (v1 ? "v1" : ""));
  return paths;
}

std::optional<std::uint64_t> mount_size(std::string_view option) {
  std::uint64_t unit = 1;
  if (!option.empty()) {
    switch (option.back()) {
      case 'k':
      case 'K':
        unit = 1u << 10;
        break;
      case 'm':
      case 'M':
        unit = 1u << 20;
        break;
      case 'g':
      case 'G':
        unit = 1u << 30;
        break;
      default:
        break;
    }
  }
  if (unit != 1) {
    option.remove_suffix(1);
  }
  const auto number = to_number(option);
  if (!number || *number > UINT64_MAX / unit) {
    return std::nullopt;
  }
  return *number * unit;
}

}  // namespace goldenv::probe
