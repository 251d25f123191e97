#pragma once

#include <vector>

#include "host/host.h"

namespace goldenv::host {

/// This machine's mount table; empty where /proc is not mounted.
std::vector<Mount> live_mounts();

}  // namespace goldenv::host
