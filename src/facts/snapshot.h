#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "doc/node.h"
#include "facts/reading.h"

namespace goldenv::facts {

inline constexpr int kSnapshotVersion = 0;

/// All facts of one source at one moment.
struct Snapshot {
  std::string source;               ///< as named by the user: "@live", "root:...", a path
  std::vector<std::string> listed;  ///< families in which a missing member is absent, sorted
  std::vector<Fact> facts;          ///< sorted by key, no duplicates

  /// The fact as stored, or nullptr.
  [[nodiscard]] const Fact* find(const FactKey& key) const;

  /// The fact under a canonical key, also one that is not stored: a missing member of a listed
  /// family is absent, any other missing key unknown (not-stated in a text, else not-probed);
  /// views (kernel.cmdline.<parameter>) are computed. `file@PATH` likewise unknown. A GPU
  /// (gpu.vbios@9) is absent where the key was read of as many as gpu.count says there are.
  [[nodiscard]] Fact read(const FactKey& key) const;

  /// The facts name@LABEL, in the order of their labels.
  [[nodiscard]] std::span<const Fact> instances(std::string_view name) const;

  /// host.name where it is known, else the source.
  [[nodiscard]] std::string title() const;
};

/// Sorts and checks: later facts of one key replace earlier ones.
Snapshot make_snapshot(std::string source, std::vector<std::string> listed,
                       std::vector<Fact> facts);

/// Text form (docs/OUTPUT.md):
///   goldenv_snapshot: 0
///   source: "@live"
///   listed: [env]
///   facts:
///     driver: {value: 535.129.03, from: /proc/driver/nvidia/version}
///     gpu.vbios: {value: {92.00.45.00.03: 7, 92.00.45.00.05: 1}, of: 8}
///     env.X: {absent: not in its environment}
///     pcie.acs: {unknown: denied, needs: root}
/// to_node and from_node are inverses for every snapshot.
doc::Node to_node(const Snapshot& snapshot);
/// Errors: malformed, with the position in the text: no goldenv_snapshot, another version of it,
/// unknown keys (with the nearest), readings that are none, values of a wrong form for their key.
Result<Snapshot> from_node(doc::Node node, std::string_view name);

/// The same while the text is still read: facts by take, in any order (doc::parse_parts of kParts),
/// then what stands around them. Errors of facts, the first of them, come from finish.
class SnapshotReader {
 public:
  static constexpr std::string_view kParts = "facts";

  /// `name` of the text, for errors, and its size, from which follows how many facts to expect.
  SnapshotReader(std::string_view name, std::size_t bytes);
  void take(doc::Node::Entry& fact);
  /// Moves out of `node`, which may hold facts, too.
  Result<Snapshot> finish(doc::Node& node) &&;

 private:
  std::string name_;
  std::vector<Fact> facts_;
  std::optional<Error> error_;
};

/// Whether a document is a snapshot (has the key goldenv_snapshot) rather than a manifest.
bool is_snapshot(const doc::Node& node);

}  // namespace goldenv::facts
