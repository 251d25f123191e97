#include <array>

#include "probe/probe.h"

namespace goldenv::probe {

// One line a probe, in sorted order; the definition stands in the file of that name. A plain table:
// objects that register themselves are dropped by the linker from a static library.

extern const Probe accelerate;
extern const Probe auto_upgrade;
extern const Probe cgroup;
extern const Probe compilers;
extern const Probe cpu;
extern const Probe cpu_tuning;
extern const Probe cuda_runtime;
extern const Probe cuda_toolkit;
extern const Probe cudnn;
extern const Probe device_nodes;
extern const Probe dkms;
extern const Probe dpkg;
extern const Probe driver;
extern const Probe driver_library;
extern const Probe driver_packages;
extern const Probe environment;
extern const Probe files;
extern const Probe firmware;
extern const Probe glibc;
extern const Probe gpu_access;
extern const Probe gpus;
extern const Probe host_tools;
extern const Probe identity;
extern const Probe kernel;
extern const Probe kernel_config;
extern const Probe kernel_events;
extern const Probe leftovers;
extern const Probe libraries;
extern const Probe libstdcxx;
extern const Probe limits;
extern const Probe llvm;
extern const Probe loader_settings;
extern const Probe memory;
extern const Probe modules;
extern const Probe modules_on_disk;
extern const Probe mpi;
extern const Probe nccl;
extern const Probe nccl_settings;
extern const Probe network;
extern const Probe next_boot;
extern const Probe next_boot_sysctl;
extern const Probe nvml_facts;
extern const Probe openmp;
extern const Probe orphans;
extern const Probe os;
extern const Probe pcie;
extern const Probe peer_traffic;
extern const Probe python_conda;
extern const Probe python_extensions;
extern const Probe python_packages;
extern const Probe python_record;
extern const Probe python_target;
extern const Probe rdma;
extern const Probe rocm;
extern const Probe rpm;
extern const Probe services;
extern const Probe storage;
extern const Probe sysctl;
extern const Probe torch;
extern const Probe torch_archs;
extern const Probe unit_environment;
extern const Probe unit_limits;
extern const Probe virtualization;

std::span<const Probe* const> probes() {
  static constexpr auto kProbes = std::to_array<const Probe*>({
      &accelerate,
      &auto_upgrade,
      &cgroup,
      &compilers,
      &cpu,
      &cpu_tuning,
      &cuda_runtime,
      &cuda_toolkit,
      &cudnn,
      &device_nodes,
      &dkms,
      &dpkg,
      &driver,
      &driver_library,
      &driver_packages,
      &environment,
      &files,
      &firmware,
      &glibc,
      &gpu_access,
      &gpus,
      &host_tools,
      &identity,
      &kernel,
      &kernel_config,
      &kernel_events,
      &leftovers,
      &libraries,
      &libstdcxx,
      &limits,
      &llvm,
      &loader_settings,
      &memory,
      &modules,
      &modules_on_disk,
      &mpi,
      &nccl,
      &nccl_settings,
      &network,
      &next_boot,
      &next_boot_sysctl,
      &nvml_facts,
      &openmp,
      &orphans,
      &os,
      &pcie,
      &peer_traffic,
      &python_conda,
      &python_extensions,
      &python_packages,
      &python_record,
      &python_target,
      &rdma,
      &rocm,
      &rpm,
      &services,
      &storage,
      &sysctl,
      &torch,
      &torch_archs,
      &unit_environment,
      &unit_limits,
      &virtualization,
  });
  return kProbes;
}

}  // namespace goldenv::probe
