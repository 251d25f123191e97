#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "nvml/report.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Facts of each GPU by what the library calls them.
inline constexpr auto kNvmlOfGpu = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gpu.addressing_mode", "addressing_mode"},
    {"gpu.arch", "arch"},
    {"gpu.clocks.application", "clocks.application"},
    {"gpu.compute_capability", "compute_capability"},
    {"gpu.compute_mode", "compute_mode"},
    {"gpu.ecc", "ecc"},
    {"gpu.ecc.uncorrected", "ecc.uncorrected"},
    {"gpu.fabric.state", "fabric.state"},
    {"gpu.inforom", "inforom"},
    {"gpu.memory", "memory"},
    {"gpu.mig", "mig"},
    {"gpu.mig.instances", "mig.instances"},
    {"gpu.nvlink.active", "nvlink.active"},
    {"gpu.part_number", "part_number"},
    {"gpu.persistence", "persistence"},
    {"gpu.power_limit", "power_limit"},
    {"gpu.remapped_rows", "remapped_rows"},
    {"gpu.serial", "serial"},
    {"gpu.temperature", "temperature"},
});

/// Those of pairs.
inline constexpr auto kNvmlOfPair = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gpu.p2p", "p2p"},
    {"gpu.topology", "topology"},
});

/// Those that the driver's /proc folder tells, too, where it knows them.
struct NvmlShared {
  std::string_view key;
  std::string_view name;
  std::string_view line;  ///< of the folder's file
};
inline constexpr auto kNvmlShared = std::to_array<NvmlShared>({
    {"gpu.name", "name", "Model"},
    {"gpu.uuid", "uuid", "GPU UUID"},
    {"gpu.vbios", "vbios", "Video BIOS"},
});

/// Records what NVIDIA's management library said, of the facts that are wanted. GPUs are those of
/// gpu_list, found by their addresses; where the buses show none (WSL), those of the library.
/// `library`: its file, for evidence.
void add_report(Survey& survey, const nvml::Report& report, const std::string& library);

}  // namespace goldenv::probe
