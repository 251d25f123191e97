#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// What kind of system this is, and the signs of it.
struct Platform {
  enum class Kind { linux_, wsl2, jetson };
  Kind kind = Kind::linux_;
  std::vector<std::string> signs;  ///< "/dev/dxg exists", ...
  std::string l4t;                 ///< Jetson Linux release, "35.4.1", or ""
  /// Why it may be another kind: signs that would decide it could not be looked for.
  std::optional<Error> unseen;
};

/// Found at the first call.
const Platform& platform_of(Survey& survey);

/// "35.4.1" from the first line of /etc/nv_tegra_release, or "":
///   # R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: ...
std::string parse_l4t(std::string_view text);

}  // namespace goldenv::probe
