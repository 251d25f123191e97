#pragma once

#include "manifest/manifest.h"

namespace goldenv::source {

/// Masks what looks like a secret in what a manifest wants and why, as it is masked in what is
/// found: the two are compared, and both are shown.
void redact(manifest::Manifest& manifest);

}  // namespace goldenv::source
