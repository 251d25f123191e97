#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/object.h"
#include "unpack/crew.h"
#include "unpack/tree.h"
#include "unpack/unpack.h"

namespace goldenv::unpack {

/// What was unpacked into a tree. Paths are below it.
struct Contents {
  std::vector<store::File> files;           ///< in no order; links among them
  std::vector<std::string> elf;             ///< files that begin as ELF files do
  std::vector<std::string> python_scripts;  ///< files of bin/ that begin with "#!python"
  std::vector<store::Root> roots;
  std::vector<store::Script> scripts;
};

/// Whether a file begins as ELF files do.
bool is_elf(std::string_view head);

/// A wheel's members: to site/, and those of its .data to bin/, include/, data/. Python sources are
/// compiled, and RECORD is written anew as pip would have it after an installation. `folder` is the
/// tree's absolute path. Errors: as realise.
Result<Contents> unpack_wheel(const Job& job, int artifact, int tree, const std::string& folder,
                              Crew& crew);

/// Any other archive: as an environment has it, by strip and place. Errors: as realise.
Result<Contents> unpack_archive(const Job& job, int artifact, int tree, Crew& crew);

/// The shape of a tree. `tree` is its open folder. Errors: failed.
Result<store::Shape> shape_of(const Job& job, const Contents& contents, int tree);

}  // namespace goldenv::unpack
