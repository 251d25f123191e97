#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv::probe {

/// One setting of accelerate's default_config.yaml.
struct AccelerateSetting {
  std::string name;   ///< "num_processes"; of a section "fsdp_config.fsdp_offload_params"
  std::string value;  ///< without quotes; of a list the items with ", " between
  std::uint32_t line = 0;
  bool is_readable = true;  ///< written in a form of YAML that is read here; else value is ""

  friend bool operator==(const AccelerateSetting&, const AccelerateSetting&) = default;
};

/// The settings of the file, in order. It is the YAML that accelerate itself writes: one setting a
/// line, sections by indentation, lists as lines `- item`. A value of another form (a flow list, a
/// block text, an anchor, what goes on over its line) is not readable; other lines are passed over.
/// Sample: "compute_environment: LOCAL_MACHINE\nnum_processes: 8\ndowncast_bf16: 'no'\n".
std::vector<AccelerateSetting> parse_accelerate_config(std::string_view text);

}  // namespace goldenv::probe
