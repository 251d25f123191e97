#include "facts/member_hints.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/text.h"

namespace goldenv::facts {
namespace {

/// Variables that people pin. Sources: NCCL's user guide (Environment Variables), the CUDA
/// programming guide, PyTorch's documentation, OpenMP 5.2, glibc's ld.so(8).
constexpr auto kVariables = std::to_array<std::string_view>({
    "CONDA_PREFIX",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_PATH",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "GLIBC_TUNABLES",
    "GOMP_CPU_AFFINITY",
    "HF_HOME",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MKL_NUM_THREADS",
    "NCCL_ALGO",
    "NCCL_ASYNC_ERROR_HANDLING",
    "NCCL_BUFFSIZE",
    "NCCL_COLLNET_ENABLE",
    "NCCL_CONF_FILE",
    "NCCL_CROSS_NIC",
    "NCCL_DEBUG",
    "NCCL_DEBUG_FILE",
    "NCCL_DEBUG_SUBSYS",
    "NCCL_DMABUF_ENABLE",
    "NCCL_GRAPH_FILE",
    "NCCL_IB_DISABLE",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_HCA",
    "NCCL_IB_PKEY",
    "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_IB_RETRY_CNT",
    "NCCL_IB_SL",
    "NCCL_IB_TC",
    "NCCL_IB_TIMEOUT",
    "NCCL_LAUNCH_MODE",
    "NCCL_MAX_NCHANNELS",
    "NCCL_MIN_NCHANNELS",
    "NCCL_NET",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_PLUGIN",
    "NCCL_NTHREADS",
    "NCCL_NVLS_ENABLE",
    "NCCL_P2P_DISABLE",
    "NCCL_P2P_LEVEL",
    "NCCL_PROTO",
    "NCCL_PXN_DISABLE",
    "NCCL_SHM_DISABLE",
    "NCCL_SOCKET_FAMILY",
    "NCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_NTHREADS",
    "NCCL_TOPO_DUMP_FILE",
    "NCCL_TOPO_FILE",
    "NCCL_TUNER_PLUGIN",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_CUDA_ARCH_LIST",
    "TORCH_DISTRIBUTED_DEBUG",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT",
    "TRANSFORMERS_CACHE",
    "TRITON_CACHE_DIR",
    "VIRTUAL_ENV",
});

/// Modules of GPUs and of what moves data between them.
constexpr auto kModules = std::to_array<std::string_view>({
    "amdgpu",
    "gdrdrv",
    "ib_core",
    "ib_uverbs",
    "mlx5_core",
    "mlx5_ib",
    "nouveau",
    "nv_peer_mem",
    "nvidia",
    "nvidia_drm",
    "nvidia_fs",
    "nvidia_modeset",
    "nvidia_peermem",
    "nvidia_uvm",
});

std::string_view one_slip_away(std::span<const std::string_view> known, std::string_view name) {
  if (std::ranges::find(known, name) != known.end()) {
    return {};
  }
  const auto near = std::ranges::find_if(
      known, [&](std::string_view candidate) { return edit_distance(candidate, name) == 1; });
  return near == known.end() ? std::string_view() : *near;
}

}  // namespace

std::string nearest_member(const FactKey& key) {
  constexpr std::string_view kVariable = "env.";
  constexpr std::string_view kModule = "module.";
  const std::string_view name = key.name;
  if (name.starts_with(kVariable)) {
    const auto near = one_slip_away(kVariables, name.substr(kVariable.size()));
    return near.empty() ? "" : std::string(kVariable) + std::string(near);
  }
  if (name.starts_with(kModule)) {
    const std::string_view rest = name.substr(kModule.size());
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const auto near = one_slip_away(kModules, rest.substr(0, dot));
    return near.empty() ? ""
                        : std::string(kModule) + std::string(near) + std::string(rest.substr(dot));
  }
  return {};
}

}  // namespace goldenv::facts
