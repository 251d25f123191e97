#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace goldenv::store {

struct GcOptions {
  bool dry_run = false;  ///< only says what would go
  /// What is younger stays: somebody may be about to use it. A generation's age counts from its
  /// last lease.
  std::chrono::seconds min_age{3600};
  /// Processes that may not be looked at (of other users, unless we are root) use nothing. Without
  /// it they count as using every generation and object.
  bool assume_idle = false;
  std::chrono::milliseconds patience{5000};  ///< for others to be done with the store
  std::string proc = "/proc";
};

struct Gone {
  enum class Kind { generation, object, artifact, leftover, root } kind = Kind::object;
  std::string name;
  std::uint64_t bytes = 0;  ///< on the disk
};

struct Kept {
  std::string digest;  ///< of a generation that no root names
  std::string why;     ///< "a process runs in it"
};

struct Collected {
  std::vector<Gone> gone;  ///< roots, generations, objects, artifacts, left-overs, each by name
  std::vector<Kept> kept;
  std::uint64_t freed_bytes = 0;
  /// Processes that could not be looked at and so count as using all there is.
  std::size_t unseen = 0;
};

std::string_view name(Gone::Kind kind);

/// Removes what nothing needs: generations without a root, a lease or a process; objects of no
/// generation left; a manifest's root (is_manifest_root) keeps its generation only while it is
/// young, and goes with it; artifacts of no object left; left-overs of dead processes. While it
/// looks, no other goldenv has the store. Errors: timed_out (others had it for longer than
/// `patience`), denied (opened for reading), failed, malformed (a root that leads nowhere it knows:
/// better nothing goes).
Result<Collected> gc(const Store& store, const GcOptions& options);

}  // namespace goldenv::store
