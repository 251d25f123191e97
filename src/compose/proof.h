#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compose/compose.h"

namespace goldenv::compose {

/// A library that an ELF file of the environment needs and that an object has, but that no search
/// path of the file's own leads to: it is found only where another has loaded it before (torch's
/// extensions do so), so that only the running process can tell.
struct Unproved {
  std::string file;     ///< below the environment
  std::string library;  ///< "libc10.so"
  friend bool operator==(const Unproved&, const Unproved&) = default;
};

struct Proof {
  std::size_t proved = 0;  ///< needed names that are found at an object's own file
  std::vector<Unproved> unproved;
};

/// Walks every search path of every ELF file as the loader would, on paper: $ORIGIN is the text by
/// which the file is opened, and `..` behind a link steps out of what the link leads to. Each
/// $ORIGIN entry whose text names a folder of the environment must lead to that very folder, and
/// each needed name that an object has must be found at an object's file. Of the disk only folders
/// that an entry names absolutely are asked. Source: elf/dl-load.c and dl-object.c of glibc 2.17 to
/// 2.42, path_resolution(7). Errors: failed, with the file, the library and where it would lead.
Result<Proof> prove_on_paper(const Plan& plan);

}  // namespace goldenv::compose
