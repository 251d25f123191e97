#include "probe/origin.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace goldenv::probe {
namespace {

using facts::Origin;
using facts::Value;
using test::FakeHost;

Origin origin(const FakeHost& host, const std::string& key, const std::string& value,
              facts::Evidence evidence = {}) {
  Survey survey(host, {});
  return origin_of(survey, {{key, ""}, Value::scalar(value), std::move(evidence)});
}

std::string told(const std::vector<facts::OriginLine>& lines) {
  std::string all;
  for (const facts::OriginLine& line : lines) {
    all += line.file + ":" + std::to_string(line.line) + " " + line.text + "\n";
  }
  return all;
}

FakeHost& with_systemd(FakeHost& host) {
  return host.file("/usr/lib/systemd/systemd-sysctl", "").file("/proc/cmdline", "quiet\n");
}

TEST(Origin, ASysctlIsSetByTheLineThatWins) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/10-gpu.conf", "kernel.watchdog_thresh = 60\n")
      .file("/etc/sysctl.d/90-latency.conf", "# x\nkernel.watchdog_thresh = 30\n");
  const Origin found = origin(host, "sysctl.kernel.watchdog_thresh", "30");
  EXPECT_EQ(told(found.set_by), "/etc/sysctl.d/90-latency.conf:2 kernel.watchdog_thresh = 30\n");
  EXPECT_EQ(told(found.over), "/etc/sysctl.d/10-gpu.conf:1 kernel.watchdog_thresh = 60\n");
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_EQ(found.files[0].unowned, "no lists of dpkg are there");
}

TEST(Origin, ASysctlThatWasChangedSinceIsNotSetByTheFile) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.d/10-gpu.conf", "kernel.watchdog_thresh = 60\n");
  const Origin found = origin(host, "sysctl.kernel.watchdog_thresh", "10");
  EXPECT_TRUE(found.set_by.empty());
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_TRUE(
      found.notes[0].starts_with("not what the boot set: /etc/sysctl.d/10-gpu.conf:1 has 60;"))
      << found.notes[0];
}

TEST(Origin, ASysctlThatNothingSetsHasTheDefaultAndADeniedFolderIsTold) {
  FakeHost host;
  with_systemd(host);
  EXPECT_EQ(origin(host, "sysctl.vm.swappiness", "60").notes.at(0),
            "no file and no boot parameter: the kernel's default, or a program");
  host.deny("/etc/sysctl.d");
  EXPECT_TRUE(origin(host, "sysctl.vm.swappiness", "60").notes.at(0).starts_with("not known: "));
}

TEST(Origin, TheFilesPackageAndItsLastLogEntryAreTold) {
  FakeHost host;
  with_systemd(host)
      .file("/usr/lib/sysctl.d/50-pid-max.conf", "kernel.pid_max = 4194304\n")
      .file("/var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib/libc.so\n")
      .file("/var/lib/dpkg/info/systemd.list", "/.\n/usr/lib/sysctl.d/50-pid-max.conf\n")
      .file("/var/lib/dpkg/status",
            "Package: systemd\nStatus: install ok installed\nArchitecture: amd64\nVersion: 252.1\n")
      .file("/var/log/dpkg.log",
            "2026-01-01 10:00:00 install systemd:amd64 <none> 252.0\n"
            "2026-02-01 10:00:00 upgrade systemd:amd64 252.0 252.1\n"
            "2026-02-01 10:00:01 status installed systemd:amd64 252.1\n"
            "2026-03-01 10:00:00 upgrade systemd-sysv:amd64 252.0 252.1\n")
      .file("/var/log/apt/history.log",
            "\nStart-Date: 2026-02-01  10:00:00\nCommandline: apt upgrade --token abc\n"
            "Requested-By: alice (1000)\nUpgrade: libc6:amd64 (1, 2), systemd:amd64 (252.0, "
            "252.1)\nEnd-Date: 2026-02-01  10:00:09\n\n"
            "Start-Date: 2026-03-01  10:00:00\nCommandline: apt install x\n"
            "Upgrade: systemd-sysv:amd64 (252.0, 252.1)\n");
  const Origin found = origin(host, "sysctl.kernel.pid_max", "4194304");
  ASSERT_EQ(found.files.size(), 1u);
  const facts::OriginFile& file = found.files[0];
  EXPECT_EQ(file.package, "systemd 252.1");
  EXPECT_EQ(file.touched, "2026-02-01 10:00:00 upgrade systemd:amd64 252.0 252.1");
  EXPECT_EQ(file.touched_by, "alice (1000): apt upgrade --token ***");
  EXPECT_TRUE(file.changed_ns.has_value());
}

