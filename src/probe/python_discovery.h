#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "probe/python_path.h"
#include "probe/python_target.h"

namespace goldenv::probe {

/// The Pythons found so far and the ways to find more.
class PythonDiscovery {
 public:
  explicit PythonDiscovery(const host::Host& host);

  /// The Python at a prefix or interpreter, added if it was not known. Errors: those of pythons_in
  /// and python_home.
  Result<std::size_t> at(const std::string& path);

  /// Which Python the command `name` is: the first on PATH; through pyenv's shims the version that
  /// pyenv would choose. None where PATH has no such command. Errors: what is there belongs to no
  /// known installation, or could not be looked at.
  Result<std::optional<std::size_t>> on_path(const std::string& name);

  /// Adds what stands in the usual places: /usr, /usr/local, /opt, conda's, pyenv's and uv's
  /// folders, environments below the home folder.
  void usual_places();

  [[nodiscard]] const PythonSettings& settings() const { return settings_; }
  PythonScene scene;

 private:
  std::optional<std::size_t> known(const std::string& prefix, const std::string& series) const;
  Result<std::string> behind_shim(const std::string& shim);
  void try_prefix(const std::string& prefix);
  void children(const std::string& folder);

  const host::Host& host_;
  PythonSettings settings_;
  std::vector<std::pair<std::string, std::size_t>> real_prefixes_;
};

}  // namespace goldenv::probe
