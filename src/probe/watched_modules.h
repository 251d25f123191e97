#pragma once

#include <array>
#include <string_view>

namespace goldenv::probe {

/// Kernel modules that are looked at on every machine, there or not; others on request.
inline constexpr auto kWatchedModules = std::to_array<std::string_view>({
    "nvidia",
    "nvidia_uvm",
    "nvidia_modeset",
    "nvidia_drm",
    "nvidia_peermem",
    "nv_peer_mem",
    "nvidia_fs",
    "gdrdrv",
    "mlx5_core",
    "mlx5_ib",
    "ib_core",
    "ib_uverbs",
    "efa",
    "nouveau",
    "amdgpu",
});

}  // namespace goldenv::probe
