#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe network;
extern const Probe rdma;
namespace {

using test::FakeHost;
using test::scan;
using test::told;

void add_interface(FakeHost& host, const std::string& name, const std::string& speed,
                   const std::string& mtu, const std::string& state) {
  const std::string folder = "/sys/devices/" + name;
  host.link("/sys/class/net/" + name, "../../devices/" + name)
      .file(folder + "/speed", speed + "\n")
      .file(folder + "/mtu", mtu + "\n")
      .file(folder + "/operstate", state + "\n")
      .file(folder + "/address", "02:00:00:00:00:0" + std::to_string(name.size()) + "\n")
      .file(folder + "/uevent", "INTERFACE=" + name + "\n");
}

struct Node : FakeHost {
  Node() {
    FakeHost& host = *this;
    add_interface(host, "eth0", "100000", "9000", "up");
    add_interface(host, "eth1", "-1", "1500", "down");
    add_interface(host, "lo", "", "65536", "unknown");
    add_interface(host, "veth123", "10000", "1500", "up");
    add_interface(host, "docker0", "-1", "1500", "down");
    for (const char* name : {"eth0", "eth1"}) {
      host.link(std::string("/sys/devices/") + name + "/device/driver",
                "../../../bus/pci/drivers/mlx5_core");
    }
    host.folder("/sys/bus/pci/drivers/mlx5_core").folder("/sys/devices/docker0/bridge");
    host.file("/sys/class/net/bonding_masters", "");
  }
};

TEST(NetworkProbe, PhysicalInterfacesCountAndThoseOfContainersDoNot) {
  const facts::Snapshot snapshot = scan(Node(), network);
  EXPECT_EQ(told(snapshot, "nic.driver"), "mlx5_core");
  EXPECT_EQ(told(snapshot, "nic.kind"), "physical");
  EXPECT_EQ(told(snapshot, "nic.mtu"), "1500 x 1, 9000 x 1");
  EXPECT_EQ(told(snapshot, "nic.mtu@eth0"), "9000");
  EXPECT_EQ(told(snapshot, "nic.state"), "down x 1, up x 1");
  EXPECT_EQ(told(snapshot, "nic.mac@eth0"), "02:00:00:00:00:04");
  EXPECT_EQ(told(snapshot, "nic.mtu@veth123"), "not recorded");
  EXPECT_EQ(told(snapshot, "nic.mtu@lo"), "not recorded");
}

TEST(NetworkProbe, AnInterfaceAskedForByNameIsReadOrAbsent) {
  const facts::Snapshot snapshot =
      scan(Node(), network, test::only({"nic.mtu@docker0", "nic.mtu@eth7"}));
  EXPECT_EQ(told(snapshot, "nic.mtu@docker0"), "1500");
  EXPECT_EQ(told(snapshot, "nic.mtu"), "1500 x 1, 9000 x 1");
  EXPECT_EQ(told(snapshot, "nic.mtu@eth7"), "absent (there are 2, eth0 to eth1)");
}

TEST(NetworkProbe, SpeedOfALinkThatIsDownIsUnknown) {
  Node host;
  EXPECT_EQ(told(host, network, "nic.speed@eth0"), "100000");
  EXPECT_EQ(told(host, network, "nic.speed@eth1"), "unknown (not-stated)");
  EXPECT_EQ(told(host, network, "nic.speed"), "unknown (not-stated)");
  host.fail("/sys/devices/eth1/speed", Errc::unreadable);  // the kernel's EINVAL
  EXPECT_EQ(told(host, network, "nic.speed@eth1"), "unknown (not-stated)");
}

TEST(NetworkProbe, AScanOfEverythingShowsTheRestWithoutASay) {
  Request request;
  request.all = true;
  const facts::Snapshot snapshot = scan(Node(), network, request);
  EXPECT_EQ(told(snapshot, "nic.mtu"), "1500 x 1, 9000 x 1");
  EXPECT_EQ(told(snapshot, "nic.mtu@veth123"), "1500");
  EXPECT_EQ(told(snapshot, "nic.kind@docker0"), "bridge");
}

TEST(NetworkProbe, InsideAContainerTheVirtualOneCounts) {
  FakeHost host;
  add_interface(host, "eth0", "10000", "1400", "up");
  EXPECT_EQ(told(host, network, "nic.kind"), "virtual");
  EXPECT_EQ(told(host, network, "nic.mtu"), "1400");
  EXPECT_EQ(told(host, network, "nic.driver"), "absent (no physical interface)");
}

TEST(NetworkProbe, BondsAndVlansAreKindsOfTheirOwn) {
  Node host;
  add_interface(host, "bond0", "200000", "9000", "up");
  add_interface(host, "bond0.100", "200000", "9000", "up");
  host.folder("/sys/devices/bond0/bonding")
      .file("/sys/devices/bond0.100/uevent", "DEVTYPE=vlan\nINTERFACE=bond0.100\n");
  EXPECT_EQ(told(host, network, "nic.kind"), "bond x 1, physical x 2, vlan x 1");
}

TEST(NetworkProbe, WithoutSysNothingIsKnown) {
  FakeHost host;
  EXPECT_EQ(told(host, network, "nic.mtu"), "absent");
  host.fail("/sys/class/net", Errc::not_live);
  EXPECT_EQ(told(host, network, "nic.mtu"), "unknown (not-live)");
  EXPECT_EQ(told(host, network, "nic.driver"), "unknown (not-live)");
}

struct WithAdapters : FakeHost {
  WithAdapters() {
    FakeHost& host = *this;
    for (const char* name : {"mlx5_0", "mlx5_1"}) {
      const std::string folder = std::string("/sys/class/infiniband/") + name;
      host.file(folder + "/fw_ver", "28.41.1000\n")
          .file(folder + "/hca_type", "MT4129\n")
          .file(folder + "/board_id", "MT_0000000838\n")
          .file(folder + "/node_guid", std::string("b83f:d203:0000:000") + name[5] + "\n")
          .file(folder + "/ports/1/state", "4: ACTIVE\n")
          .file(folder + "/ports/1/rate", "400 Gb/sec (4X NDR)\n")
          .file(folder + "/ports/1/link_layer", "InfiniBand\n");
    }
  }
};

TEST(RdmaProbe, AdaptersAndTheirPorts) {
  WithAdapters host;
  host.file("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  const facts::Snapshot snapshot = scan(host, rdma);
  EXPECT_EQ(told(snapshot, "rdma.count"), "2");
  EXPECT_EQ(told(snapshot, "rdma.firmware"), "28.41.1000");
  EXPECT_EQ(told(snapshot, "rdma.type"), "MT4129");
  EXPECT_EQ(told(snapshot, "rdma.board_id"), "MT_0000000838");
  EXPECT_EQ(told(snapshot, "rdma.guid@mlx5_1"), "b83f:d203:0000:0001");
  EXPECT_EQ(told(snapshot, "rdma.rate"), "400 Gb/sec (4X NDR)");
  EXPECT_EQ(told(snapshot, "rdma.link_layer"), "InfiniBand");
  EXPECT_EQ(told(snapshot, "rdma.state"), "ACTIVE x 1, DOWN x 1");
  EXPECT_EQ(told(snapshot, "rdma.state@mlx5_1/1"), "DOWN");
}

TEST(RdmaProbe, NoAdapterIsZeroAndNotUnknown) {
  FakeHost host;
  EXPECT_EQ(told(host, rdma, "rdma.count"), "0");
  EXPECT_EQ(told(host, rdma, "rdma.firmware"), "absent (no RDMA adapter)");
  host.fail("/sys/class/infiniband", Errc::not_live);
  EXPECT_EQ(told(host, rdma, "rdma.count"), "unknown (not-live)");
  EXPECT_EQ(told(host, rdma, "rdma.state"), "unknown (not-live)");
}

TEST(RdmaProbe, AFileThatMayNotBeReadMakesTheTallyUnknown) {
  WithAdapters host;
  host.deny("/sys/class/infiniband/mlx5_1/fw_ver");
  EXPECT_EQ(told(host, rdma, "rdma.firmware"), "unknown (denied)");
  EXPECT_EQ(told(host, rdma, "rdma.firmware@mlx5_0"), "28.41.1000");
}

TEST(RdmaProbe, OfedIsNamedByItsScriptOrItsModule) {
  FakeHost host;
  EXPECT_EQ(told(host, rdma, "rdma.ofed"), "absent (the kernel's own drivers)");
  host.file("/sys/module/mlx5_core/version", "6.1.0\n");
  EXPECT_EQ(told(host, rdma, "rdma.ofed"), "absent (the kernel's own drivers)");
  host.file("/sys/module/mlx5_core/version", "23.10-1.1.9\n");
  EXPECT_EQ(told(host, rdma, "rdma.ofed"), "23.10-1.1.9");
  host.file("/usr/bin/ofed_info", "#!/bin/bash\necho MLNX_OFED_LINUX-23.10-1.1.9.0:\n");
  EXPECT_EQ(told(host, rdma, "rdma.ofed"), "MLNX_OFED_LINUX-23.10-1.1.9.0");
  host.deny("/usr/bin/ofed_info");
  EXPECT_EQ(told(host, rdma, "rdma.ofed"), "unknown (denied)");
}

TEST(RdmaProbe, TheWayToGpuMemory) {
  FakeHost host;
  EXPECT_EQ(told(host, rdma, "rdma.peermem"), "none");
  EXPECT_EQ(told(host, rdma, "rdma.peermem.registered"), "false");
  host.file("/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  "
            "(b@h)  Tue Sep 23 09:55:41 UTC 2025\n");
  host.uname({"node", "5.4.0-149-generic", "", "x86_64"});
  EXPECT_EQ(told(host, rdma, "rdma.peermem"), "none");
  host.uname({"node", "6.8.0-40-generic", "", "x86_64"});
  EXPECT_EQ(told(host, rdma, "rdma.peermem"), "dma-buf");
  host.file("/sys/module/nvidia_peermem/version", "580.95.05\n")
      .file("/sys/kernel/mm/memory_peers/nv_mem/version", "1\n");
  EXPECT_EQ(told(host, rdma, "rdma.peermem"), "nvidia_peermem");
  EXPECT_EQ(told(host, rdma, "rdma.peermem.registered"), "true");
  host.fail("/sys/module", Errc::not_live);
  host.fail("/sys/module/nvidia_peermem", Errc::not_live);
  EXPECT_EQ(told(host, rdma, "rdma.peermem"), "unknown (not-live)");
}

}  // namespace
}  // namespace goldenv::probe
