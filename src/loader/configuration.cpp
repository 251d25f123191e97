#include <fnmatch.h>

#include <algorithm>

#include "base/text.h"
#include "loader/loader.h"

namespace goldenv::loader {
namespace {

constexpr int kIncludeDepth = 8;
constexpr std::size_t kFileLimit =
    1000;  // files read; a folder of a million *.conf is no configuration

std::string below(std::string_view folder, std::string_view name) {
  return std::string(folder == "/" ? "" : folder) + "/" + std::string(name);
}

bool has_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

/// Paths that an absolute glob(7) pattern names, sorted; those without wildcards as they are.
std::vector<std::string> matches(const host::Host& host, std::string_view pattern,
                                 std::vector<Error>& unseen) {
  std::vector<std::string> found{""};
  for (const std::string_view part : split(pattern, '/')) {
    if (part.empty()) {
      continue;
    }
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (!has_glob(part)) {
        next.push_back(below(folder, part));
        continue;
      }
      const auto entries = host.list(folder.empty() ? "/" : folder);
      if (!entries) {
        if (entries.error().code != Errc::absent) {
          unseen.push_back(entries.error());
        }
        continue;
      }
      const std::string wanted(part);
      for (const host::DirEntry& entry : *entries) {
        if (fnmatch(wanted.c_str(), entry.name.c_str(), FNM_PERIOD) == 0) {
          next.push_back(below(folder, entry.name));
        }
      }
    }
    found = std::move(next);
  }
  std::ranges::sort(found);
  return found;
}

struct Reading {
  const host::Host& host;
  Configuration found;
  std::size_t files = 0;

  // Format: ldconfig(8) and parse_conf of glibc elf/ldconfig.c. One folder a line, perhaps with the
  // old suffix "=libc6"; "include PATTERN.."; "hwcap" lines mean nothing since glibc 2.33.
  void read(const std::string& path, int depth) {
    if (depth > kIncludeDepth || ++files > kFileLimit) {
      found.unseen.push_back(
          Error{Errc::too_large, path + ": included too deep, or too many files before it", {}});
      return;
    }
    const auto text = host.read_file(path);
    if (!text) {
      if (text.error().code != Errc::absent) {
        found.unseen.push_back(text.error());
      }
      return;
    }
    for (const std::string_view written : lines(*text)) {
      const std::string_view line = trim(written.substr(0, written.find('#')));
      const std::vector<std::string_view> parts = words(line);
      if (parts.empty() || parts[0] == "hwcap") {
        continue;
      }
      if (parts[0] == "include") {
        for (std::size_t i = 1; i < parts.size(); ++i) {
          include(path, parts[i], depth);
        }
        continue;
      }
      add(line.substr(0, line.find('=')));
    }
  }

  void include(const std::string& from, std::string_view pattern, int depth) {
    const std::string absolute =
        pattern.starts_with('/')
            ? std::string(pattern)
            : below(std::string_view(from).substr(0, from.rfind('/')), pattern);
    for (const std::string& path : matches(host, absolute, found.unseen)) {
      read(path, depth + 1);
    }
  }

  void add(std::string_view folder) {
    folder = trim(folder);
    while (folder.size() > 1 && folder.ends_with('/')) {
      folder.remove_suffix(1);
    }
    std::vector<std::string>& folders = found.folders;
    if (folder.starts_with('/') && std::ranges::find(folders, folder) == folders.end()) {
      folders.emplace_back(folder);
    }
  }
};

}  // namespace

Configuration configuration(const host::Host& host) {
  Reading reading{host, {}, 0};
  reading.read("/etc/ld.so.conf", 0);
  return std::move(reading.found);
}

std::vector<std::string> configured_folders(const host::Host& host) {
  return configuration(host).folders;
}

}  // namespace goldenv::loader
