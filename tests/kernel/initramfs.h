#pragma once

#include <cstdio>
#include <map>
#include <set>
#include <string>

namespace goldenv::test {

/// The files of a root folder by their absolute paths, all of mode 0755.
using Tree = std::map<std::string, std::string>;

/// The folders above the files of a tree, each before what lies in it.
inline std::set<std::string> folders_of(const Tree& tree) {
  std::set<std::string> folders;
  for (const auto& [path, content] : tree) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
      folders.insert(path.substr(0, at));
    }
  }
  return folders;
}

/// A tree as the kernel unpacks it at boot. Format: "newc" of cpio(5); the kernel's
/// driver-api/early-userspace/buffer-format.
inline std::string initramfs_of(const Tree& tree) {
  std::string archive;
  unsigned number = 0;
  const auto pad = [&] { archive.append((4 - archive.size() % 4) % 4, '\0'); };
  const auto add = [&](const std::string& path, unsigned mode, const std::string& content) {
    const std::string name = path.starts_with('/') ? path.substr(1) : path;
    char header[6 + 13 * 8 + 1];
    std::snprintf(header, sizeof header,
                  "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++number, mode, 0U,
                  0U, 1U, 0U, static_cast<unsigned>(content.size()), 0U, 0U, 0U, 0U,
                  static_cast<unsigned>(name.size() + 1), 0U);
    archive += header + name + '\0';
    pad();
    archive += content;
    pad();
  };
  for (const std::string& folder : folders_of(tree)) {
    add(folder, 0040755, "");
  }
  for (const auto& [path, content] : tree) {
    add(path, 0100755, content);
  }
  add("TRAILER!!!", 0, "");
  return archive;
}

}  // namespace goldenv::test
