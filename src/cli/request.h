#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "facts/catalogue.h"
#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "probe/probe.h"
#include "source/source.h"

namespace goldenv::cli {

/// --only as a selection, and what has to be probed for it.
struct Only {
  facts::Selection selection;
  probe::Request request;
};
/// Errors: malformed pattern (usage).
Result<Only> parse_only(const Invocation& invocation);

/// What a check of a manifest has to look at, and nothing else.
probe::Request request_for(const manifest::Manifest& manifest, const Invocation& invocation);

/// The words as sources; `@live` where there is none.
Result<std::vector<source::Source>> parse_sources(const std::vector<std::string>& words);

/// The manifest that a command means: `file`, or the default one. Errors: usage where there is
/// none.
struct NamedManifest {
  std::string file;
  manifest::Manifest manifest;
};
Result<NamedManifest> open_manifest(const std::string& file);

}  // namespace goldenv::cli
