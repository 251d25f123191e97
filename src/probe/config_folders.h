#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// One file of a set of configuration folders.
struct ConfigFile {
  std::string path;  ///< "/etc/sysctl.d/90-gpu.conf"
  std::string text;
  std::vector<std::string> hides;  ///< files of that name in later folders, which do not count
  std::optional<Error> trouble;    ///< why its text could not be read
};

/// What the folders hold together.
struct ConfigFiles {
  std::vector<ConfigFile> files;  ///< sorted by file name, each name once
  std::vector<Error> unlisted;    ///< of folders whose names could not be had: more may be there
};

/// Files whose name ends with `suffix`, of several folders merged by file name: one in an earlier
/// folder hides those of its name in later ones, also when it is empty, leads nowhere or is a link
/// to /dev/null. Hidden files do not count. Folders that are not there hold nothing.
/// Source: systemd's conf-files; kmod and the others of that family do the same.
ConfigFiles read_config_files(const host::Host& host, std::span<const std::string_view> folders,
                              std::string_view suffix = ".conf");

}  // namespace goldenv::probe
