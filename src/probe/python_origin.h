#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/reading.h"
#include "probe/python_names.h"
#include "probe/python_packages.h"
#include "probe/python_target.h"

namespace goldenv::probe {

/// Whence a package came.
struct PackageOrigin {
  /// "index", "conda", "system", "editable", "folder", "archive", "git <commit>". Unknown where
  /// nothing says: an egg-info, a direct_url.json that cannot be read.
  facts::Reading origin;
  std::string sha256;  ///< of the wheel or archive, where direct_url.json has it
  facts::Evidence evidence;
};

/// Packages of a conda environment, sorted by name, from the names of the files in conda-meta.
/// Errors: those of listing it.
Result<std::vector<CondaName>> conda_packages(const host::Host& host, const std::string& prefix);

/// Origins of the packages of one Python, from direct_url.json (PEP 610), INSTALLER, conda's
/// records and the folder. Addresses are not kept: they may hold private hosts and tokens.
class PackageOrigins {
 public:
  PackageOrigins(Survey& survey, const Python& python);
  [[nodiscard]] PackageOrigin of(const Distribution& distribution) const;

 private:
  [[nodiscard]] Result<std::string> installer(const std::string& path) const;

  Survey& survey_;
  const Python& python_;
  std::vector<CondaName> conda_;
  std::optional<Error> conda_unseen_;
};

}  // namespace goldenv::probe
