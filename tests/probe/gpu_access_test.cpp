#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe gpu_access;
namespace {

using test::FakeHost;
using test::told;

/// Three equal GPUs, all held by their driver and open to root, whose process this is.
struct Node : FakeHost {
  Node() {
    file("/proc/self/status", "Name:\tgoldenv\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n");
    file("/dev/nvidiactl", "").file("/dev/nvidia-uvm", "");
    for (const char* n : {"0", "1", "2"}) {
      const std::string bus = std::string("0000:0") + n + ":00.0";
      file("/sys/bus/pci/devices/" + bus + "/class", "0x030200\n");
      file("/sys/bus/pci/devices/" + bus + "/vendor", "0x10de\n");
      link("/sys/bus/pci/devices/" + bus + "/driver", "../../../../bus/pci/drivers/nvidia");
      information(n, "NVIDIA A100-SXM4-80GB");
      file(std::string("/dev/nvidia") + n, "");
    }
  }
  Node& information(const std::string& n, const std::string& model, const std::string& more = "") {
    file("/proc/driver/nvidia/gpus/0000:0" + n + ":00.0/information",
         "Model: \t\t " + model + "\nGPU UUID: \t GPU-" + n + "0c1d\nDevice Minor: \t " + n + "\n" +
             more);
    return *this;
  }
};

TEST(GpuAccessProbe, AllThreeCountsAreTold) {
  const Node host;
  const auto found = test::scan(host, gpu_access);
  EXPECT_EQ(told(found, "gpu.count.bound"), "3");
  EXPECT_EQ(told(found, "gpu.count.usable"), "3");
  EXPECT_EQ(told(found, "gpu.visible"), "0 1 2");
}

TEST(GpuAccessProbe, OneLentToAGuestIsNotBound) {
  FakeHost host;
  for (const char* bus : {"0000:01:00.0", "0000:02:00.0"}) {
    const std::string folder = std::string("/sys/bus/pci/devices/") + bus;
    host.file(folder + "/class", "0x030200\n").file(folder + "/vendor", "0x10de\n");
  }
  host.link("/sys/bus/pci/devices/0000:01:00.0/driver", "../../../../bus/pci/drivers/vfio-pci");
  host.link("/sys/bus/pci/devices/0000:02:00.0/driver", "../../../../bus/pci/drivers/nvidia");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.bound"), "1");
  host.deny("/sys/bus/pci/devices/0000:01:00.0/driver");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.bound"), "unknown (denied)");
}

TEST(GpuAccessProbe, MissingNodesAndExcludedGpusAreNotUsable) {
  Node host;
  host.information("1", "NVIDIA A100-SXM4-80GB", "GPU Excluded: \t Yes\n");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "2");
  EXPECT_EQ(told(host, gpu_access, "gpu.visible"), "0 2");
  host.fail("/dev/nvidia2", Errc::absent);
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "1");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.bound"), "3");
  host.deny("/dev/nvidia0");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "unknown (denied)");
}

TEST(GpuAccessProbe, WithoutTheControlNodeNoneIsUsable) {
  Node host;
  host.fail("/dev/nvidiactl", Errc::absent);
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "0");
  const auto found = test::scan(host, gpu_access);
  EXPECT_EQ(found.find({"gpu.count.usable", ""})->evidence.notes.front(),
            "/dev/nvidiactl is not there or not open to this user");
}

TEST(GpuAccessProbe, ClosedNodesAreNotUsableByOthers) {
  Node host;  // its nodes are 0644 root:root
  host.file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "0");
  host.file("/proc/self/status", "nothing\n");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "unknown (unreadable)");
}

TEST(GpuAccessProbe, CudaVisibleDevicesChooses) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"2,0", "2 0"},
      {"", ""},
      {"-1", ""},
      {"1,x,2", "1"},
      {"0,3,1", "0"},
      {"0,0", ""},
      {"GPU-2", "2"},
      {"GPU-10c1d, 0", "1 0"},
      {"GPU-7", ""},
      {"GPU-", ""},
      {"MIG-1", "unknown (unsupported)"},
      {"99999999999999999999", ""},
  };
  for (const auto& [wanted, visible] : cases) {
    Node host;
    host.set("CUDA_VISIBLE_DEVICES", wanted);
    EXPECT_EQ(told(host, gpu_access, "gpu.visible"), visible.empty() ? "(empty list)" : visible)
        << wanted;
  }
}

TEST(GpuAccessProbe, UnequalGpusAreNumberedBySpeedUnlessTold) {
  Node host;
  host.information("1", "Tesla T4").set("CUDA_VISIBLE_DEVICES", "1");
  EXPECT_EQ(told(host, gpu_access, "gpu.visible"), "unknown (ambiguous)");
  host.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  EXPECT_EQ(told(host, gpu_access, "gpu.visible"), "1");
}

TEST(GpuAccessProbe, ATreeHasNobodyWhoAsks) {
  Node host;
  host.live(false);
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "unknown (not-live)");
  EXPECT_EQ(told(host, gpu_access, "gpu.visible"), "unknown (not-live)");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.bound"), "3");
}

TEST(GpuAccessProbe, AMachineWithoutGpuHasZero) {
  FakeHost host;
  host.folder("/sys/bus/pci/devices");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.bound"), "0");
  EXPECT_EQ(told(host, gpu_access, "gpu.count.usable"), "0");
  EXPECT_EQ(told(host, gpu_access, "gpu.visible"), "(empty list)");
}

}  // namespace
}  // namespace goldenv::probe
