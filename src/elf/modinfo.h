#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace goldenv::elf {

/// What a kernel module says of itself in its section .modinfo: names and values in order, repeats
/// kept (alias, parm).
using Modinfo = std::vector<std::pair<std::string, std::string>>;

/// "version=535.129.03\0vermagic=6.1.0-57-amd64 SMP mod_unload \0...": what has no '=' is passed
/// over, and a text that does not end with the section is kept. Source: modinfo(8), the kernel's
/// linux/module.h.
Modinfo parse_modinfo(std::string_view section);

/// Of an open file that is not compressed. Errors: malformed (no ELF file, no such section, one
/// that lies outside the file or is larger than 1 MiB), unreadable.
Result<Modinfo> read_modinfo(int fd, std::string_view path);

/// The first value of a name.
std::optional<std::string_view> value_of(const Modinfo& modinfo, std::string_view name);

}  // namespace goldenv::elf
