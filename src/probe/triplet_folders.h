#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// Debian's folders of the machine's own kind below `base`: "/usr/lib/x86_64-linux-gnu" of
/// "/usr/lib", whether that is there or not. Where the source does not say what machine it is of (a
/// tree without /proc and a shell), all of 64 bits that are there; a `base` that cannot be listed
/// is told in `unseen`.
std::vector<std::string> triplet_folders(const host::Host& host, const std::string& base,
                                         std::vector<Error>& unseen);

}  // namespace goldenv::probe
