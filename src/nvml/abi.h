#pragma once

#include <cstddef>

// What of NVML's binary interface is used here, in declarations of our own. Source: NVML API
// reference, and nvml.h of API 13 for the layouts. Each function is looked up by name: older
// drivers lack the newer ones.
namespace goldenv::nvml {

/// nvmlDevice_t
using Device = void*;

/// Flags of nvmlInitWithFlags.
inline constexpr unsigned kInitNoGpus = 1;
inline constexpr unsigned kInitNoAttach = 2;

/// nvmlPciInfo_t; the older nvmlPciInfo_v2_t is shorter and begins alike.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

/// nvmlMemory_t, bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlConfComputeSystemState_t
struct ConfComputeState {
  unsigned environment;
  unsigned cc_feature;
  unsigned dev_tools_mode;
};

/// nvmlDeviceAddressingMode_v1_t
struct AddressingMode {
  unsigned version;
  unsigned value;
};

/// nvmlGpuFabricInfo_t
struct FabricInfo {
  unsigned char cluster_uuid[16];
  int status;
  unsigned clique_id;
  unsigned char state;
};

/// NVML_STRUCT_VERSION
constexpr unsigned struct_version(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | version << 24;
}

}  // namespace goldenv::nvml
