#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// The units of the system as the folders of systemd list them, without asking systemd. Source:
/// systemd.unit(5).
struct SystemUnits {
  std::map<std::string, std::string, std::less<>> files;  ///< unit -> file that counts
  /// Unit -> link in a NAME.wants or NAME.requires folder, which starts it with that one.
  std::map<std::string, std::string, std::less<>> wanted;
  std::vector<Error> unseen;  ///< folders that are there and could not be listed
  bool is_systemd = false;    ///< any folder of systemd is there

  /// The file of a unit, or of the template that it is an instance of; "" where there is none.
  [[nodiscard]] std::string file_of(std::string_view unit) const;
};

/// Listed once a survey.
const SystemUnits& system_units(Survey& survey);

/// Whether there is such a unit: nothing, or the reading of every fact about it: absent, or unknown
/// where a folder could not be listed.
std::optional<facts::Reading> without_unit(const SystemUnits& units, std::string_view unit);

/// Whether a unit is started at boot: boolean. A unit that is masked is not, whatever links to it.
struct UnitEnabled {
  facts::Reading reading;
  facts::Evidence evidence;
};
UnitEnabled unit_enabled(Survey& survey, const std::string& unit);

/// Whether a unit runs, by its control group.
struct UnitRunning {
  /// "active"; "inactive or failed" where it has no process (only systemd's memory tells the two
  /// apart), "inactive" where systemd does not run at all; unknown.
  facts::Reading reading;
  facts::Evidence evidence;
  std::optional<std::uint32_t> oldest_pid = std::nullopt;
  /// Unix time at which its oldest process started.
  std::optional<std::uint64_t> started_s = std::nullopt;
};
UnitRunning unit_running(Survey& survey, const std::string& unit);

/// Seconds after boot at which a process started.
std::optional<std::uint64_t> seconds_of_start(const host::Host& host, std::uint32_t pid);
/// Unix time of boot: `btime` of /proc/stat.
std::optional<std::uint64_t> boot_time(const host::Host& host);

}  // namespace goldenv::probe
