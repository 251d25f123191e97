#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "unpack/crew.h"

namespace goldenv::unpack {

struct Compiler {
  std::string interpreter;  ///< "/usr/bin/python3.11"; "": nothing is compiled
  std::string tag;          ///< "cp311"; "": not checked
  std::chrono::seconds deadline{900};
};

/// Compiles the Python sources `files` (below `folder`, an absolute path) beside them. Equal
/// sources give equal files: names are relative, and the digest of the source is in them in place
/// of its time, which nothing asks for (unchecked-hash). Sources of another Python's syntax stay as
/// they are. Nothing of the package is run, nor the interpreter's own site-packages. Errors: failed
/// (no interpreter, one of another version, the deadline).
Result<void> precompile(const Compiler& compiler, const std::string& folder,
                        const std::vector<std::string>& files, Crew& crew);

/// The name of a compiled file: "cpython-311" of "cp311".
std::string cache_tag(const std::string& tag);

}  // namespace goldenv::unpack
