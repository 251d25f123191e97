#pragma once

#include <string_view>

#include "base/result.h"
#include "elf/elf.h"

namespace goldenv::elf {

/// read for an open file; `path` is for errors. Errors: malformed, unreadable.
Result<Image> read_open(int fd, std::string_view path);

}  // namespace goldenv::elf
