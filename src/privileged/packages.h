#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "facts/reading.h"
#include "facts/snapshot.h"
#include "privileged/privileged.h"
#include "recipe/recipe.h"

namespace goldenv::privileged {

inline constexpr std::string_view kDebianPackage = "dpkg.package.";

/// The package that brings what a pin wants: of dpkg.package.X the package itself; of any other key
/// that of its recipe which has a URL and a digest, else the first that the distribution offers at
/// that version. `found` is what is there now. Errors: absent (none, or no package's name).
Result<Package> package_for(std::string_view key, const std::string& want,
                            const facts::Reading& found, const recipe::Collection& recipes,
                            const Around& around);

/// Whether a kernel is among the installed ones.
bool has_installed_kernel(const facts::Snapshot& snapshot, std::string_view release);

}  // namespace goldenv::privileged
