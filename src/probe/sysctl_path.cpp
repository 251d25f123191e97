#include "probe/sysctl_path.h"

#include <algorithm>

#include "base/text.h"

namespace goldenv::probe {
namespace {

std::string swapped(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c == '.' ? '/' : (c == '/' ? '.' : c);
  }
  return result;
}

}  // namespace

std::string sysctl_path(std::string_view name) {
  const std::string path = swapped(name);
  const auto parts = split(path, '/');
  // A name such as "kernel.///etc" would otherwise climb out of /proc/sys.
  if (std::ranges::any_of(parts, [](std::string_view part) {
        return part.empty() || part == "." || part == "..";
      })) {
    return "no such name: " + std::string(name.substr(0, name.find('/')));
  }
  return path;
}

std::string sysctl_name(std::string_view path) { return swapped(path); }

std::string one_blank(std::string_view text) {
  const std::string_view inner = trim(text);
  std::string result;
  result.reserve(inner.size());
  for (std::size_t i = 0; i < inner.size();) {
    std::size_t end = i;
    bool parts = false;
    while (end < inner.size() &&
           (inner[end] == ' ' || (inner[end] >= '\t' && inner[end] <= '\r'))) {
      parts = parts || inner[end] != ' ';
      ++end;
    }
    if (end == i) {
      result += inner[i++];
    } else {
      result += parts ? std::string_view(" ") : inner.substr(i, end - i);
      i = end;
    }
  }
  return result;
}

bool is_secret_sysctl(std::string_view name) {
  return name.ends_with("fastopen_key") || name.ends_with("stable_secret") ||
         name.ends_with("rss_key");
}

}  // namespace goldenv::probe
