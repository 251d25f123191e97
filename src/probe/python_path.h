#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/host.h"
#include "probe/python_target.h"

namespace goldenv::probe {

/// What of the source's environment decides what a Python imports.
struct PythonSettings {
  std::string home;             ///< of the source's user, or "" where not known
  std::string python_path;      ///< PYTHONPATH
  std::string user_base;        ///< PYTHONUSERBASE, else ~/.local, or ""
  bool no_user_site = false;    ///< PYTHONNOUSERSITE is not empty
  std::optional<Error> unseen;  ///< why none of them is known
};
PythonSettings python_settings(const host::Host& host);

using Listings = std::map<std::string, std::vector<host::DirEntry>>;

/// Fills in `folders`, `user_site`, `unlisted` and `torch` of a Python as site.py would build
/// sys.path: PYTHONPATH; a venv's own site-packages; the user's; those of the installation (Debian:
/// dist-packages); behind each folder but PYTHONPATH's what its .pth files add. `listings` serves
/// all Pythons of one host.
void fill_path(const host::Host& host, const PythonSettings& settings, Listings& listings,
               Python& python);

}  // namespace goldenv::probe
