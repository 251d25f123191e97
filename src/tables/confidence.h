#pragma once

#include <cstdint>

namespace goldenv::tables {

/// How a row of a table is known.
enum class Confidence : std::uint8_t {
  certain,   ///< read in what its maker published: METADATA, release notes, source code
  reported,  ///< as another's build recipes or listings say it
  guess,     ///< from memory: never grounds to call something impossible
};

}  // namespace goldenv::tables
