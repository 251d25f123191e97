#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "probe/pci_config.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe pcie;
namespace {

using test::FakeHost;
using test::told;

/// A configuration space made register by register.
struct Space {
  std::string bytes = std::string(4096, '\0');

  Space() {
    dword(0x00, 0x20b210de).dword(0x04, 0x00100006).dword(0x34, 0x60);
    dword(0x60, 0x00037801);  // power management, next at 0x78
  }
  Space& dword(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xffu);
    }
    return *this;
  }
  /// The PCI Express capability: flags, device control, link control, slot capabilities.
  Space& express(std::uint32_t flags, std::uint32_t device, std::uint32_t link,
                 std::uint32_t slot = 0) {
    return dword(0x78, flags << 16 | 0x0010)
        .dword(0x80, device)
        .dword(0x88, link)
        .dword(0x8c, slot);
  }
  Space& acs(std::uint32_t control) {
    return dword(0x100, 0x14820001).dword(0x148, 0x0001000d).dword(0x14c, control << 16 | 0x5f);
  }
  [[nodiscard]] std::string head(std::size_t size) const { return bytes.substr(0, size); }
};

constexpr std::string_view kGpu = "0000:3b:00.0";
constexpr std::string_view kBridge = "0000:3a:00.0";

Space gpu_space() { return Space().express(0x0002, 0x2857, 0x0042); }
Space bridge_space() { return Space().express(0x0162, 0x2810, 0x0040, 0x00002580).acs(0x001d); }

/// One GPU below one bridge.
struct OneGpu : FakeHost {
  explicit OneGpu(const std::string& gpu = gpu_space().bytes,
                  const std::string& bridge = bridge_space().bytes) {
    const std::string up = "/sys/devices/pci0000:3a/" + std::string(kBridge);
    const std::string real = up + "/" + std::string(kGpu);
    file(real + "/class", "0x030200\n").file(real + "/vendor", "0x10de\n");
    file(real + "/config", gpu).file(up + "/config", bridge);
    file(up + "/class", "0x060400\n");
    link("/sys/bus/pci/devices/" + std::string(kGpu), real);
    link("/sys/bus/pci/devices/" + std::string(kBridge), up);
  }
};

TEST(PcieProbe, RegistersAreRead) {
  const OneGpu host;
  const auto found = test::scan(host, pcie);
  EXPECT_EQ(told(found, "pcie.aspm"), "L1");
  EXPECT_EQ(told(found, "pcie.aspm@0000:3b:00.0"), "L1");
  EXPECT_EQ(told(found, "pcie.relaxed_ordering"), "true");
  EXPECT_EQ(told(found, "pcie.max_payload"), "512");
  EXPECT_EQ(told(found, "pcie.acs"), "on");
  EXPECT_EQ(told(found, "pcie.acs@0000:3a:00.0"), "on");
  EXPECT_EQ(told(found, "gpu.pcie.slot_power"), "75");
  const facts::Fact* acs = found.find({"pcie.acs", "0000:3a:00.0"});
  ASSERT_NE(acs, nullptr);
  ASSERT_EQ(acs->evidence.notes.size(), 1u);
  EXPECT_EQ(acs->evidence.notes[0],
            "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-");
}

TEST(PcieProbe, AUserIsShownTheHeaderAlone) {
  const OneGpu host(gpu_space().head(64), bridge_space().head(64));
  const auto found = test::scan(host, pcie);
  for (const char* key : {"pcie.aspm", "pcie.relaxed_ordering", "pcie.max_payload", "pcie.acs",
                          "gpu.pcie.slot_power"}) {
    EXPECT_EQ(told(found, key), "unknown (denied, needs root)") << key;
  }
}

TEST(PcieProbe, WithoutItsExtendedSpaceABridgeSaysNothingOfAcs) {
  const OneGpu host(gpu_space().head(256), bridge_space().head(256));
  EXPECT_EQ(told(host, pcie, "pcie.acs"), "unknown (not-stated)");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "L1");
}

TEST(PcieProbe, BridgesWithoutAcsAreNotCounted) {
  const OneGpu host(gpu_space().bytes, Space().express(0x0062, 0, 0).bytes);
  EXPECT_EQ(told(host, pcie, "pcie.acs"), "absent (no bridge above a GPU or adapter has ACS)");
  EXPECT_EQ(told(host, pcie, "gpu.pcie.slot_power"), "absent (the port above it is no slot)");
}

TEST(PcieProbe, AcsIsOffWhereItsFirstBitIs) {
  const OneGpu host(gpu_space().bytes, Space().express(0x0062, 0, 0).acs(0x001c).bytes);
  EXPECT_EQ(told(host, pcie, "pcie.acs"), "off");
}

