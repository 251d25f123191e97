#include <gtest/gtest.h>

#include "probe/os_release.h"
#include "probe/platform.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe firmware;
extern const Probe identity;
extern const Probe os;
extern const Probe peer_traffic;
extern const Probe virtualization;
namespace {

using test::FakeHost;
using test::told;

TEST(OsProbe, QuotedValuesAreRead) {
  FakeHost host;
  host.file("/etc/os-release",
            "PRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\nID=ubuntu\nVERSION_ID='22.04'\n");
  EXPECT_EQ(told(host, os, "os.name"), "Ubuntu 22.04.4 LTS");
  EXPECT_EQ(told(host, os, "os.id"), "ubuntu");
  EXPECT_EQ(told(host, os, "os.release"), "22.04");
  EXPECT_EQ(told(host, os, "host.platform"), "linux");
}

TEST(OsProbe, RollingDistributionHasNoRelease) {
  FakeHost host;
  host.file("/usr/lib/os-release", "ID=arch\n");
  EXPECT_EQ(told(host, os, "os.id"), "arch");
  EXPECT_EQ(told(host, os, "os.release"), "absent (os-release has no VERSION_ID)");
}

TEST(OsProbe, DeniedIsUnknown) {
  FakeHost host;
  host.deny("/etc/os-release");
  EXPECT_EQ(told(host, os, "os.name"), "unknown (denied)");
  EXPECT_EQ(told(FakeHost(), os, "os.name"), "absent");
}

TEST(OsProbe, BytesThatAreNoOsReleaseAreUnreadable) {
  for (const std::string& text :
       {std::string(), std::string("\x01\x92=\xff\0\nq", 8), std::string("hello\n")}) {
    FakeHost host;
    host.file("/etc/os-release", text);
    for (const char* key : {"os.name", "os.id", "os.release"}) {
      EXPECT_EQ(told(host, os, key), "unknown (unreadable)") << key;
    }
  }
}

TEST(OsProbe, WslNeedsMoreThanOneLeftover) {
  FakeHost host;
  host.file("/usr/lib/wsl/lib/libcuda.so.1", "");
  EXPECT_EQ(told(host, os, "host.platform"), "linux");
  host.file("/dev/dxg", "");
  EXPECT_EQ(told(host, os, "host.platform"), "wsl2");
  FakeHost named;
  named.uname({"n", "5.15.153.1-microsoft-standard-WSL2", "#1", "x86_64"});
  EXPECT_EQ(told(named, os, "host.platform"), "wsl2");
}

TEST(OsProbe, JetsonIsRead) {
  FakeHost host;
  host.file("/etc/nv_tegra_release",
            "# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, DATE: "
            "x\n")
      .file("/proc/device-tree/model", std::string("NVIDIA Jetson AGX Orin Developer Kit\0", 37));
  EXPECT_EQ(told(host, os, "host.platform"), "jetson");
  EXPECT_EQ(told(host, os, "jetson.l4t"), "35.4.1");
  EXPECT_EQ(told(host, os, "jetson.model"), "NVIDIA Jetson AGX Orin Developer Kit");
  host.file("/etc/nv_tegra_release", "");
  EXPECT_EQ(told(host, os, "jetson.l4t"), "unknown (unreadable)");
  EXPECT_EQ(told(FakeHost(), os, "jetson.l4t"), "absent (no Jetson Linux)");
}

TEST(OsRelease, EscapesAndCommentsAreShells) {
  const auto fields = parse_os_release("# a=b\nA=\"x \\\"y\\\"\"\nB='\\n'\nC=\n=d\nE=\"open\r\n");
  EXPECT_EQ(fields.at("A"), "x \"y\"");
  EXPECT_EQ(fields.at("B"), "\\n");
  EXPECT_EQ(fields.at("C"), "");
  EXPECT_EQ(fields.at("E"), "open");
  EXPECT_EQ(fields.size(), 4u);
}

TEST(L4t, CutLinesGiveNothing) {
  EXPECT_EQ(parse_l4t("# R36 (release), REVISION: 2.0, GCID: 1"), "36.2.0");
  for (const std::string_view text :
       {"", "# R35 (release)", "# R35 (release), REVISION:", "REVISION: 4.1"}) {
    EXPECT_EQ(parse_l4t(text), "") << text;
  }
}

TEST(IdentityProbe, MachineAndBootAreTold) {
  FakeHost host;
  host.file("/etc/machine-id", "0123\n").file("/proc/sys/kernel/random/boot_id", "a-b\n");
  host.file("/proc/uptime", "8643211.22 99.1\n");
  EXPECT_EQ(told(host, identity, "host.name"), "node");
  EXPECT_EQ(told(host, identity, "host.machine_id"), "0123");
  EXPECT_EQ(told(host, identity, "host.boot_id"), "a-b");
  EXPECT_EQ(told(host, identity, "host.uptime"), "8643211");
  host.file("/proc/uptime", "");
  EXPECT_EQ(told(host, identity, "host.uptime"), "unknown (unreadable)");
  host.deny("/etc/machine-id");
  EXPECT_EQ(told(host, identity, "host.machine_id"), "unknown (denied)");
}

TEST(FirmwareProbe, DmiIsRead) {
  FakeHost host;
  const std::string dmi = "/sys/class/dmi/id/";
  host.file(dmi + "sys_vendor", "Supermicro\n")
      .file(dmi + "bios_version", "2.4\n")
      .file(dmi + "bios_date", "\n")
      .deny(dmi + "product_serial");
  EXPECT_EQ(told(host, firmware, "host.vendor"), "Supermicro");
  EXPECT_EQ(told(host, firmware, "bios"), "2.4");
  EXPECT_EQ(told(host, firmware, "host.serial"), "unknown (denied, needs root)");
  EXPECT_EQ(told(host, firmware, "bios.release"), "absent (not stated by DMI)");
  EXPECT_EQ(told(host, firmware, "bios.date"), "absent (not stated by DMI)");
}

TEST(FirmwareProbe, SecureBootIsTheFifthByte) {
  const std::string variable =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  FakeHost host;
  host.file(variable, std::string("\x06\0\0\0\x01", 5));
  EXPECT_EQ(told(host, firmware, "bios.mode"), "uefi");
  EXPECT_EQ(told(host, firmware, "bios.secure_boot"), "true");
  host.file(variable, std::string("\x06\0\0\0\0", 5));
  EXPECT_EQ(told(host, firmware, "bios.secure_boot"), "false");
  host.file(variable, "\x06");
  EXPECT_EQ(told(host, firmware, "bios.secure_boot"), "unknown (unreadable)");
}

TEST(FirmwareProbe, SecureBootOfAContainerIsNotOff) {
  FakeHost container;
  container.folder("/sys/firmware/efi");
  EXPECT_EQ(told(container, firmware, "bios.secure_boot"), "unknown (not-stated)");
  FakeHost legacy;
  legacy.folder("/sys/firmware/acpi");
  EXPECT_EQ(told(legacy, firmware, "bios.mode"), "legacy");
  EXPECT_EQ(told(legacy, firmware, "bios.secure_boot"), "absent (not started by UEFI)");
  EXPECT_EQ(told(FakeHost(), firmware, "bios.mode"), "unknown (not-stated)");
}

TEST(PeerTrafficProbe, TypesOfTheGroupsDecide) {
  FakeHost host;
  host.file("/sys/kernel/iommu_groups/0/type", "identity\n")
      .file("/sys/kernel/iommu_groups/1/type", "identity\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.groups"), "2");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "passthrough");
  host.file("/sys/kernel/iommu_groups/1/type", "DMA-FQ\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "translated");
}

