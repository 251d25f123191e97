#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Names of Python packages and of the files they come in. This room reads texts and nothing else:
// pages and lock files are given to it, and it says which file is meant or why none is.
namespace goldenv::wheel {

/// Whether a text may name a package or an extra: ASCII letters and digits, with -_. between them
/// (PEP 508), at most 256 bytes.
bool is_name(std::string_view text);

/// PEP 503: lower case, each run of -_. one '-'. Of any text; only is_name texts name packages.
std::string normalised_name(std::string_view name);

/// The form inside file names: normalised, with '_' for '-' ("nvidia_nccl_cu12").
std::string escaped_name(std::string_view name);

/// What orders files of one version that differ in nothing else: "1" or "2cu" of PEP 427. A file
/// without one is before all that have one.
struct BuildTag {
  std::string digits;  ///< without leading zeros; "0" for zero; empty where there is no build tag
  std::string rest;

  [[nodiscard]] bool empty() const { return digits.empty(); }
  friend bool operator==(const BuildTag&, const BuildTag&) = default;
};
std::strong_ordering order(const BuildTag& a, const BuildTag& b);

/// The name of a wheel: name-version[-build]-python-abi-platform.whl (PEP 427), each of the last
/// three several words with dots between them.
struct WheelName {
  std::string file;
  std::string name;     ///< normalised
  std::string version;  ///< as written there: "2.2.1+cu121"
  BuildTag build;
  std::vector<std::string> pythons;  ///< lower case, in the order of the name
  std::vector<std::string> abis;
  std::vector<std::string> platforms;

  friend bool operator==(const WheelName&, const WheelName&) = default;
};
/// Read from the right: five or six parts. Refused, too: a version that is none, a build tag that
/// begins with no digit, more than 128 combinations of tags. Errors: malformed, naming the file.
Result<WheelName> parse_wheel_name(std::string_view file);

/// The name of a source distribution: name-version.tar.gz or .zip, split at the last '-'; older
/// ones also have .tar.bz2 and .tgz.
struct SourceName {
  std::string name;     ///< normalised
  std::string version;  ///< as written
  friend bool operator==(const SourceName&, const SourceName&) = default;
};
/// Errors: malformed, naming the file.
Result<SourceName> parse_source_name(std::string_view file);

/// Folders inside a wheel: "numpy-1.26.4.dist-info", "numpy-1.26.4.data". Made of the first two
/// parts of the file's name as written there, which is what builders do.
std::string dist_info_folder(const WheelName& wheel);
std::string data_folder(const WheelName& wheel);

}  // namespace goldenv::wheel
