#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

// apt's lists of packages, /var/lib/apt/lists/*_Packages: plain or compressed
// (Acquire::GzipIndexes; the image builders choose lz4, which is not read).
namespace goldenv::offer {

inline constexpr std::string_view kListsFolder = "/var/lib/apt/lists";

/// Which lists a machine has.
struct AptLists {
  std::vector<std::string> names;            ///< of files below kListsFolder that can be read
  std::map<std::string, std::size_t> other;  ///< of the others how many, by ending (".lz4")
  bool any = false;                          ///< there are some, in whatever form
};

/// Errors: those of host, but a folder that is not there has no lists.
Result<AptLists> apt_lists(const host::Host& host);

/// The content of a list in pieces, then what `finish` makes of it. In a child where the
/// file system may hang. Errors: those of host and of archive::decompress.
Result<std::string> read_list(const host::Host& host, const std::string& name,
                              const std::function<void(std::string_view piece)>& take,
                              const std::function<std::string()>& finish);

}  // namespace goldenv::offer
