#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::elf {

inline constexpr std::uint64_t kSearchLimitBytes = 1u << 30;

/// text_after for an open file: "f" and the text, or "" where the marker does not occur. Errors:
/// malformed; too_large where nothing was found in so many bytes of constants and there are more.
Result<std::string> search(int fd, std::string_view path, std::string_view marker,
                           std::size_t limit_bytes, std::uint64_t search_limit_bytes);

}  // namespace goldenv::elf
