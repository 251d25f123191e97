#pragma once

#include <string>

#include "base/result.h"
#include "facts/snapshot.h"
#include "probe/probe.h"

namespace goldenv::source {

/// Looks at this machine and writes a record of it (docs/RECORD.md) to a new or empty folder, of
/// which root:DIR gives the very same facts. Secrets are left out. Errors: usage (the folder is not
/// empty, or none), failed.
Result<facts::Snapshot> record(const probe::Request& request, const std::string& folder);

}  // namespace goldenv::source
