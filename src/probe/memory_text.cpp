#include "probe/memory_text.h"

#include <cstddef>

#include "base/text.h"

namespace goldenv::probe {
namespace {

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8u | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

std::optional<MemoryLine> find_memory_line(std::string_view text, std::string_view field) {
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const auto name = words(line.substr(0, colon));
    if (name.empty() || name.back() != field) {
      continue;
    }
    MemoryLine found;
    found.line = number;
    const auto value = words(line.substr(colon + 1));
    if (!value.empty()) {
      found.amount = to_number(value[0]);
      const bool kib = value.size() > 1 && value[1] == "kB";
      if (found.amount && kib) {
        found.amount = *found.amount <= UINT64_MAX / 1024
                           ? std::optional<std::uint64_t>(*found.amount * 1024)
                           : std::nullopt;
      }
    }
    return found;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> page_size_in_auxv(std::string_view bytes) {
  constexpr std::uint64_t kPageSize = 6;  // AT_PAGESZ
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    const std::uint64_t type = little_endian(bytes.substr(at, 8));
    if (type == 0) {
      break;
    }
    if (type == kPageSize) {
      const std::uint64_t size = little_endian(bytes.substr(at + 8, 8));
      const bool power_of_two = size != 0 && (size & (size - 1)) == 0;
      return power_of_two ? std::optional(size) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace goldenv::probe
