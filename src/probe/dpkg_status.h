#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// One stanza of dpkg's status file. Views into the text.
struct DpkgPackage {
  std::string_view name;
  std::string_view version;
  std::string_view architecture;
  std::string_view want;   ///< install, hold, deinstall, purge
  std::string_view state;  ///< installed, config-files, half-configured, ...
  std::uint32_t line = 0;  ///< of its Package field

  /// Unpacked and configured; a trigger may still have to run.
  [[nodiscard]] bool is_installed() const {
    return state == "installed" || state == "triggers-pending" || state == "triggers-awaited";
  }
};

/// In the order of the file. Format: deb-control stanzas, `Status: install ok installed`. Stanzas
/// that lack a field are passed over, since dpkg writes none such.
std::vector<DpkgPackage> parse_dpkg_status(std::string_view text);

/// The package list of the surveyed machine.
struct DpkgStatus {
  std::string from;  ///< /var/lib/dpkg/status, or the folder status.d of images without dpkg
  std::string text;
  std::vector<DpkgPackage> packages;  ///< views into text
  std::string_view native;            ///< architecture of dpkg itself, or ""

  /// Whether it is of another architecture than dpkg's own.
  [[nodiscard]] bool is_foreign(const DpkgPackage& package) const;
  /// "libc6", or "libc6:i386" for another architecture than dpkg's own.
  [[nodiscard]] std::string name_of(const DpkgPackage& package) const;
};

/// Read once a survey. Errors: absent where there is no dpkg, else those of the host.
const Result<DpkgStatus>& dpkg_status(Survey& survey);

}  // namespace goldenv::probe
