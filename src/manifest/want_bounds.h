#pragma once

#include <string>

#include "facts/catalogue.h"
#include "facts/want.h"

namespace goldenv::manifest {

/// Why no machine can ever have what is wanted of a key, with what was expected, or "" where some
/// might: a count that is negative or broken, numbers that no whole one is between, a version below
/// all. Lists are looked at one by one: one that cannot be met is a slip.
std::string impossible(const facts::Resolved& key, const facts::Want& want);

}  // namespace goldenv::manifest
