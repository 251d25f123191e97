#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::compose {

/// Where a file that a process has mapped comes from.
enum class Provenance {
  object,   ///< of an object of the store
  system,   ///< the C library, the compiler's, the driver's: no environment brings these
  foreign,  ///< anything else
  deleted,  ///< no longer there under its name
};

struct MappedLibrary {
  std::string path;
  Provenance provenance = Provenance::foreign;
  std::string object;  ///< its id, of an object
  friend bool operator==(const MappedLibrary&, const MappedLibrary&) = default;
};

/// The files that a process has mapped with code in them or that are called like libraries, by the
/// text of /proc/PID/maps, which names what links lead to. Sorted by path, each once. `store` is
/// the store's folder without links. Source: proc(5).
std::vector<MappedLibrary> mapped_libraries(std::string_view maps, std::string_view store);

}  // namespace goldenv::compose
