#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace goldenv::probe {

/// An amount of /proc/meminfo or a node's meminfo: bytes where the line says kB, else a count.
struct MemoryLine {
  std::optional<std::uint64_t> amount;  ///< none where the line holds no number, or one too large
  std::uint32_t line = 0;
};

/// "MemTotal:  1056312345 kB" or "Node 0 MemTotal:  528 kB"; none where there is no such line.
std::optional<MemoryLine> find_memory_line(std::string_view text, std::string_view field);

/// AT_PAGESZ of /proc/<pid>/auxv as a 64-bit little-endian machine writes it; none where it is
/// missing or no power of two. Source: proc(5), elf.h.
std::optional<std::uint64_t> page_size_in_auxv(std::string_view bytes);

}  // namespace goldenv::probe