TEST(PcieProbe, WhereTheWayUpIsNotShownNothingIsCalledAbsent) {
  FakeHost host;
  const std::string gpu = "/sys/bus/pci/devices/" + std::string(kGpu);
  host.file(gpu + "/class", "0x030200\n").file(gpu + "/vendor", "0x10de\n");
  for (const char* key : {"pcie.aspm", "pcie.acs", "gpu.pcie.slot_power"}) {
    EXPECT_EQ(told(host, pcie, key), "unknown (not-stated)") << key;
  }
}

TEST(PcieProbe, AGpuOnChipHasNoLink) {
  const OneGpu host(Space().express(0x0092, 0x2000, 0x0003).bytes);
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "absent (no PCIe link)");
  EXPECT_EQ(told(host, pcie, "pcie.relaxed_ordering"), "false");
  EXPECT_EQ(told(host, pcie, "pcie.max_payload"), "128");
}

TEST(PcieProbe, ADeviceThatSleepsOrIsGoneIsNotRead) {
  OneGpu host(std::string(4096, '\xff'));
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "unknown (unreadable)");
  host.file("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/power_state", "D3cold\n");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "unknown (not-live)");
}

TEST(PcieProbe, EmptyAndDeniedSpacesAreUnknown) {
  OneGpu host("");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "unknown (unreadable)");
  host.deny("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/config");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "unknown (denied, needs root)");
}

TEST(PcieProbe, AMachineWithoutGpuAndAdapterHasNone) {
  FakeHost host;
  host.folder("/sys/bus/pci/devices").folder("/sys/class");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "absent (no GPU or adapter)");
  EXPECT_EQ(told(host, pcie, "pcie.acs"), "absent (no GPU or adapter)");
  EXPECT_EQ(told(host, pcie, "gpu.pcie.slot_power"), "absent (no GPU)");
  host.deny("/sys/class/infiniband");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "unknown (denied)");
}

TEST(PcieProbe, AdaptersAreDevicesToo) {
  OneGpu host;
  const std::string up = "/sys/devices/pci0000:3a/" + std::string(kBridge);
  host.file(up + "/0000:3c:00.0/config", Space().express(0x0002, 0x5010, 0).bytes)
      .link("/sys/bus/pci/devices/0000:3c:00.0", up + "/0000:3c:00.0")
      .link("/sys/class/infiniband/mlx5_0/device", up + "/0000:3c:00.0")
      .folder("/sys/devices/virtual/rxe")
      .link("/sys/class/infiniband/rxe0/device", "/sys/devices/virtual/rxe");
  EXPECT_EQ(told(host, pcie, "pcie.aspm"), "L1 x 1, off x 1");
  EXPECT_EQ(told(host, pcie, "pcie.relaxed_ordering@0000:3c:00.0"), "true");
}

TEST(PcieProbe, GroupsAreNamedWhereThereAreSome) {
  OneGpu host;
  const std::string real = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0";
  EXPECT_EQ(told(host, pcie, "gpu.iommu_group"), "absent (the IOMMU is off)");
  host.file("/sys/kernel/iommu_groups/17/type", "DMA\n");
  EXPECT_EQ(told(host, pcie, "gpu.iommu_group"), "unknown (not-stated)");
  host.link(real + "/iommu_group", "../../../../kernel/iommu_groups/17");
  EXPECT_EQ(told(host, pcie, "gpu.iommu_group@0"), "17");
}

Result<PciConfig> parse(const std::string& bytes) {
  return parse_pci_config([&bytes](std::uint32_t at) -> std::optional<std::uint32_t> {
    if (bytes.size() < 4 || at > bytes.size() - 4) {
      return std::nullopt;
    }
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
  });
}

TEST(PciConfig, LoopsAndTornListsEnd) {
  const auto loop = parse(Space().dword(0x60, 0x00006001).dword(0x100, 0x10020001).bytes);
  ASSERT_TRUE(loop);
  EXPECT_FALSE(loop->is_express);
  EXPECT_FALSE(loop->acs_control);
  EXPECT_TRUE(loop->has_extended);
  for (std::uint32_t seed = 1; seed < 400; ++seed) {
    std::string bytes = bridge_space().bytes;
    std::uint32_t state = seed * 2654435761u;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525u + 1013904223u;
      bytes[state >> 8 & 0x1ffu] = static_cast<char>(state >> 24);
    }
    bytes.resize(state % 4097);
    static_cast<void>(parse(bytes));  // ends, and reads nothing behind the end
  }
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse(std::string(63, '\0')));
}

TEST(PciConfig, SlotPowerFollowsItsScale) {
  EXPECT_EQ(slot_power(75u << 7), "75");
  EXPECT_EQ(slot_power(250u << 7 | 1u << 15), "25");
  EXPECT_EQ(slot_power(105u << 7 | 1u << 15), "10.5");
  EXPECT_EQ(slot_power(5u << 7 | 2u << 15), "0.05");
  EXPECT_EQ(slot_power(0xf0u << 7), "250");
  EXPECT_EQ(slot_power(0xfeu << 7), "600");
  EXPECT_EQ(slot_power(0), "");
}

}  // namespace
}  // namespace goldenv::probe
