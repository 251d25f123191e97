#include <gtest/gtest.h>

#include "elf/gpu_code_file.h"
#include "probe/scan.h"
#include "probe/torch_machine.h"

namespace goldenv::probe {
extern const Probe torch_archs;
namespace {

using test::told;
using test::TorchMachine;

constexpr const char* kKey = "torch.archs";

TEST(TorchArchsProbe, ArchitecturesStandInItsLibrary) {
  TorchMachine machine;
  machine.torch("");
  machine.host.file(machine.site + "/torch/version.py", "__version__ = '2.4.0'\ncuda = '12.4'\n");
  EXPECT_EQ(told(machine.host, torch_archs, kKey), "unknown (not-stated)");
  machine.host.file(machine.site + "/torch/lib/libtorch_cuda.so",
                    test::gpu_code_file(test::fat_binary({{2, 80, 0x11, 10}, {1, 90, 0x11, 10}})));
  EXPECT_EQ(told(machine.host, torch_archs, kKey), "compute_90, sm_80");
  const auto found = test::scan(machine.host, torch_archs);
  EXPECT_EQ(told(found, "torch.archs@/v"), "compute_90, sm_80");
  // Two libraries of older releases.
  machine.host.file(machine.site + "/torch/lib/libtorch_cuda_cu.so",
                    test::gpu_code_file(test::fat_binary({{2, 37, 0x11, 10}})));
  EXPECT_EQ(told(machine.host, torch_archs, kKey), "compute_90, sm_37, sm_80");
}

TEST(TorchArchsProbe, BuildsWithoutCudaHaveNoneAndDamageIsUnknown) {
  TorchMachine cpu;
  cpu.torch("", "2.4.0+cpu", "");
  EXPECT_EQ(told(cpu.host, torch_archs, kKey), "absent (a build without CUDA)");
  TorchMachine rocm;
  rocm.torch("");
  rocm.host.file(rocm.site + "/torch/version.py",
                 "__version__ = '2.4.0+rocm6.1'\ncuda = None\nhip = '6.1.40091'\n");
  EXPECT_EQ(told(rocm.host, torch_archs, kKey), "unknown (unsupported)");
  TorchMachine damaged;
  damaged.torch("");
  damaged.host.file(damaged.site + "/torch/version.py", "__version__ = '2.4.0'\ncuda = '12.4'\n");
  damaged.host.file(damaged.site + "/torch/lib/libtorch_cuda.so", "junk");
  EXPECT_EQ(told(damaged.host, torch_archs, kKey), "unknown (unreadable)");
  EXPECT_EQ(told(TorchMachine().host, torch_archs, kKey), "absent (no torch)");
}

}  // namespace
}  // namespace goldenv::probe
