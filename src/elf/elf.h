#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "host/memory.h"

namespace goldenv::elf {

/// What an ELF file says of itself. Read by libelf from a descriptor, header tables and small
/// sections only, so that a library of 500 MB costs a few pages. Why libelf: it reads both classes
/// and both byte orders and is fuzzed. What it would read whole (string tables) is read here in
/// pieces.
struct Image {
  std::uint16_t machine = 0;  ///< e_machine
  bool is_64bit = true;
  std::string build_id;  ///< lower-case hex of NT_GNU_BUILD_ID, or ""
  std::string soname;
  std::vector<std::string> needed;   ///< DT_NEEDED in order
  std::vector<std::string> rpath;    ///< DT_RPATH split at ':'; empty if DT_RUNPATH is there
  std::vector<std::string> runpath;  ///< DT_RUNPATH split at ':'
  bool no_default_folders = false;   ///< DF_1_NODEFLIB of DT_FLAGS_1
  /// Names in .gnu.version_d, in order, without the file's own: GLIBCXX_3.4.30.
  std::vector<std::string> version_definitions;
  friend bool operator==(const Image&, const Image&) = default;
};

/// Errors: those of Host::inspect, and malformed where it is no ELF file or a table leads outside
/// it.
Result<Image> read(const host::Host& host, std::string_view path);

/// The printable ASCII text that follows `marker` where the marker first occurs in a section of
/// constants (.rodata; the whole file where there are no section headers), up to the first other
/// byte or `limit_bytes`; none where it does not occur. Reads in blocks. With a memory, a file that
/// was searched for the same marker before is not read again.
/// Errors: those of Host::inspect; malformed where it is no ELF file; too_large where nothing was
/// found in the first GiB of constants.
Result<std::optional<std::string>> text_after(const host::Host& host, std::string_view path,
                                              std::string_view marker,
                                              std::size_t limit_bytes = 128,
                                              host::Memory* memory = nullptr);

}  // namespace goldenv::elf
