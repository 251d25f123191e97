#pragma once

#include <string>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// What uname(2) would say of the machine ("x86_64", "aarch64") that a tree was taken from, by the
/// header of a program in it that every system has, else by /proc/cpuinfo.
/// Errors: not_collected where neither tells.
Result<std::string> machine_of(const Host& tree);

}  // namespace goldenv::host
