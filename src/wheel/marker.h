#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"

namespace goldenv::wheel {

/// What markers ask of a target. A value that is not known is none: what hangs on it is unknown.
struct MarkerEnvironment {
  std::optional<std::string> os_name = "posix";
  std::optional<std::string> sys_platform = "linux";
  std::optional<std::string> platform_system = "Linux";
  std::optional<std::string> platform_machine;  ///< "x86_64"
  std::optional<std::string> platform_release;  ///< of the kernel, as uname gives it
  std::optional<std::string> platform_version;
  std::optional<std::string> python_version;       ///< "3.11"
  std::optional<std::string> python_full_version;  ///< "3.11.7"
  std::optional<std::string> implementation_name = "cpython";
  std::optional<std::string> implementation_version;  ///< "3.11.7"
  std::optional<std::string> platform_python_implementation = "CPython";
  std::string extra;                           ///< the one extra that is asked about
  std::vector<std::string> extras;             ///< PEP 751: all that were asked for
  std::vector<std::string> dependency_groups;  ///< PEP 751
};

/// CPython `full_version` ("3.11.7", "3.13.0rc2") on Linux on `machine`.
MarkerEnvironment linux_environment(std::string_view full_version, std::string_view machine);

/// An environment marker (PEP 508) as a tree.
struct Marker {
  enum class Kind { comparison, all, any };
  Kind kind = Kind::comparison;
  std::vector<Marker> parts;  ///< of all and any
  // Of a comparison, of whose sides at most one is a literal text or both:
  std::string left;
  std::string right;
  bool left_is_variable = false;
  bool right_is_variable = false;
  std::string op;  ///< "==", "in", "not in", ...

  friend bool operator==(const Marker&, const Marker&) = default;
};

/// `python_version >= "3.8" and extra == 'test'`. At most 16 KiB, nested at most 64 deep. The
/// variables' old spellings (os.name, python_implementation) are read as the new ones. Errors:
/// malformed, with the byte at which it goes wrong.
Result<Marker> parse_marker(std::string_view text);

/// Whether it holds. Sides that are versions are compared as such, others as texts; what compares
/// to no answer (~= of texts) is unknown, as is everything about a value that is not known.
Truth evaluate(const Marker& marker, const MarkerEnvironment& environment);

/// Whether it holds for any of the extras, or without one where there is none, as pip asks.
Truth holds(const Marker& marker, MarkerEnvironment environment,
            const std::vector<std::string>& extras);

/// In one spelling: double quotes, parentheses where needed.
std::string render(const Marker& marker);

}  // namespace goldenv::wheel
