#pragma once

#include <string>

#include "base/result.h"
#include "facts/snapshot.h"
#include "probe/probe.h"

namespace goldenv::source {

/// The facts of an image in an archive, "FILE" or "FILE#NAME" (a file whose own name has a # in it
/// is taken as it is), with image.id. Errors: of image::open and its host's fetch.
Result<facts::Snapshot> look_at_image(const std::string& place, const probe::Request& request,
                                      const std::string& name);

}  // namespace goldenv::source
