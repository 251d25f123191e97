#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "host/memory.h"

namespace goldenv::elf {

/// What a library takes from others, of the symbols that it cannot do without (not weak).
struct Demands {
  std::vector<std::string> symbols;  ///< sorted
  /// Versions of others that it was linked with: {"libstdc++.so.6", "GLIBCXX_3.4.32"}, sorted.
  std::vector<std::pair<std::string, std::string>> versions;
};

/// Symbols whose name `begins` with one of these, "" for all. 64-bit little-endian libraries alone:
/// Linux on x86-64 and Arm. Errors: those of Host::inspect; malformed; too_large (more than a
/// million symbols, names of more than 64 MiB).
Result<Demands> demands(const host::Host& host, std::string_view path,
                        const std::vector<std::string>& begins);

/// Which of some symbols a library does not define, sorted; looked up in its hash table, so that of
/// a library with 300 000 symbols some pages are read. With a memory a file that was asked the same
/// before is not read again. Errors: those of Host::inspect; malformed.
Result<std::vector<std::string>> not_defined(const host::Host& host, std::string_view path,
                                             const std::vector<std::string>& symbols,
                                             host::Memory* memory = nullptr);

/// The same of open files; texts with a line each: "s NAME", "v LIBRARY VERSION"; "NAME".
Result<std::string> read_demands(int fd, std::string_view path,
                                 const std::vector<std::string>& begins);
Result<std::string> read_not_defined(int fd, std::string_view path,
                                     const std::vector<std::string>& symbols);

}  // namespace goldenv::elf
