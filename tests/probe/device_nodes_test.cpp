#include <gtest/gtest.h>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe device_nodes;
namespace {

using test::FakeHost;
using test::told;

TEST(DeviceNodesProbe, ModeAndOwnerAreRead) {
  FakeHost host;
  host.file("/dev/nvidia0", "").file("/dev/nvidiactl", "").file("/dev/nvidia-caps/nvidia-cap1", "");
  const auto found = test::scan(host, device_nodes);
  EXPECT_EQ(told(found, "device_node.nvidia0"), "0644 root:root");
  EXPECT_EQ(told(found, "device_node.nvidia-caps/nvidia-cap1"), "0644 root:root");
  EXPECT_EQ(told(found, "device_node.nvidia-uvm"), "absent");
  EXPECT_EQ(told(found, "device_node.char_links"), "false");
}

TEST(DeviceNodesProbe, LinksThatRuncNeedsAreFound) {
  FakeHost host;
  host.file("/dev/nvidia0", "")
      .link("/dev/char/195:0", "../nvidia0")
      .link("/dev/char/1:3", "../null");
  EXPECT_EQ(told(host, device_nodes, "device_node.char_links"), "true");
}

TEST(DeviceNodesProbe, MachineWithoutNodesNeedsNoLinks) {
  FakeHost host;
  host.folder("/dev");
  EXPECT_EQ(told(host, device_nodes, "device_node.char_links"), "absent (no NVIDIA device node)");
}

TEST(DeviceNodesProbe, DeniedAndMissingDevIsUnknown) {
  FakeHost host;
  host.fail("/dev", Errc::not_live);
  EXPECT_EQ(told(host, device_nodes, "device_node.nvidiactl"), "unknown (not-live)");
  EXPECT_EQ(told(host, device_nodes, "device_node.char_links"), "unknown (not-live)");
}

TEST(DeviceNodesProbe, NamedNodesAreAnsweredAlone) {
  FakeHost host;
  host.file("/dev/nvidia0", "").file("/dev/nvidia1", "");
  const auto found =
      test::scan(host, device_nodes, test::only({"device_node.nvidia1", "device_node.nvidia9"}));
  EXPECT_EQ(told(found, "device_node.nvidia1"), "0644 root:root");
  EXPECT_EQ(told(found, "device_node.nvidia9"), "absent");
  EXPECT_EQ(found.facts.size(), 2u);
}

}  // namespace
}  // namespace goldenv::probe
