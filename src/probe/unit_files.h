#pragma once

#include <cstdint>
#include <map>
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

/// The files that people on this machine wrote for units: services and drop-ins below
/// /etc/systemd and ~/.config/systemd, sorted; links to a distribution's own are none. `home`: ""
/// for the system's alone. What could not be listed comes into `unseen`.
std::vector<std::string> local_unit_files(const host::Host& host, const std::string& home,
                                          std::vector<Error>& unseen);

/// What the manager's own files say, [Manager] of system.conf or user.conf and their drop-ins, in
/// order. Source: systemd-system.conf(5).
struct ManagerSettings {
  std::vector<UnitSetting> settings;
  std::vector<Error> unread;
};
ManagerSettings read_manager_settings(const host::Host& host, bool of_user);

/// The *.conf files of folders, by name; of equal names that of the first folder.
std::map<std::string, std::string> conf_files(const host::Host& host,
                                              const std::vector<std::string>& folders,
                                              std::vector<Error>& unread);

/// A variable as files set it; no value where it cannot be told (`why`).
struct SetVariable {
  std::string name;
  std::optional<std::string> value;
  std::string why;  ///< "uses %t"
  std::string file;
  std::uint32_t line = 0;
};

/// What a unit's files set: DefaultEnvironment= of the manager, then what PassEnvironment= takes
/// from it (without a value: it is not in files), Environment=, EnvironmentFile= with its
/// wildcards, without UnsetEnvironment=; sorted by name. Source: systemd.exec(5).
struct UnitEnvironment {
  std::vector<SetVariable> variables;
  std::vector<Error> unread;  ///< files that could have set any variable
};
UnitEnvironment environment_of_unit(const host::Host& host, const UnitFiles& files,
                                    const std::string& unit, const std::string& home);

/// What a user's manager is started with: environment.d/*.conf of ~/.config, /etc, /run and
/// /usr/lib, sorted by file name. Source: environment.d(5).
UnitEnvironment environment_of_user_manager(const host::Host& host, const std::string& home);

/// The unit that a label names: "unit:slurmd" of the system, "user-unit:jupyter" of the source's
/// user; none for other labels, and where the user's home folder is not known.
struct LabelledUnit {
  std::string name;  ///< with its suffix
  std::string home;  ///< "" for one of the system's
};
std::optional<LabelledUnit> unit_of_label(const host::Host& host, std::string_view label);

/// The words of Environment=: quotes and C escapes undone. Source: systemd.syntax(7).
std::vector<std::string> unit_words(std::string_view text);

/// The assignments of an EnvironmentFile=: quotes, backslashes and comments as in sh(1), nothing
/// expanded.
std::vector<SetVariable> parse_environment_file(std::string_view text, std::string_view file);

}  // namespace goldenv::probe