TEST(Origin, AFileOfNoPackageAndOneThatCannotBeToldAreTwoThings) {
  FakeHost host;
  host.file("/etc/x.conf", "").file("/var/lib/dpkg/info/a.list", "/etc/y.conf\n");
  Survey survey(host, {});
  EXPECT_EQ(origin_file(survey, "/etc/x.conf").unowned, "no package lists it");
  host.deny("/var/lib/dpkg/info/b.list").file("/var/lib/dpkg/info/c.list", "/etc/z.conf\n");
  EXPECT_TRUE(origin_file(survey, "/etc/x.conf").unowned.starts_with("not known: "));
}

TEST(Origin, TheFilesOfARecordedMachineHaveNoTime) {
  FakeHost host;
  host.file("/etc/x.conf", "").file("/record.yaml", "goldenv_record: 0\n").live(false);
  Survey survey(host, {});
  EXPECT_FALSE(origin_file(survey, "/etc/x.conf").changed_ns.has_value());
}

TEST(Origin, ABootParameterIsSetInGrubsFiles) {
  FakeHost host;
  host.file("/etc/default/grub",
            "GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=pt\"\n"
            "GRUB_CMDLINE_LINUX=\"iommu.passthrough=1\"\n")
      .file("/etc/default/grub.d/10-old.cfg", "GRUB_CMDLINE_LINUX_DEFAULT=\"iommu=off\"\n")
      .file("/etc/default/grub.d/50-gpu.cfg",
            "\nGRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT iommu=on\"\n");
  EXPECT_EQ(told(origin(host, "kernel.cmdline.iommu", "on").set_by),
            "/etc/default/grub.d/10-old.cfg:1 GRUB_CMDLINE_LINUX_DEFAULT=\"iommu=off\"\n"
            "/etc/default/grub.d/50-gpu.cfg:2 "
            "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT iommu=on\"\n");
  EXPECT_TRUE(origin(host, "kernel.cmdline.quiet", "").set_by.empty());
  EXPECT_EQ(origin(host, "kernel.cmdline.quiet", "").notes.size(), 1u);
}

TEST(Origin, AModuleParameterIsSetByTheLastOptionsLine) {
  FakeHost host;
  host.file("/etc/modprobe.d/nvidia.conf",
            "blacklist nouveau\noptions nvidia NVreg_EnableStreamMemOPs=1\n")
      .file("/usr/lib/modprobe.d/a.conf",
            "options nvidia NVreg_EnableStreamMemOPs=0\n"
            "options nvidia-drm modeset=1\n");
  const Origin found = origin(host, "module.nvidia.param.EnableStreamMemOPs", "1");
  EXPECT_EQ(told(found.set_by),
            "/etc/modprobe.d/nvidia.conf:2 options nvidia NVreg_EnableStreamMemOPs=1\n");
  EXPECT_EQ(told(found.over),
            "/usr/lib/modprobe.d/a.conf:1 options nvidia NVreg_EnableStreamMemOPs=0\n");
  EXPECT_EQ(told(origin(host, "module.nvidia_drm.param.modeset", "Y").set_by),
            "/usr/lib/modprobe.d/a.conf:2 options nvidia-drm modeset=1\n");
}

