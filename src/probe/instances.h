#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Evidence of something read from a file.
facts::Evidence seen(std::string_view path, std::uint32_t line = 0);
/// The same with a remark.
facts::Evidence seen(std::string_view path, std::string note);

/// Readings of one key for everything that counts at once: GPUs, CPUs, cpufreq policies.
class Instances {
 public:
  /// `where`: the evidence of the common value, a path with `*` for the instance.
  explicit Instances(std::string where) : where_(std::move(where)) {}

  void add(std::string label, facts::Reading reading, facts::Evidence evidence);
  [[nodiscard]] bool empty() const { return facts_.empty(); }

  /// What is true of all of them: their common reading; unknown if one is unknown; else a tally
  /// (an absent one is counted as "absent"). `none` where there is no instance.
  [[nodiscard]] facts::Reading common(facts::Reading none) const;

  /// Records key@label for each, the key itself, and as absent those that were asked for by name
  /// and are not among them nor recorded before.
  void record(Survey& survey, std::string_view key, const facts::Reading& none) const;

 private:
  void add_missing(Survey& survey, std::string_view key, const facts::Reading& reading) const;
  [[nodiscard]] std::string missing() const;

  std::string where_;
  std::vector<facts::Fact> facts_;  // key.label: the label; key.name is not used
};

}  // namespace goldenv::probe
