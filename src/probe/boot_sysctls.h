#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "host/host.h"
#include "probe/probe.h"
#include "probe/sysctl_settings.h"

namespace goldenv::probe {

/// All that sets sysctls on a machine.
struct SysctlSettings {
  enum class By { systemd, procps, nobody };
  By by = By::nobody;
  std::vector<SysctlSetting> settings;  ///< in the order in which they are read
  /// Globs of files that are left when each assignment to one and the same glob has replaced the
  /// one before it, in the order in which they are applied. Indices into `settings`.
  std::vector<std::size_t> globs;
  /// What could not be read; settings that stand before `before` might be overridden by it.
  struct Hole {
    std::size_t before = 0;
    Error error;
    bool early = false;  ///< the command line, which sets before any file
  };
  std::vector<Hole> holes;
  /// A file and one of the same name that it hides.
  std::vector<std::pair<std::string, std::string>> hidden;
  std::string nobody;   ///< why nothing applies the files
  bool masked = false;  ///< whether that is certain: systemd-sysctl.service is masked
};

/// `with_run`: with the files of /run/sysctl.d, which the next boot finds only if what wrote them
/// does so again.
SysctlSettings read_sysctl_settings(const host::Host& host, bool with_run);

/// What decides one name.
struct SysctlChoice {
  const SysctlSetting* winner = nullptr;    ///< none: nothing sets it
  const SysctlSetting* kept_off = nullptr;  ///< a `-key` that keeps globs off it
  std::vector<const SysctlSetting*> over;   ///< those that it overrides, in their order
  const Error* open = nullptr;              ///< what might set it otherwise
};
SysctlChoice choose_sysctl(const SysctlSettings& settings, std::string_view name);

/// Both views of one machine, read once a survey.
struct BootSysctls {
  SysctlSettings with_run;
  std::optional<SysctlSettings> without_run;  ///< where /run/sysctl.d holds any file
};
BootSysctls read_boot_sysctls(const host::Host& host);
const BootSysctls& boot_sysctls(Survey& survey);

/// next_boot.sysctl.<name>.
struct NextSysctl {
  facts::Reading reading;
  facts::Evidence evidence;
};
NextSysctl next_sysctl(const BootSysctls& all, std::string_view name);

}  // namespace goldenv::probe
