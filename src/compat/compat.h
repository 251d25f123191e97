#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "tables/confidence.h"

// Whether versions can work together, from tables alone: before anything is fetched, and for sets
// that no machine has yet. Every answer says why, by which source, as of which day and how sure
// that is. What no table knows is unknown; a guess never makes a set impossible.
//
// An alternative was to try: it is what bisections are for, and costs minutes a set. Another was
// one big matrix of releases: most of its cells would have been empty.
namespace goldenv::compat {

/// Versions by fact key ("nccl", "gpu.compute_capability", "python.package.triton"). Of a key that
/// counts all instances there may be several.
class Set {
 public:
  /// A canonical key; a version that stands there already is not repeated.
  Set& add(std::string_view key, std::string_view version);
  /// Instead of what stands there.
  Set& put(std::string_view key, std::string_view version);

  [[nodiscard]] std::span<const std::string> all(std::string_view key) const;
  /// Its only version; nothing where there is none or several.
  [[nodiscard]] std::optional<std::string_view> one(std::string_view key) const;
  /// Keys in order.
  [[nodiscard]] const std::map<std::string, std::vector<std::string>, std::less<>>& entries()
      const {
    return versions_;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> versions_;
};

/// What a manifest pins to one version, whatever the level. Pins with a condition and those that
/// leave a choice are not in it.
Set versions_of(const manifest::Manifest& manifest);
/// What is known of a machine: values of bare keys, and each of those that instances disagree on.
Set versions_of(const facts::Snapshot& snapshot);

enum class Verdict { compatible, incompatible, unknown };
std::string_view name(Verdict verdict);

struct Choice {
  std::string key;
  std::string version;
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// What one rule says of some members of a set.
struct Answer {
  std::string_view rule;  ///< its stable name: "cuda-driver"
  Verdict verdict = Verdict::unknown;
  std::vector<Choice> of;   ///< the members, the one that asks first
  std::string reason;       ///< one sentence that stands alone, without a full stop
  std::string_view source;  ///< where the rule's figures come from
  std::string_view as_of;   ///< day up to which that source was read, "2026-09-16"
  tables::Confidence confidence = tables::Confidence::certain;
};

/// Every answer that the tables have about a set: incompatible first, then unknown, then
/// compatible; within these by rule. Members that no rule knows are passed over.
std::vector<Answer> judge(const Set& versions);

/// The worst of some answers; compatible where there is none.
Verdict worst(std::span<const Answer> answers);

/// The least glibc that a wheel's platform tag asks for: "2.17" of manylinux2014_x86_64, "2.28" of
/// manylinux_2_28_x86_64; "" of others (any, musllinux, linux_x86_64, which promise nothing). Of
/// several joined by dots the least. Source: PEP 513, 571, 599, 600.
std::string glibc_floor(std::string_view platform_tag);

/// What `goldenv` calls a confidence: "certain", "reported", "guess".
std::string_view name(tables::Confidence confidence);

}  // namespace goldenv::compat
