#include <gtest/gtest.h>

#include "probe/gpu_list.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe gpus;
namespace {

using test::FakeHost;
using test::told;

struct Card {
  std::string bus;
  std::string vbios = "92.00.45.00.03";
  std::string speed = "16.0 GT/s PCIe";
  std::string node = "0";
};

struct GpuHost : FakeHost {
  explicit GpuHost(const Card& card) : GpuHost(std::vector<Card>{card}) {}
  explicit GpuHost(const std::vector<Card>& cards) {
    for (const Card& card : cards) {
      const std::string pci = "/sys/bus/pci/devices/" + card.bus;
      file(pci + "/class", "0x030200\n").file(pci + "/vendor", "0x10de\n");
      file(pci + "/device", "0x20B2\n").file(pci + "/numa_node", card.node + "\n");
      file(pci + "/max_link_speed", card.speed + "\n").file(pci + "/max_link_width", "16\n");
      file(pci + "/current_link_speed", "2.5 GT/s PCIe\n")
          .file(pci + "/current_link_width", "16\n");
      file(pci + "/local_cpulist", "0-31,64-95\n");
      link(pci + "/driver", "../../../../bus/pci/drivers/nvidia");
      file(pci + "/resource",
           "0x00000000f8000000 0x00000000f8ffffff 0x0000000000040200\n"
           "0x0000201000000000 0x0000201fffffffff 0x000000000014220c\n"
           "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
      file("/proc/driver/nvidia/gpus/" + card.bus + "/information",
           "Model: \t\t NVIDIA A100-SXM4-80GB\nGPU UUID: \t GPU-0c1d\nVideo BIOS: \t " +
               card.vbios + "\nBus Location: \t " + card.bus + "\n");
    }
  }
};

TEST(GpusProbe, ADeviceThatCannotBeLookedAtLeavesTheCountOpen) {
  for (const char* file : {"class", "vendor"}) {
    GpuHost host(std::vector<Card>{{.bus = "0000:07:00.0"}, {.bus = "0000:0f:00.0"}});
    EXPECT_EQ(told(host, gpus, "gpu.count"), "2");
    host.deny("/sys/bus/pci/devices/0000:0f:00.0/" + std::string(file));
    EXPECT_EQ(told(host, gpus, "gpu.count"), "unknown (denied)") << file;
  }
}

TEST(GpusProbe, ATornIdIsNoId) {
  GpuHost host(std::vector<Card>{{.bus = "0000:07:00.0"}, {.bus = "0000:0f:00.0"}});
  host.file("/sys/bus/pci/devices/0000:0f:00.0/vendor", "");
  host.link("/sys/bus/pci/devices/0000:0f:00.0/driver", "../../../../bus/pci/drivers/vfio-pci");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "unknown (unreadable)");
  EXPECT_EQ(told(host, gpus, "gpu.bound_to@1"), "vfio-pci");
  EXPECT_EQ(told(host, gpus, "gpu.pci_id@1"), "unknown (unreadable)");
}

TEST(GpusProbe, DeniedListsOfTheDriverAreNotCalledSilent) {
  GpuHost host(Card{.bus = "0000:07:00.0"});
  host.deny("/proc/driver/nvidia/gpus");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "1");
  EXPECT_EQ(told(host, gpus, "gpu.vbios"), "unknown (denied)");
  FakeHost no_bus;
  no_bus.folder("/sys/bus").deny("/proc/driver/nvidia/gpus");
  EXPECT_EQ(told(no_bus, gpus, "gpu.count"), "unknown (denied)");
}

