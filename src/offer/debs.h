#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"

// The file of a Debian package, from apt's own lists and sources, as offer.h reads versions from
// them. apt verified the lists when it fetched them, so that the digests in them are the
// distribution's, whichever way a file comes.
namespace goldenv::offer {

/// A package that apt could fetch.
struct Deb {
  std::string package;
  std::string version;  ///< with its epoch
  std::string url;      ///< http, https or file; may hold a password: not for people
  std::string sha256;   ///< 64 lower-case hexadecimal digits
  std::optional<std::uint64_t> size_bytes;
  friend bool operator==(const Deb&, const Deb&) = default;
};

/// The package of a name at a version: its epoch aside, and with any rest where the version ends in
/// '*', the highest then. `arch` is "amd64" or "arm64"; packages for all architectures do, too.
/// Where it is fetched from: the entry of sources.list(5) that its list is of. Errors: absent (no
/// list has it: the versions that are there; no entry of sources is of the list), failed (a list
/// could not be read, and no other has it).
Result<Deb> find_deb(const host::Host& host, std::string_view package, std::string_view version,
                     std::string_view arch);

}  // namespace goldenv::offer
