#include "tables/driver_branches.h"

#include <algorithm>
#include <array>
#include <utility>

namespace goldenv::tables {
namespace {

// A branch does not gain a CUDA version in its later releases. Source: CUDA Toolkit release notes,
// table "CUDA Toolkit and Corresponding Driver Versions" (each toolkit came with a branch); 418 to
// 455 from "NVIDIA CUDA and Drivers Support" (RN-08625-001, March 2021); 565, which came with no
// toolkit, from what nvidia-smi prints under 565.57.01.
constexpr auto kBranches = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"418", "10.1"}, {"440", "10.2"}, {"450", "11.0"}, {"455", "11.1"}, {"460", "11.2"},
    {"465", "11.3"}, {"470", "11.4"}, {"495", "11.5"}, {"510", "11.6"}, {"515", "11.7"},
    {"520", "11.8"}, {"525", "12.0"}, {"530", "12.1"}, {"535", "12.2"}, {"545", "12.3"},
    {"550", "12.4"}, {"555", "12.5"}, {"560", "12.6"}, {"565", "12.7"}, {"570", "12.8"},
    {"575", "12.9"}, {"580", "13.0"}, {"590", "13.1"}, {"595", "13.2"}, {"610", "13.3"},
});

}  // namespace

std::string cuda_of_driver(std::string_view driver) {
  const std::string_view branch = driver.substr(0, driver.find('.'));
  const auto* const row =
      std::ranges::find(kBranches, branch, &std::pair<std::string_view, std::string_view>::first);
  return row == kBranches.end() ? "" : std::string(row->second);
}

}  // namespace goldenv::tables
