#include <gtest/gtest.h>

#include "probe/limits_text.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe limits;
extern const Probe cgroup;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max stack size            8388608              unlimited            bytes     \n"
    "Max core file size        0                    unlimited            bytes     \n"
    "Max processes             96364                96364                processes \n"
    "Max open files            20000                524288               files     \n"
    "Max locked memory         unlimited            unlimited            bytes     \n"
    "Max msgqueue size         819200               819200               bytes     \n"
    "Max realtime priority     0                    0                    \n";

TEST(LimitsProbe, SoftAndHardLimitsAreRead) {
  FakeHost host;
  host.file("/proc/self/limits", kLimits);
  const auto found = test::scan(host, limits);
  EXPECT_EQ(told(found, "limits.memlock"), "unlimited");
  EXPECT_EQ(told(found, "limits.nofile"), "20000");
  EXPECT_EQ(told(found, "limits.nofile.hard"), "524288");
  EXPECT_EQ(told(found, "limits.core"), "0");
  EXPECT_EQ(told(found, "limits.rtprio"), "0");
  EXPECT_EQ(told(found, "limits.cpu"), "not recorded");
  EXPECT_EQ(found.find({"limits.nofile", ""})->evidence.line, 6u);
}

TEST(LimitsProbe, OthersAreReadOnRequest) {
  FakeHost host;
  host.file("/proc/self/limits", kLimits);
  const auto found = test::scan(host, limits, test::only({"limits.cpu.hard", "limits.nonsense"}));
  EXPECT_EQ(told(found, "limits.cpu.hard"), "unlimited");
  EXPECT_EQ(told(found, "limits.nonsense"), "absent (no such resource)");
  EXPECT_EQ(found.facts.size(), 2u);
}

TEST(LimitsProbe, CutEmptyAndDeniedTextsAreUnknown) {
  FakeHost host;
  host.file("/proc/self/limits", "Max locked memory         unli");
  EXPECT_EQ(told(host, limits, "limits.memlock"), "unknown (unreadable)");
  host.file("/proc/self/limits", "");
  EXPECT_EQ(told(host, limits, "limits.memlock"), "unknown (unreadable)");
  host.deny("/proc/self/limits");
  EXPECT_EQ(told(host, limits, "limits.memlock.hard"), "unknown (denied)");
}

TEST(LimitsProbe, LastMountOfSharedMemoryCounts) {
  FakeHost host;
  host.live(false).file(
      "/proc/self/mountinfo",
      "1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / /dev/shm rw - tmpfs shm rw,size=65536k\n"
      "3 2 0:3 / /dev/shm rw - tmpfs shm rw,size=1g\n");
  const auto found = test::scan(host, limits);
  EXPECT_EQ(told(found, "shm.size"), "1073741824");
  EXPECT_EQ(told(found, "shm.free"), "unknown (not-live)");
  host.room("/dev/shm", {67108864, 1024});
  EXPECT_EQ(told(host, limits, "shm.size"), "67108864");
  EXPECT_EQ(told(host, limits, "shm.free"), "1024");
}

constexpr const char* kV2 = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

TEST(CgroupProbe, LowestLimitOnTheWayUpCounts) {
  FakeHost host;
  const std::string root = "/sys/fs/cgroup/a.slice";
  host.file("/proc/self/mountinfo", kV2).file("/proc/self/cgroup", "0::/a.slice/b.scope\n");
  host.file(root + "/memory.max", "8589934592\n").file(root + "/b.scope/memory.max", "max\n");
  host.file(root + "/b.scope/cpu.max", "150000 100000\n").file(root + "/cpu.max", "max 100000\n");
  host.file(root + "/b.scope/pids.max", "4915\n").file(root + "/pids.max", "100\n");
  host.file("/sys/fs/cgroup/cpuset.cpus.effective", "0-63\n");
  const auto found = test::scan(host, cgroup);
  EXPECT_EQ(told(found, "cgroup.version"), "v2");
  EXPECT_EQ(told(found, "cgroup.memory_max"), "8589934592");
  EXPECT_EQ(told(found, "cgroup.cpu_max"), "1.5");
  EXPECT_EQ(told(found, "cgroup.pids_max"), "100");
  EXPECT_EQ(told(found, "cgroup.cpus"), "0-63");
}

TEST(CgroupProbe, RootGroupLimitsNothing) {
  FakeHost host;
  host.file("/proc/self/mountinfo", kV2).file("/proc/self/cgroup", "0::/\n");
  host.folder("/sys/fs/cgroup").file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3,8\n");
  const auto found = test::scan(host, cgroup);
  EXPECT_EQ(told(found, "cgroup.memory_max"), "max");
  EXPECT_EQ(told(found, "cgroup.cpu_max"), "max");
  EXPECT_EQ(told(found, "cgroup.cpus"), "0-3 8");
}

TEST(CgroupProbe, OldLayoutIsRead) {
  FakeHost host;
  host.file("/proc/self/cgroup",
            "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n");
  host.file("/proc/self/mountinfo",
            "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "31 20 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  // In a container the mount shows the group itself, not the path that the host knows.
  host.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  host.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  host.file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const auto found = test::scan(host, cgroup);
  EXPECT_EQ(told(found, "cgroup.version"), "v1");
  EXPECT_EQ(told(found, "cgroup.memory_max"), "max");
  EXPECT_EQ(told(found, "cgroup.cpu_max"), "2.5");
  EXPECT_EQ(told(found, "cgroup.pids_max"), "unknown (not-stated)");
}

TEST(CgroupProbe, BothLayoutsAtOnceAreHybrid) {
  EXPECT_EQ(parse_cgroup("4:memory:/a\n0::/b\n").version, "hybrid");
  EXPECT_EQ(parse_cgroup("1:name=systemd:/a\n0::/b\n").version, "v2");
  EXPECT_EQ(parse_cgroup("").version, "");
  EXPECT_EQ(parse_cgroup("nonsense\n::\n:\n").version, "");
}

TEST(CgroupProbe, DeniedAndMissingAreToldApart) {
  FakeHost denied;
  denied.deny("/proc/self/cgroup");
  EXPECT_EQ(told(denied, cgroup, "cgroup.version"), "unknown (denied)");
  EXPECT_EQ(told(FakeHost(), cgroup, "cgroup.version"), "absent (kernel without control groups)");
}

TEST(LimitsText, SizesOfMountsHaveUnits) {
  EXPECT_EQ(mount_size("64k"), 65536u);
  EXPECT_EQ(mount_size("2G"), 2147483648u);
  EXPECT_EQ(mount_size("100"), 100u);
  for (const std::string_view text : {"50%", "", "k", "x", "99999999999999999999g"}) {
    EXPECT_FALSE(mount_size(text)) << text;
  }
}

}  // namespace
}  // namespace goldenv::probe
