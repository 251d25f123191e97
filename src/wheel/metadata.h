#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wheel/name.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"
#include "wheel/tags.h"

namespace goldenv::wheel {

/// METADATA of a dist-info: header lines as in mail, up to the first empty line.
struct Metadata {
  std::string metadata_version;  ///< "2.1"
  std::string name;              ///< as written
  std::string version;           ///< as written
  std::string requires_python;   ///< as written; empty: any
  std::vector<Requirement> requires_dist;
  std::vector<std::string> provides_extra;  ///< normalised
};
/// Errors: malformed: no name or version, or one that is none; a Metadata-Version of another major
/// than 1 and 2; a Requires-Dist that cannot be read, which would be a dependency overlooked.
Result<Metadata> parse_metadata(std::string_view text);

/// Whether a Python of that full version ("3.11.7") is one that Requires-Python takes. One that
/// cannot be read asks for nothing, as it does for pip.
bool fits_python(const Metadata& metadata, std::string_view version);

/// WHEEL of a dist-info.
struct WheelFile {
  std::string wheel_version;  ///< "1.0"
  std::string generator;
  bool root_is_purelib = false;
  std::vector<Tag> tags;  ///< in order
  BuildTag build;
};
/// Errors: malformed: no Wheel-Version or another major than 1, Root-Is-Purelib neither true nor
/// false, a tag that is none.
Result<WheelFile> parse_wheel_file(std::string_view text);

/// What a wheel's METADATA and WHEEL say against the name it was chosen by; empty where they agree.
std::string disagreement(const WheelName& wheel, const Metadata& metadata);

/// A script to be made at installation.
struct EntryPoint {
  std::string name;
  std::string module;    ///< "numpy.f2py.f2py2e"
  std::string function;  ///< "main", "Class.method"
  bool gui = false;

  friend bool operator==(const EntryPoint&, const EntryPoint&) = default;
};
/// console_scripts and gui_scripts of entry_points.txt, in order; other groups are passed over.
/// A UTF-8 byte order mark is skipped. Errors: malformed: another encoding than UTF-8, a script
/// whose name is no file name or whose object is none.
Result<std::vector<EntryPoint>> parse_entry_points(std::string_view text);

}  // namespace goldenv::wheel
