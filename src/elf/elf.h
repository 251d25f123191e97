#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::elf {

/// What an ELF file says of itself. Read by libelf from a descriptor, header tables and small sections
/// only, so that a library of 500 MB costs a few pages.
struct Image {
  std::uint16_t machine = 0;   ///< e_machine
  bool is_64bit = true;
  std::string build_id;        ///< lower-case hex of NT_GNU_BUILD_ID, or ""
  std::string soname;
  std::vector<std::string> needed;   ///< DT_NEEDED in order
  std::vector<std::string> rpath;    ///< DT_RPATH split at ':'; empty if DT_RUNPATH is there
  std::vector<std::string> runpath;  ///< DT_RUNPATH split at ':'
  std::vector<std::string> version_definitions;  ///< names in .gnu.version_d: GLIBCXX_3.4.30
  friend bool operator==(const Image&, const Image&) = default;
};

/// Errors: those of Host::inspect, and malformed where it is no ELF file or a table leads outside it.
Result<Image> read(const host::Host& host, std::string_view path);

/// The printable ASCII text that follows `marker` where the marker first occurs in a section of
/// constants (.rodata; the whole file where there are no section headers), up to a NUL or
/// `limit_bytes`; none where it does not occur. Reads in blocks.
Result<std::optional<std::string>> text_after(const host::Host& host, std::string_view path,
                                              std::string_view marker,
                                              std::size_t limit_bytes = 128);

}  // namespace goldenv::elf
