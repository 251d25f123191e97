#include <gtest/gtest.h>

#include "probe/package_version.h"
#include "probe/rpm_machine.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe host_tools;
namespace {

using test::FakeHost;
using test::told;

std::string stanza(const std::string& name, const std::string& version) {
  return "Package: " + name +
         "\nStatus: install ok installed\nArchitecture: amd64\nVersion: " + version + "\n\n";
}

TEST(HostToolsProbe, VersionsAreThoseOfThePackages) {
  FakeHost host;
  host.file("/var/lib/dpkg/status", stanza("docker-ce", "5:24.0.7-1~ubuntu.22.04~jammy") +
                                        stanza("containerd.io", "1.6.24-1") +
                                        stanza("slurmd", "22.05.8-4+deb12u3") +
                                        stanza("podman", "4.3.1+ds1-8+deb12u1") +
                                        stanza("nvidia-container-toolkit", "1.14.3-1"));
  host.file("/usr/bin/runc", "");
  const auto found = test::scan(host, host_tools);
  EXPECT_EQ(told(found, "container.engine.docker"), "24.0.7");
  EXPECT_EQ(told(found, "container.engine.containerd"), "1.6.24");
  EXPECT_EQ(told(found, "container.engine.podman"), "4.3.1");
  EXPECT_EQ(told(found, "container.engine.enroot"), "absent (not installed)");
  EXPECT_EQ(told(found, "container.toolkit"), "1.14.3");
  EXPECT_EQ(told(found, "container.runc"), "unknown (not-stated)");  // came with containerd.io
  EXPECT_EQ(told(found, "slurm"), "22.05.8");
}

TEST(HostToolsProbe, RpmPackagesServeAsWell) {
  FakeHost host;
  host.file("/var/lib/rpm/Packages.db",
            test::rpm::ndb({test::rpm::header("docker-ce", 3, "26.1.3", "1.el9", "x86_64"),
                            test::rpm::header("slurm-slurmd", -1, "23.11.4", "1.el9", "x86_64")}));
  EXPECT_EQ(told(host, host_tools, "container.engine.docker"), "26.1.3");
  EXPECT_EQ(told(host, host_tools, "slurm"), "23.11.4");
}

TEST(HostToolsProbe, UnreadableListOfPackagesIsNoneWithoutTools) {
  FakeHost host;
  host.deny("/var/lib/dpkg/status");
  EXPECT_EQ(told(host, host_tools, "container.engine.docker"), "unknown (denied)");
  EXPECT_EQ(told(host, host_tools, "slurm"), "unknown (denied)");
  EXPECT_EQ(told(FakeHost(), host_tools, "slurm"), "absent (no slurmd)");
}

TEST(HostToolsProbe, SlurmOfNoPackageIsToldByItsHeader) {
  FakeHost host;
  host.file("/opt/slurm/sbin/slurmd", "");
  EXPECT_EQ(told(host, host_tools, "slurm"), "unknown (not-stated)");
  host.file("/opt/slurm/include/slurm/slurm_version.h",
            "#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(24,5,3)\n");
  EXPECT_EQ(told(host, host_tools, "slurm"), "24.05.3");
  host.file("/opt/slurm/include/slurm/slurm_version.h",
            "#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(24,x");
  EXPECT_EQ(told(host, host_tools, "slurm"), "unknown (not-stated)");
}

TEST(HostToolsProbe, SystemdIsToldByItsLibrary) {
  FakeHost host;
  host.file("/lib/systemd/systemd", "");
  EXPECT_EQ(told(host, host_tools, "systemd"), "unknown (not-stated)");
  host.file("/lib/systemd/libsystemd-shared-252.so", "");
  EXPECT_EQ(told(host, host_tools, "systemd"), "252");
  FakeHost fedora;
  fedora.file("/usr/lib64/systemd/libsystemd-shared-255.10-1.fc40.so", "");
  EXPECT_EQ(told(fedora, host_tools, "systemd"), "255.10");
  EXPECT_EQ(told(FakeHost(), host_tools, "systemd"), "absent (no systemd)");
  FakeHost denied;
  denied.deny("/usr/lib/systemd");
  EXPECT_EQ(told(denied, host_tools, "systemd"), "unknown (denied)");
}

TEST(HostToolsProbe, CgroupDriverIsDockersThenContainerds) {
  constexpr const char* kKey = "container.cgroup_driver";
  FakeHost host;
  EXPECT_EQ(told(host, host_tools, kKey), "absent (neither docker nor containerd)");
  host.file("/usr/bin/containerd", "");
  EXPECT_EQ(told(host, host_tools, kKey), "cgroupfs");
  host.file("/etc/containerd/config.toml", "  # SystemdCgroup = false\n  SystemdCgroup = true\n");
  EXPECT_EQ(told(host, host_tools, kKey), "systemd");
  host.file("/usr/bin/dockerd", "");
  EXPECT_EQ(told(host, host_tools, kKey), "unknown (not-stated)");
  FakeHost v2;
  v2.file("/usr/bin/dockerd", "");
  v2.file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(told(v2, host_tools, kKey), "systemd");
  v2.file("/etc/docker/daemon.json", "{\"exec-opts\": [\"native.cgroupdriver=cgroupfs\"]}");
  EXPECT_EQ(told(v2, host_tools, kKey), "cgroupfs");
  v2.deny("/etc/docker/daemon.json");
  EXPECT_EQ(told(v2, host_tools, kKey), "unknown (denied)");
}

TEST(PackageVersion, UpstreamNumbersAloneCount) {
  EXPECT_EQ(upstream_numbers("5:24.0.7-1~ubuntu.22.04~jammy"), "24.0.7");
  EXPECT_EQ(upstream_numbers("20.10.24+dfsg1-1"), "20.10.24");
  EXPECT_EQ(upstream_numbers("252.-1"), "252");
  EXPECT_EQ(upstream_numbers("git123"), "");
  EXPECT_EQ(upstream_numbers(""), "");
}

}  // namespace
}  // namespace goldenv::probe
