#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"

// How a rule is written. Adding one: a file with its definition and a line in registry.cpp.
namespace goldenv::findings {

/// A snapshot as rules ask it.
class View {
 public:
  explicit View(const facts::Snapshot& snapshot) : snapshot_(snapshot) {}

  [[nodiscard]] const facts::Snapshot& snapshot() const { return snapshot_; }

  /// The one value that was read under a key, or nothing: of absent, unknown, tallies, prefixes and
  /// alternatives a rule must not say that they contradict.
  [[nodiscard]] std::optional<std::string> text(std::string_view name,
                                                std::string_view label = {}) const;
  /// The same, also the beginning of a version that is cut off.
  [[nodiscard]] const facts::Value* value(std::string_view name, std::string_view label = {}) const;
  /// Whether it was looked for and is not there.
  [[nodiscard]] bool absent(std::string_view name, std::string_view label = {}) const;
  /// Stored facts without label whose names begin with `prefix`, in order.
  [[nodiscard]] std::span<const facts::Fact> below(std::string_view prefix) const;

 private:
  const facts::Snapshot& snapshot_;
};

/// Whether `value` says something else than `text`: of a prefix, whether it begins otherwise.
bool differs(const facts::Value& value, std::string_view text);

struct Rule {
  std::string_view name;
  std::span<const std::string_view> keys;  ///< what it looks at, see findings::keys
  void (*look)(const View& view, std::vector<Finding>& found);
};

std::span<const Rule* const> rules();

}  // namespace goldenv::findings
