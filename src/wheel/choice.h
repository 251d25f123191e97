#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "wheel/name.h"
#include "wheel/page.h"
#include "wheel/tags.h"

namespace goldenv::wheel {

/// One version of one project, for one Python.
struct Wanted {
  std::string name;
  std::string version;
  /// "2.2.1" on an index serves "2.2.1+cu121", as only a table can know.
  bool plain_serves = false;
  std::string python;           ///< the Python's full version, "3.11.7": for Requires-Python
  std::vector<Sha256> digests;  ///< of a lock: only files with one of them; empty: any
};

struct Choice {
  PageFile file;  ///< sha256 is set: by the page, or by the one digest of the lock
  WheelName wheel;
  std::vector<std::string> remarks;  ///< "numpy-...whl is yanked: broken"
};

/// The file that pip would take for `name==version` with these files and tags, or why there is
/// none. Two rules are stricter than pip's. A version without local label takes files without one
/// where there are any, and where there are several labels and no plain file none is guessed. A
/// file without SHA-256 is refused unless the lock gives it. A yanked file is taken where nothing
/// else fits, since the version is asked for exactly (PEP 592), and a remark says so.
/// Errors: malformed (the wanted version is none), absent (nothing of that version: the nearest
/// versions; sources only; other Pythons or platforms only, named), failed (digests).
Result<Choice> choose(const std::vector<PageFile>& files, const Wanted& wanted,
                      const Target& target, const TagRanks& ranks);

/// The versions that wheels and sources of a page have, ascending, one spelling each; whatever has
/// another project's name is left aside.
std::vector<std::string> offered_versions(const std::vector<PageFile>& files,
                                          std::string_view name);

}  // namespace goldenv::wheel
