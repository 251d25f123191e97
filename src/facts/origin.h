#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/reading.h"

namespace goldenv::facts {

/// A line of a file that sets a value, or would.
struct OriginLine {
  std::string file;
  std::uint32_t line = 0;  ///< 0: the file as a whole
  std::string text;        ///< as written; "" where it may be a secret

  friend bool operator==(const OriginLine&, const OriginLine&) = default;
};

/// What is known of a file: when it was changed, whose it is, who last touched that.
struct OriginFile {
  std::string path;
  std::string real_path;                     ///< where that differs
  std::optional<std::int64_t> changed_ns{};  ///< since 1970, UTC; not known of recorded machines
  std::string package;                       ///< "procps 2:4.0.2-3"; "" where none lists it
  std::string unowned;                       ///< why no package is named
  std::string touched;     ///< last entry of the package log: "2026-11-30 13:24:56 upgrade ..."
  std::string touched_by;  ///< "alice (1000): apt-get install zstd"

  friend bool operator==(const OriginFile&, const OriginFile&) = default;
};

/// What set a value, and what the next boot will set.
struct Origin {
  std::vector<OriginLine> set_by;  ///< lines in force, in the order in which they act
  std::vector<OriginLine> over;    ///< lines that those override
  std::vector<OriginFile> files;   ///< of set_by, each once; else the file that was read
  std::vector<std::string> notes;
  std::optional<Fact> next_boot;

  [[nodiscard]] bool empty() const {
    return set_by.empty() && over.empty() && files.empty() && notes.empty() && !next_boot;
  }
};

}  // namespace goldenv::facts
