#include "probe/config_folders.h"

#include <map>
#include <utility>

namespace goldenv::probe {
namespace {

constexpr std::string_view kNothing = "/dev/null";

/// A recorded tree need not have a /dev for the link to lead to.
bool is_masked(const host::Host& host, const host::DirEntry& entry, const std::string& path) {
  if (entry.kind != host::FileStatus::Kind::link) {
    return false;
  }
  const auto target = host.read_link(path);
  if (target && *target == kNothing) {
    return true;
  }
  const auto real = host.real_path(path);
  return real && *real == kNothing;
}

ConfigFile read_one(const host::Host& host, const host::DirEntry& entry, std::string path) {
  ConfigFile file;
  if (entry.kind != host::FileStatus::Kind::folder && !is_masked(host, entry, path)) {
    Result<std::string> text = host.read_file(path);
    if (text) {
      file.text = *std::move(text);
    } else if (text.error().code != Errc::absent) {  // a link that leads nowhere says nothing
      file.trouble = std::move(text).error();
    }
  }
  file.path = std::move(path);
  return file;
}

}  // namespace

ConfigFiles read_config_files(const host::Host& host, std::span<const std::string_view> folders,
                              std::string_view suffix) {
  ConfigFiles found;
  std::map<std::string, ConfigFile> by_name;
  for (const std::string_view folder : folders) {
    const auto entries = host.list(folder);
    if (!entries) {
      if (entries.error().code != Errc::absent) {
        found.unlisted.push_back(entries.error());
      }
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      if (!entry.name.ends_with(suffix) || entry.name.starts_with('.')) {
        continue;
      }
      std::string path = std::string(folder) + "/" + entry.name;
      const auto known = by_name.find(entry.name);
      if (known == by_name.end()) {
        by_name.emplace(entry.name, read_one(host, entry, std::move(path)));
        continue;
      }
      // /lib is often a link to /usr/lib: the very same file hides nothing.
      const auto real = host.real_path(path);
      const auto first = host.real_path(known->second.path);
      if (!real || !first || *real != *first) {
        known->second.hides.push_back(std::move(path));
      }
    }
  }
  for (auto& [name, file] : by_name) {
    found.files.push_back(std::move(file));
  }
  return found;
}

}  // namespace goldenv::probe