TEST(GpusProbe, EqualGpusShareOneValue) {
  const GpuHost host(std::vector<Card>{{"0000:07:00.0"}, {"0000:0f:00.0"}});
  const auto found = test::scan(host, gpus);
  EXPECT_EQ(told(found, "gpu.count"), "2");
  EXPECT_EQ(told(found, "gpu.name"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(told(found, "gpu.vendor"), "nvidia");
  EXPECT_EQ(told(found, "gpu.pci_id"), "10de:20b2");
  EXPECT_EQ(told(found, "gpu.bound_to"), "nvidia");
  EXPECT_EQ(told(found, "gpu.pcie.max_speed"), "16");
  EXPECT_EQ(told(found, "gpu.pcie.speed"), "2.5");
  EXPECT_EQ(told(found, "gpu.pcie.width"), "16");
  EXPECT_EQ(told(found, "gpu.pcie.max_width@1"), "16");
  EXPECT_EQ(told(found, "gpu.bar1"), "68719476736");
  EXPECT_EQ(told(found, "gpu.cpu_affinity"), "0-31 64-95");
  EXPECT_EQ(told(found, "gpu.numa_node"), "0");
  EXPECT_EQ(told(found, "gpu.bus@0"), "0000:07:00.0");
  EXPECT_EQ(told(found, "nvswitch.count"), "0");
}

TEST(GpusProbe, OddGpuShowsInTheTally) {
  const GpuHost host(
      std::vector<Card>{{"0000:07:00.0"}, {"0000:0f:00.0", "92.00.45.00.05"}, {"0000:47:00.0"}});
  const auto found = test::scan(host, gpus);
  EXPECT_EQ(told(found, "gpu.vbios"), "92.00.45.00.03 x 2, 92.00.45.00.05 x 1");
  EXPECT_EQ(told(found, "gpu.vbios@1"), "92.00.45.00.05");
}

TEST(GpusProbe, LabelsCountInNumericalPciOrder) {
  const GpuHost host(
      std::vector<Card>{{"0001:01:00.0"}, {"0000:e1:00.0"}, {"10000:01:00.0"}, {"0000:0f:00.0"}});
  const auto found = test::scan(host, gpus);
  EXPECT_EQ(told(found, "gpu.bus@0"), "0000:0f:00.0");
  EXPECT_EQ(told(found, "gpu.bus@1"), "0000:e1:00.0");
  EXPECT_EQ(told(found, "gpu.bus@2"), "0001:01:00.0");
  EXPECT_EQ(told(found, "gpu.bus@3"), "10000:01:00.0");
}

TEST(GpusProbe, VideoBiosNotReadYetIsUnknown) {
  const GpuHost host(std::vector<Card>{{"0000:07:00.0"}, {"0000:0f:00.0", "??.??.??.??.??"}});
  const auto found = test::scan(host, gpus);
  EXPECT_EQ(told(found, "gpu.vbios@0"), "92.00.45.00.03");
  EXPECT_EQ(told(found, "gpu.vbios@1"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "gpu.vbios"), "unknown (not-stated)");
}

TEST(GpusProbe, VideoBiosIsWrittenInUpperCase) {
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "96.00.a5.00.0f"}), gpus, "gpu.vbios"),
            "96.00.A5.00.0F");
}

TEST(GpusProbe, NumaNodeMinusOneIsNotNodeZero) {
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "1", "16 GT/s", "-1"}), gpus, "gpu.numa_node"),
            "unknown (not-stated)");
}

TEST(GpusProbe, OlderKernelsSpellSpeedsWithoutFraction) {
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "1", "8 GT/s"}), gpus, "gpu.pcie.max_speed"), "8");
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "1", "8.0 GT/s"}), gpus, "gpu.pcie.max_speed"), "8");
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "1", "Unknown"}), gpus, "gpu.pcie.max_speed"),
            "unknown (not-stated)");
  EXPECT_EQ(told(GpuHost(Card{"0000:07:00.0", "1", ""}), gpus, "gpu.pcie.max_speed"),
            "unknown (not-stated)");
}

TEST(GpusProbe, AudioFunctionsSwitchesAndLentFunctionsAreNoGpus) {
  GpuHost host(Card{"0000:07:00.0"});
  host.file("/sys/bus/pci/devices/0000:07:00.1/class", "0x040300\n")
      .file("/sys/bus/pci/devices/0000:07:00.1/vendor", "0x10de\n")
      .file("/sys/bus/pci/devices/0000:c4:00.0/class", "0x068000\n")
      .file("/sys/bus/pci/devices/0000:c4:00.0/vendor", "0x10de\n")
      .file("/sys/bus/pci/devices/0000:c5:00.0/class", "0x068000\n")
      .file("/sys/bus/pci/devices/0000:c5:00.0/vendor", "0x1000\n")
      .file("/sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n")
      .file("/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1a03\n")
      .file("/sys/bus/pci/devices/0000:07:00.4/class", "0x030200\n")
      .file("/sys/bus/pci/devices/0000:07:00.4/vendor", "0x10de\n")
      .folder("/sys/bus/pci/devices/0000:07:00.4/physfn");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "1");
  EXPECT_EQ(told(host, gpus, "nvswitch.count"), "1");
}

TEST(GpusProbe, GpuOfAnotherDriverIsCountedAndItsNameUnknown) {
  FakeHost host;
  const std::string pci = "/sys/bus/pci/devices/0000:07:00.0";
  host.file(pci + "/class", "0x030000\n").file(pci + "/vendor", "0x10de\n");
  host.link(pci + "/driver", "../../../bus/pci/drivers/vfio-pci");
  const auto found = test::scan(host, gpus);
  EXPECT_EQ(told(found, "gpu.count"), "1");
  EXPECT_EQ(told(found, "gpu.name"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "gpu.bound_to"), "vfio-pci");
  EXPECT_EQ(told(found, "gpu.pci_id"), "unknown (not-stated)");
}

