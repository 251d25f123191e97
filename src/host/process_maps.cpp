#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "host/process.h"

namespace goldenv::host {
namespace {

std::optional<std::uint64_t> hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

/// A line feed in a path stands as \012 in maps; a backslash stands for itself.
std::string path_of(std::string_view text) {
  std::string path(text);
  for (std::size_t at = path.find("\\012"); at != std::string::npos; at = path.find("\\012", at)) {
    path.replace(at++, 4, "\n");
  }
  return path;
}

}  // namespace

std::vector<MappedFile> parse_maps(std::string_view text) {
  std::vector<MappedFile> files;
  for (const std::string_view line : lines(text)) {
    // "7f12c000-7f12e000 r-xp 00000000 fd:01 1234    /usr/lib/libnccl.so.2.18.3": the path begins
    // at the first slash, since nothing before it has one.
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) {
      continue;
    }
    const auto fields = words(line.substr(0, slash));
    const std::size_t colon = fields.size() == 5 ? fields[3].find(':') : std::string_view::npos;
    const auto inode = fields.size() == 5 ? to_number(fields[4]) : std::nullopt;
    if (colon == std::string_view::npos || !inode || *inode == 0 ||
        fields[0].find('-') == std::string_view::npos) {
      continue;
    }
    const auto major = hex(fields[3].substr(0, colon));
    const auto minor = hex(fields[3].substr(colon + 1));
    if (!major || !minor) {
      continue;
    }
    files.push_back({path_of(line.substr(slash)), std::string(fields[0]),
                     makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor)),
                     *inode});
  }
  // The first range of each: ranges are in the order of addresses.
  std::ranges::stable_sort(files, {}, &MappedFile::path);
  const auto alike = [](const MappedFile& x, const MappedFile& y) { return x.path == y.path; };
  files.erase(std::unique(files.begin(), files.end(), alike), files.end());
  return files;
}

}  // namespace goldenv::host
