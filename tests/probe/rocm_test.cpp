#include <gtest/gtest.h>

#include "probe/scan.h"
#include "probe/torch_machine.h"

namespace goldenv::probe {
extern const Probe rocm;
namespace {

using test::told;
using test::TorchMachine;

TEST(RocmProbe, ReleaseAndHipStandInItsFiles) {
  TorchMachine machine;
  machine.host.file("/opt/rocm-6.4.0/.info/version", "6.4.0-47\n");
  machine.host.file(
      "/opt/rocm-6.4.0/share/hip/version",
      "HIP_PACKAGING_VERSION_PATCH=43482.60400\nHIP_VERSION_MAJOR=6\n"
      "HIP_VERSION_MINOR=4\nHIP_VERSION_PATCH=43482\nHIP_VERSION_GITHASH=0f2d60242\n");
  machine.host.link("/opt/rocm", "/opt/rocm-6.4.0");
  EXPECT_EQ(told(machine.host, rocm, "rocm"), "6.4.0-47");
  EXPECT_EQ(told(machine.host, rocm, "rocm.hip"), "6.4.43482-0f2d60242");
}

TEST(RocmProbe, AbsentDeniedAndCutShort) {
  TorchMachine none;
  EXPECT_TRUE(told(none.host, rocm, "rocm").starts_with("absent"));
  EXPECT_TRUE(told(none.host, rocm, "rccl").starts_with("absent"));
  TorchMachine denied;
  denied.host.deny("/opt/rocm");
  EXPECT_EQ(told(denied.host, rocm, "rocm"), "unknown (denied)");
  TorchMachine cut;
  cut.host.file("/opt/rocm/.info/version", "").file("/opt/rocm/share/hip/version", "HIP_VERSION_");
  EXPECT_EQ(told(cut.host, rocm, "rocm"), "unknown (unreadable)");
  EXPECT_EQ(told(cut.host, rocm, "rocm.hip"), "unknown (unreadable)");
  TorchMachine silent;
  silent.host.file("/opt/rocm/bin/rocminfo", "");
  EXPECT_EQ(told(silent.host, rocm, "rocm"), "unknown (not-stated)");
}

TEST(RocmProbe, RcclIsToldByItsHeaderWhereItsTextDoesNot) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/librccl.so.1", "plain");
  EXPECT_EQ(told(machine.host, rocm, "rccl"), "unknown (not-stated)");
  machine.host.file("/usr/lib/include/rccl/rccl.h",
                    "#define NCCL_MAJOR 2\n#define NCCL_MINOR 20\n#define NCCL_PATCH 5\n");
  EXPECT_EQ(told(machine.host, rocm, "rccl"), "2.20.5");
}

}  // namespace
}  // namespace goldenv::probe
