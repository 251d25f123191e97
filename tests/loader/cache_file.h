#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "loader/loader.h"

namespace goldenv::test {

inline void put_number(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  }
}

/// The names of glibc-hwcaps folders in the entries, sorted as ldconfig sorts them.
inline std::vector<std::string> hwcap_names(const std::vector<loader::CacheEntry>& entries) {
  std::set<std::string> names;
  for (const loader::CacheEntry& entry : entries) {
    if (!entry.hwcap_name.empty()) {
      names.insert(entry.hwcap_name);
    }
  }
  return {names.begin(), names.end()};
}

/// An ld.so.cache of the new format as ldconfig writes it: entries, texts, and where an entry has a
/// hwcap_name the extension that holds those (glibc 2.33 and later). `before`: bytes of the file
/// before this block, which the extension's offsets count.
inline std::string cache_file(const std::vector<loader::CacheEntry>& entries,
                              std::size_t before = 0) {
  const std::vector<std::string> names = hwcap_names(entries);
  const std::size_t table = 48 + entries.size() * 24;
  std::string strings;
  std::string rows;
  const auto add = [&](const std::string& text) {
    const std::size_t at = table + strings.size();
    strings += text + '\0';
    return at;
  };
  for (const loader::CacheEntry& entry : entries) {
    std::uint64_t hwcap = entry.hwcap;
    if (!entry.hwcap_name.empty()) {
      const auto at = std::lower_bound(names.begin(), names.end(), entry.hwcap_name);
      hwcap |= std::uint64_t{1} << 62 | static_cast<std::uint64_t>(at - names.begin());
    }
    put_number(rows, entry.flags, 4);
    put_number(rows, add(entry.soname), 4);
    put_number(rows, add(entry.path), 4);
    put_number(rows, 0, 4);
    put_number(rows, hwcap, 8);
  }
  std::string indexes;
  for (const std::string& name : names) {
    put_number(indexes, before + add(name), 4);
  }
  std::string extension;
  if (!names.empty()) {
    strings.resize((table + strings.size() + 3) / 4 * 4 - table);
    const std::size_t at = before + table + strings.size();
    put_number(extension, 0xeaa42174, 4);
    put_number(extension, 2, 4);
    constexpr std::size_t kHead = 8 + 2 * 16;
    const std::string generator = "ldconfig of a test";
    put_number(extension, 0, 4);  // generator
    put_number(extension, 0, 4);
    put_number(extension, at + kHead + indexes.size(), 4);
    put_number(extension, generator.size(), 4);
    put_number(extension, 1, 4);  // names
    put_number(extension, 0, 4);
    put_number(extension, at + kHead, 4);
    put_number(extension, indexes.size(), 4);
    extension += indexes + generator;
  }
  std::string bytes = "glibc-ld.so.cache1.1";
  put_number(bytes, entries.size(), 4);
  put_number(bytes, strings.size(), 4);
  put_number(bytes, 2, 4);  // little-endian
  put_number(bytes, names.empty() ? 0 : before + table + strings.size(), 4);
  bytes.resize(48);
  return bytes + rows + strings + extension;
}

/// The same behind an old-format block with `old` entries, as glibc before 2.32 wrote both.
inline std::string compatible_cache_file(const std::vector<loader::CacheEntry>& entries,
                                         std::size_t old) {
  std::string bytes("ld.so-1.7.0\0", 12);
  put_number(bytes, old, 4);
  bytes.append(old * 12, '\0');
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes + cache_file(entries, bytes.size());
}

}  // namespace goldenv::test
