#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// A program that a shell would start by its name.
struct Program {
  std::string path;               ///< the first on PATH
  std::string real_path;          ///< its file
  std::vector<std::string> hops;  ///< links on the way, from path to real_path
};

/// `name` on the source's PATH; on the usual one where the source records no environment. Links to
/// ccache and its like, which go on to the next of that name, are passed over.
/// Errors: absent where none is there; others where a folder of PATH before it could not be looked
/// at.
Result<Program> find_program(Survey& survey, std::string_view name);

}  // namespace goldenv::probe
