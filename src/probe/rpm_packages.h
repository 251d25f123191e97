#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/probe.h"
#include "probe/rpm_database.h"

namespace goldenv::probe {

/// The package list of a machine that rpm keeps.
struct RpmPackages {
  std::string path;  ///< of the database's file
  std::vector<RpmPackage> packages;
};

/// Read once a survey. Errors: absent where there is none, unreadable where rpm has not finished
/// writing, malformed, else those of the host.
const Result<RpmPackages>& rpm_packages(Survey& survey);

}  // namespace goldenv::probe