TEST(Origin, AVariableIsLookedForWhereverOneIsSetAndSecretsAreNotShown) {
  FakeHost host;
  host.set("HOME", "/home/u")
      .file("/etc/environment", "NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=ALL\nMY_TOKEN=abc\n")
      .file("/etc/profile.d/nccl.sh", "# NCCL_DEBUG=no\n  export NCCL_DEBUG=WARN\n")
      .file("/home/u/.bashrc", "unset NCCL_DEBUG\n");
  EXPECT_EQ(told(origin(host, "env.NCCL_DEBUG", "WARN").set_by),
            "/etc/environment:1 NCCL_DEBUG=INFO\n"
            "/etc/profile.d/nccl.sh:2 export NCCL_DEBUG=WARN\n"
            "~/.bashrc:1 unset NCCL_DEBUG\n");
  EXPECT_EQ(told(origin(host, "env.MY_TOKEN", "sha256:x").set_by), "/etc/environment:3 \n");
}

TEST(Origin, ALimitIsSetByLimitsConf) {
  FakeHost host;
  host.file("/etc/security/limits.conf", "# * soft memlock 1\n* soft memlock 8192\n")
      .file("/etc/security/limits.d/99-ib.conf",
            "* - memlock unlimited\n* hard memlock 5\n* soft nofile 9\n");
  EXPECT_EQ(told(origin(host, "limits.memlock", "8192").set_by),
            "/etc/security/limits.conf:2 * soft memlock 8192\n"
            "/etc/security/limits.d/99-ib.conf:1 * - memlock unlimited\n");
  EXPECT_EQ(told(origin(host, "limits.memlock.hard", "8192").set_by),
            "/etc/security/limits.d/99-ib.conf:1 * - memlock unlimited\n"
            "/etc/security/limits.d/99-ib.conf:2 * hard memlock 5\n");
}

TEST(Origin, TheCudaLinkIsAnAlternative) {
  FakeHost host;
  host.file("/var/lib/dpkg/alternatives/cuda", "manual\n/usr/local/cuda\n\n/usr/local/cuda-12.1\n")
      .file("/var/log/alternatives.log",
            "update-alternatives 2026-01-01 00:00:00: run with --set cuda /usr/local/cuda-12.1\n"
            "update-alternatives 2026-02-01 00:00:00: run with --set cudnn /x\n");
  facts::Evidence evidence;
  evidence.from = "/usr/local/cuda";
  evidence.notes = {"/usr/local/cuda -> /etc/alternatives/cuda -> /usr/local/cuda-12.1"};
  const Origin found = origin(host, "cuda.toolkit.link", "/usr/local/cuda-12.1", evidence);
  EXPECT_EQ(told(found.set_by), "/var/lib/dpkg/alternatives/cuda:1 manual: chosen by hand\n");
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("2026-01-01"), std::string::npos);
}

TEST(Origin, ACudaLinkThatIsNoAlternativeIsAPackagesOrNobodys) {
  FakeHost host;
  host.link("/usr/local/cuda", "cuda-12.1")
      .folder("/usr/local/cuda-12.1")
      .file("/var/lib/dpkg/info/cuda-toolkit.list", "/usr/local/cuda\n");
  facts::Evidence evidence;
  evidence.from = "/usr/local/cuda";
  const Origin found = origin(host, "cuda.toolkit.link", "/usr/local/cuda-12.1", evidence);
  EXPECT_EQ(found.files.at(0).package, "cuda-toolkit");
  EXPECT_FALSE(found.files.at(0).changed_ns.has_value());
}

TEST(Origin, OfOtherFactsTheFileOnDiskIsTold) {
  FakeHost host;
  host.file("/usr/lib/libcuda.so.1", "").file("/sys/x", "");
  facts::Evidence evidence;
  evidence.from = "/usr/lib/libcuda.so.1";
  EXPECT_EQ(origin(host, "driver.libcuda", "1", evidence).files.at(0).path,
            "/usr/lib/libcuda.so.1");
  evidence.from = "/sys/x";
  EXPECT_TRUE(origin(host, "cpu.governor", "1", evidence).empty());
}

}  // namespace
}  // namespace goldenv::probe
