#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/loader.h"

namespace goldenv::test {

inline void put_number(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  }
}

/// An ld.so.cache of the new format as ldconfig writes it.
inline std::string cache_file(const std::vector<loader::CacheEntry>& entries) {
  const std::size_t table = 48 + entries.size() * 24;
  std::string strings;
  std::string rows;
  for (const loader::CacheEntry& entry : entries) {
    const std::size_t soname = table + strings.size();
    strings += entry.soname + '\0';
    const std::size_t path = table + strings.size();
    strings += entry.path + '\0';
    put_number(rows, entry.flags, 4);
    put_number(rows, soname, 4);
    put_number(rows, path, 4);
    put_number(rows, 0, 4);
    put_number(rows, entry.hwcap, 8);
  }
  std::string bytes = "glibc-ld.so.cache1.1";
  put_number(bytes, entries.size(), 4);
  put_number(bytes, strings.size(), 4);
  put_number(bytes, 2, 4);  // little-endian
  bytes.resize(48);
  return bytes + rows + strings;
}

/// The same behind an old-format block with `old` entries, as glibc before 2.32 wrote both.
inline std::string compatible_cache_file(const std::vector<loader::CacheEntry>& entries,
                                         std::size_t old) {
  std::string bytes("ld.so-1.7.0\0", 12);
  put_number(bytes, old, 4);
  bytes.append(old * 12, '\0');
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes + cache_file(entries);
}

}  // namespace goldenv::test
