#pragma once

#include <string>
#include <vector>

#include "host/host.h"
#include "probe/python_target.h"

namespace goldenv::probe {

/// One installed package of a Python: a dist-info or egg-info.
struct Distribution {
  std::string name;        ///< after PEP 503
  std::string version;     ///< as written
  std::size_t folder = 0;  ///< in Python::folders
  std::string entry;       ///< name in that folder
  bool egg = false;
};

/// Everything installed for one Python.
struct Installed {
  /// Sorted by name, then by folder in the order of sys.path, then by entry.
  std::vector<Distribution> distributions;
  std::vector<std::string>
      broken;  ///< left-overs: entries that pip renamed to "~ame", without names
};

/// From the listed folders of `python`. Metadata is read only where the name of an entry does not
/// say name and version for certain; an entry whose metadata cannot be read counts as broken.
Installed installed_packages(const host::Host& host, const PythonScene& scene,
                             const Python& python);

/// The distributions of one name: `first`..`last` in Installed::distributions.
struct Distributions {
  const Distribution* first = nullptr;
  const Distribution* last = nullptr;  ///< one behind
  [[nodiscard]] bool empty() const { return first == last; }
  /// Whether the folder that wins holds two of different versions: which one counts is chance.
  [[nodiscard]] bool doubled() const;
};
Distributions distributions_of(const Installed& installed, std::string_view name);

}  // namespace goldenv::probe
