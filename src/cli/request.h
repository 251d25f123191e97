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

/// What a comparison of the selected facts needs beside them: the versions that they belong to.
void ask_for_headlines(const facts::Selection& selection, probe::Request& request);

/// Whether a snapshot has a fact that is selected.
bool has_selected(const facts::Snapshot& snapshot, const facts::Selection& selection);
/// "--only sysctl.kernel.*, env": the patterns as given, for messages.
std::string only_text(const Invocation& invocation);

/// What a check of a manifest has to look at, and nothing else.
probe::Request request_for(const manifest::Manifest& manifest, const Invocation& invocation);

/// The words as sources; `@live` where there is none.
Result<std::vector<source::Source>> parse_sources(const std::vector<std::string>& words);

/// Looks at the sources of one command, and keeps in mind whether --python names a Python on any.
class Viewer {
 public:
  explicit Viewer(const Invocation& invocation) : python_(invocation.value("--python")) {}

  /// The facts of a source, which may be several snapshots. On this machine --python may be
  /// relative. Errors: of source::look_all.
  Result<std::vector<facts::Snapshot>> look(const source::Source& source, probe::Request request);
  /// Errors: usage, where --python names no Python on any of the machines that were looked at.
  [[nodiscard]] Result<void> python_found() const;

 private:
  std::string python_;
  bool found_ = false;
  std::string missing_;  // why, on the first machine without it
};

/// Says once where this machine's facts are unknown because it shows no /proc or /sys, as in a bare
/// root folder: dozens of unknowns have that one cause.
void say_what_is_not_mounted(const facts::Snapshot& snapshot);

/// The manifest that a command without one means, or ""; says so where $GOLDENV_MANIFEST names
/// another that is passed over.
std::string default_manifest();

/// The manifest that a command means: `file`, or the default one. Errors: usage where there is
/// none.
struct NamedManifest {
  std::string file;
  manifest::Manifest manifest;
};
Result<NamedManifest> open_manifest(const std::string& file);

/// Errors: usage, where a manifest wants nothing, so that every machine would match.
Result<void> check_wants(const NamedManifest& manifest);

}  // namespace goldenv::cli
