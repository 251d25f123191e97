#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// The folders of the system's units; of equal names in them the first counts. Source:
/// systemd.unit(5), "System Unit Search Path".
std::span<const std::string_view> system_unit_folders();

/// One line "Key=value" of a unit's files.
struct UnitSetting {
  std::string key;
  std::string value;
  std::string file;
  std::uint32_t line = 0;
};

/// What the files of a systemd unit say, without asking systemd: the unit file (the first of
/// /etc, /run, /usr/local/lib, /usr/lib, /lib) and its drop-ins, NAME.d/*.conf of all of these
/// sorted by file name, of equal names the first. Source: systemd.unit(5).
struct UnitFiles {
  std::vector<std::string> files;     ///< read, in order; the unit file first
  std::vector<UnitSetting> settings;  ///< of [Service], in order
  std::vector<Error> unread;
  bool is_masked = false;
  [[nodiscard]] bool is_there() const { return !files.empty() || !unread.empty() || is_masked; }
};

/// `unit` with its suffix; `home`: of the user whose unit it is, "" for one of the system's.
UnitFiles read_unit_files(const host::Host& host, const std::string& unit, const std::string& home);

/// A variable as files set it; no value where it cannot be told (`why`).
struct SetVariable {
  std::string name;
  std::optional<std::string> value;
  std::string why;  ///< "uses %t"
  std::string file;
  std::uint32_t line = 0;
};

/// What a unit's files set: Environment=, then EnvironmentFile=, without UnsetEnvironment=; sorted
/// by name. What the manager passes on of its own is not among it. Source: systemd.exec(5).
struct UnitEnvironment {
  std::vector<SetVariable> variables;
  std::vector<Error> unread;  ///< files that could have set any variable
};
UnitEnvironment environment_of_unit(const host::Host& host, const UnitFiles& files,
                                    const std::string& unit, const std::string& home);

/// What a user's manager is started with: environment.d/*.conf of ~/.config, /etc, /run and
/// /usr/lib, sorted by file name. Source: environment.d(5).
UnitEnvironment environment_of_user_manager(const host::Host& host, const std::string& home);

/// The words of Environment=: quotes and C escapes undone. Source: systemd.syntax(7).
std::vector<std::string> unit_words(std::string_view text);

/// The assignments of an EnvironmentFile=: quotes, backslashes and comments as in sh(1), nothing
/// expanded.
std::vector<SetVariable> parse_environment_file(std::string_view text, std::string_view file);

}  // namespace goldenv::probe