TEST(GpusProbe, GpuWithoutDriverIsBoundToNone) {
  FakeHost host;
  host.file("/sys/bus/pci/devices/0000:07:00.0/class", "0x030000\n")
      .file("/sys/bus/pci/devices/0000:07:00.0/vendor", "0x1002\n");
  EXPECT_EQ(told(host, gpus, "gpu.bound_to"), "none");
  EXPECT_EQ(told(host, gpus, "gpu.vendor"), "amd");
}

TEST(GpusProbe, MachineWithoutGpuHasNone) {
  FakeHost host;
  host.file("/sys/bus/pci/devices/0000:00:03.0/class", "0x020000\n")
      .file("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n")
      .file("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "0");
  EXPECT_EQ(told(host, gpus, "gpu.name"), "absent (no GPU)");
}

TEST(GpusProbe, WslAndJetsonDoNotCountZero) {
  FakeHost wsl;
  wsl.uname({"pc", "5.15.0-microsoft-standard-WSL2", "#1", "x86_64"})
      .folder("/sys/bus/pci/devices");
  EXPECT_EQ(told(wsl, gpus, "gpu.count"), "unknown (not-probed, needs nvml)");
  FakeHost jetson;
  jetson.file("/etc/nv_tegra_release", "# R35 (release), REVISION: 4.1, GCID: 1, BOARD: t186ref\n");
  EXPECT_EQ(told(jetson, gpus, "gpu.count"), "unknown (unsupported)");
}

TEST(GpusProbe, LentGpuWithoutVisibleBusIsNotNone) {
  FakeHost host;
  host.file("/dev/nvidia0", "").folder("/sys");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "unknown (not-stated, needs nvml)");
}

TEST(GpusProbe, GpuThatOnlyTheDriverShowsIsCounted) {
  FakeHost host;
  host.file("/proc/driver/nvidia/gpus/0000:07:00.0/information", "Model: NVIDIA L4\n");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "1");
  EXPECT_EQ(told(host, gpus, "gpu.name"), "NVIDIA L4");
  EXPECT_EQ(told(host, gpus, "gpu.uuid"), "unknown (not-stated)");
  EXPECT_EQ(told(host, gpus, "gpu.numa_node"), "unknown (not-stated)");
}

TEST(GpusProbe, DeniedIsUnknown) {
  FakeHost host;
  host.deny("/sys/bus/pci/devices");
  EXPECT_EQ(told(host, gpus, "gpu.count"), "unknown (denied)");
  EXPECT_EQ(told(host, gpus, "gpu.name"), "unknown (denied)");
  GpuHost closed(Card{"0000:07:00.0"});
  closed.deny("/proc/driver/nvidia/gpus/0000:07:00.0/information");
  EXPECT_EQ(told(closed, gpus, "gpu.name"), "unknown (denied)");
}

TEST(GpusProbe, HopperRegistersTakeTwoLines) {
  GpuHost host(Card{"0000:07:00.0"});
  host.file("/sys/bus/pci/devices/0000:07:00.0/resource",
            "0x0000000001000000 0x0000000001ffffff 0x14220c\n0x0 0x0 0x0\n"
            "0x0000022000000000 0x0000023fffffffff 0x14220c\n0x0 0x0 0x0\n");
  EXPECT_EQ(told(host, gpus, "gpu.bar1"), "137438953472");
  host.file("/sys/bus/pci/devices/0000:07:00.0/resource", "0x00\n");
  EXPECT_EQ(told(host, gpus, "gpu.bar1"), "unknown (unreadable)");
}

TEST(GpusProbe, NarrowestLinkIsLookedForUpToTheRoot) {
  FakeHost host;
  const std::string root = "/sys/devices/pci0000:00/0000:00:01.0";
  const std::string card = root + "/0000:01:00.0";
  host.file(root + "/max_link_speed", "8.0 GT/s PCIe\n").file(root + "/max_link_width", "8\n");
  host.file(card + "/max_link_speed", "16.0 GT/s PCIe\n").file(card + "/max_link_width", "16\n");
  host.file(card + "/class", "0x030200\n").file(card + "/vendor", "0x10de\n");
  host.link("/sys/bus/pci/devices/0000:01:00.0",
            "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0");
  EXPECT_EQ(told(host, gpus, "gpu.pcie.narrowest"), "8.0 GT/s x8");
}

TEST(PciAddress, OnlyWholeAddressesAreRead) {
  using Address = std::array<std::uint32_t, 4>;
  EXPECT_EQ(parse_pci_address("0000:62:00.0"), (Address{0, 0x62, 0, 0}));
  EXPECT_EQ(parse_pci_address("10000:e1:1f.7"), (Address{0x10000, 0xe1, 0x1f, 7}));
  for (const std::string_view text :
       {"", "0000:62:00", "62:00.0", "x:62:00.0", "0000:62:00.", "pci0000:00"}) {
    EXPECT_FALSE(parse_pci_address(text)) << text;
  }
}

}  // namespace
}  // namespace goldenv::probe
