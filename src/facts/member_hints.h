#pragma once

#include <string>

#include "facts/reading.h"

namespace goldenv::facts {

/// Of a family any member can be named, so that a slip in one ("env.NCCL_DBUG") is no error: the
/// well-known key that is one slip away, or "". For variables and kernel modules; packages have too
/// many names for that.
std::string nearest_member(const FactKey& key);

}  // namespace goldenv::facts