TEST(PeerTrafficProbe, GroupsOfTheGpusComeFirst) {
  FakeHost host;
  const std::string pci = "/sys/bus/pci/devices/0000:07:00.0";
  host.file(pci + "/class", "0x030200\n").file(pci + "/vendor", "0x10de\n");
  host.file("/sys/kernel/iommu_groups/0/type", "DMA\n")
      .file(pci + "/iommu_group/type", "identity\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "passthrough");
}

TEST(PeerTrafficProbe, NoGroupsMeansOff) {
  FakeHost host;
  host.folder("/sys/kernel/iommu_groups")
      .file("/sys/module/pcie_aspm/parameters/policy", "[default] performance\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "off");
  EXPECT_EQ(told(host, peer_traffic, "pcie.aspm.policy"), "default");
  EXPECT_EQ(told(host, peer_traffic, "tuned.profile"), "absent");
  host.deny("/sys/kernel/iommu_groups");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "unknown (denied)");
}

TEST(PeerTrafficProbe, OlderKernelsAreBelievedByTheirCommandLine) {
  FakeHost host;
  host.folder("/sys/kernel/iommu_groups/0").file("/proc/cmdline", "quiet iommu=pt\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "passthrough");
  host.file("/proc/cmdline", "quiet\n");
  EXPECT_EQ(told(host, peer_traffic, "iommu.mode"), "unknown (not-stated)");
}

TEST(VirtualizationProbe, LoneDockerenvOnAVirtualMachineIsNoContainer) {
  FakeHost host;
  host.file("/.dockerenv", "").file("/proc/1/comm", "process_api\n");
  host.file("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/vda rw\n");
  EXPECT_EQ(told(host, virtualization, "host.container"), "none");
}

TEST(VirtualizationProbe, EnginesAreTold) {
  FakeHost docker;
  docker.file("/.dockerenv", "").file("/proc/1/comm", "bash\n");
  docker.file("/proc/self/mountinfo",
              "1 0 0:1 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l\n"
              "2 1 8:1 /a /etc/hosts rw - ext4 /dev/a rw\n3 1 8:1 /b /etc/resolv.conf rw - ext4 "
              "/dev/a rw\n");
  EXPECT_EQ(told(docker, virtualization, "host.container"), "docker");
  docker.set("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  EXPECT_EQ(told(docker, virtualization, "host.container"), "kubernetes");
  FakeHost lxc;
  lxc.file("/run/systemd/container", "lxc\n").file("/proc/1/comm", "systemd\n");
  EXPECT_EQ(told(lxc, virtualization, "host.container"), "lxc");
  FakeHost podman;
  podman.file("/run/.containerenv", "")
      .file("/proc/1/comm", "sleep\n")
      .file("/proc/self/mountinfo", "");
  EXPECT_EQ(told(podman, virtualization, "host.container"), "podman");
  FakeHost apptainer;
  apptainer.set("SINGULARITY_CONTAINER", "/x.sif").file("/proc/1/comm", "systemd\n");
  EXPECT_EQ(told(apptainer, virtualization, "host.container"), "apptainer");
}

TEST(VirtualizationProbe, TreeWithoutProcessesCannotTell) {
  FakeHost host;
  host.live(false).fail("/proc", Errc::not_live).fail("/sys", Errc::not_live);
  EXPECT_EQ(told(host, virtualization, "host.container"), "unknown (not-live)");
  EXPECT_EQ(told(host, virtualization, "host.hypervisor"), "unknown (not-live)");
}

TEST(VirtualizationProbe, HypervisorsAreTold) {
  struct Case {
    std::string flags;
    std::string vendor;
    std::string clocks;
    std::string monitor;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"fpu hypervisor", "QEMU\n", "", "kvm"},
           {"fpu hypervisor", "Amazon EC2\n", "", "nitro"},
           {"fpu", "Amazon EC2\n", "", "none"},
           {"fpu hypervisor", "", "kvm-clock tsc\n", "kvm"},
           {"fpu hypervisor", "", "hyperv_clocksource_tsc_page\n", "hyper-v"},
           {"fpu hypervisor", "", "tsc\n", "other"},
           {"fpu", "Dell Inc.\n", "tsc\n", "none"},
       }) {
    FakeHost host;
    host.file("/proc/cpuinfo", "processor : 0\nflags\t\t: " + c.flags + "\n");
    if (!c.vendor.empty()) {
      host.file("/sys/class/dmi/id/sys_vendor", c.vendor);
    }
    host.file("/sys/devices/system/clocksource/clocksource0/available_clocksource", c.clocks);
    EXPECT_EQ(told(host, virtualization, "host.hypervisor"), c.monitor) << c.flags << c.vendor;
  }
}

TEST(VirtualizationProbe, ArmProcessorsDoNotSayWhetherTheyAreGuests) {
  FakeHost host;
  host.file("/proc/cpuinfo", "processor : 0\nFeatures : fp\n");
  EXPECT_EQ(told(host, virtualization, "host.hypervisor"), "unknown (not-stated)");
  host.file("/sys/class/dmi/id/sys_vendor", "NVIDIA\n");
  EXPECT_EQ(told(host, virtualization, "host.hypervisor"), "none");
}

}  // namespace
}  // namespace goldenv::probe
