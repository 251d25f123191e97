#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "probe/probe.h"

namespace goldenv::source {

/// Whatever facts can come from, as a user names it.
struct Source {
  enum class Kind {
    live,   ///< @live: this machine
    tree,   ///< root:DIR: a root file system or a recorded machine
    image,  ///< image:FILE, image:FILE#NAME: a container image archive
    ssh,    ///< ssh:HOST: another host, through the user's own ssh
    pid,    ///< pid:N: this machine as a running process has it
    unit,   ///< unit:NAME: the same of a systemd unit's main process
    git,    ///< git:REPO@REV:PATH: a snapshot or a manifest in a git repository
    file,   ///< PATH: a snapshot or a manifest
    input,  ///< -: the same on standard input
  };
  Kind kind = Kind::live;
  std::string text;         ///< as written
  std::string place;        ///< the folder, path, number or unit
  std::string record = {};  ///< of @live: the folder to which a record of it is written

  /// Whether facts are probed, so that a request matters; else they stand in a text.
  [[nodiscard]] bool is_machine() const {
    return kind != Kind::file && kind != Kind::input && kind != Kind::git;
  }
};

/// Errors: usage, for a word whose source this program does not know ("ssh:gpu17"), with the list
/// of those that it knows.
Result<Source> parse(std::string_view word);

/// The words that `parse` takes, for help and errors.
std::string_view known_sources();

/// A text of a user's file, standard input or a git repository. Errors: usage (not there, a
/// folder), too_large (over 16 MiB), failed (I/O, permission).
Result<std::string> read_text(const Source& source);

/// What a text turned out to be.
struct Document {
  enum class Kind { snapshot, snapshots, manifest };
  Kind kind = Kind::snapshot;
  std::string name;  ///< of the text, for messages
  doc::Mark mark;    ///< where it begins
  facts::Snapshot snapshot;
  std::vector<facts::Snapshot> several;  ///< of a scan of several sources, in their order
  manifest::Manifest manifest;
};

/// Reads a file or standard input. Errors: of read_text, and malformed with position.
Result<Document> read_document(const Source& source);

/// Whether a file is a manifest; false where it cannot be read.
bool is_manifest(const Source& source);

/// Facts of any source. Of a manifest: its exact pins as facts, those on absence as absents; what
/// it only constrains is unknown (not-stated). Errors: of read_document, and of opening a tree,
/// a process or a unit (usage where there is none);
/// malformed where a text holds several snapshots.
Result<facts::Snapshot> look(const Source& source, const probe::Request& request);
/// The same; of a text that holds several snapshots each, in their order. Never empty.
Result<std::vector<facts::Snapshot>> look_all(const Source& source, const probe::Request& request);

/// A manifest from a file with all it extends. Errors: of read_text and manifest::load; malformed
/// where it is a snapshot.
Result<manifest::Manifest> read_manifest(const Source& source);

/// The manifest that a command without one means: ./goldenv.yaml, $GOLDENV_MANIFEST,
/// /etc/goldenv/golden.yaml. Empty where none is there.
std::string default_manifest();

/// The exact pins of a manifest as facts.
facts::Snapshot snapshot_of(const manifest::Manifest& manifest, std::string source);

}  // namespace goldenv::source
