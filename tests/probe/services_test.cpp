#include <gtest/gtest.h>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe services;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kGroups = "/sys/fs/cgroup/system.slice/";

/// A host that systemd runs, with control groups of version 2.
struct Systemd : FakeHost {
  Systemd() {
    file("/proc/self/mountinfo",
         "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
    file("/proc/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n");
    folder("/run/systemd/system");
    folder("/sys/fs/cgroup/system.slice");
  }

  Systemd& unit(const std::string& name) {
    file("/usr/lib/systemd/system/" + name + ".service", "[Service]\nExecStart=/x\n");
    return *this;
  }
  Systemd& enable(const std::string& name) {
    link("/etc/systemd/system/multi-user.target.wants/" + name + ".service",
         "/usr/lib/systemd/system/" + name + ".service");
    return *this;
  }
  /// A process of a group that started so many seconds after boot.
  Systemd& member(const std::string& group, int pid, int seconds) {
    file(group + "/cgroup.procs", std::to_string(pid) + "\n");
    std::string stat = std::to_string(pid) + " (a) b) S";
    for (int field = 4; field < 22; ++field) {
      stat += " 0";
    }
    file("/proc/" + std::to_string(pid) + "/stat",
         stat + " " + std::to_string(seconds * 100) + " 0");
    return *this;
  }
};

TEST(ServicesProbe, GroupWithProcessesIsActive) {
  Systemd host;
  host.unit("nvidia-persistenced").enable("nvidia-persistenced").unit("docker");
  host.member(std::string(kGroups) + "nvidia-persistenced.service", 700, 42);
  const auto found = test::scan(host, services);
  EXPECT_EQ(told(found, "service.nvidia-persistenced"), "active");
  EXPECT_EQ(told(found, "service.nvidia-persistenced.enabled"), "true");
  EXPECT_EQ(told(found, "service.nvidia-persistenced.started"), "1700000042");
  EXPECT_EQ(told(found, "service.docker"), "failed or inactive");
  EXPECT_EQ(told(found, "service.docker.enabled"), "false");
  EXPECT_EQ(told(found, "service.docker.started"), "absent (it does not run)");
  EXPECT_EQ(told(found, "service.slurmd"), "absent (no such unit)");
  EXPECT_EQ(told(found, "service.slurmd.enabled"), "absent (no such unit)");
}

TEST(ServicesProbe, ProcessesInGroupsBelowCountToo) {
  Systemd host;
  host.unit("slurmd");
  host.file(std::string(kGroups) + "slurmd.service/cgroup.procs", "");
  host.file(std::string(kGroups) + "slurmd.service/cgroup.events", "populated 1\nfrozen 0\n");
  EXPECT_EQ(told(host, services, "service.slurmd"), "active");
  EXPECT_EQ(told(host, services, "service.slurmd.started"), "unknown (unreadable)");
  host.file(std::string(kGroups) + "slurmd.service/cgroup.events", "populated 0\n");
  EXPECT_EQ(told(host, services, "service.slurmd"), "failed or inactive");
}

TEST(ServicesProbe, SliceOfTheUnitIsLookedInto) {
  Systemd host;
  host.file("/etc/systemd/system/slurmd.service", "[Service]\nSlice=hpc-jobs.slice\n");
  host.member("/sys/fs/cgroup/hpc.slice/hpc-jobs.slice/slurmd.service", 9, 1);
  EXPECT_EQ(told(host, services, "service.slurmd"), "active");
}

TEST(ServicesProbe, OldGroupsAreReadWhereSystemdKeepsThem) {
  Systemd host;
  host.file("/proc/self/mountinfo",
            "1 0 0:1 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
            "2 0 0:2 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  host.unit("docker").member("/sys/fs/cgroup/systemd/system.slice/docker.service", 5, 3);
  EXPECT_EQ(told(host, services, "service.docker"), "active");
}

TEST(ServicesProbe, MaskedUnitIsNotEnabledWhateverWantsIt) {
  Systemd host;
  host.unit("tuned").enable("tuned").file("/dev/null", "");
  host.link("/etc/systemd/system/tuned.service", "/dev/null");
  EXPECT_EQ(told(host, services, "service.tuned.enabled"), "false");
}

TEST(ServicesProbe, WithoutRunningSystemdNothingIsActive) {
  FakeHost host;
  host.file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  host.folder("/sys/fs/cgroup").file("/lib/systemd/system/docker.service", "");
  EXPECT_EQ(told(host, services, "service.docker"), "inactive");
  EXPECT_EQ(told(FakeHost(), services, "service.docker"), "absent (no systemd)");
}

TEST(ServicesProbe, WhatCannotBeSeenIsNotInactive) {
  Systemd hidden;
  hidden.unit("docker").deny("/sys/fs/cgroup/system.slice");
  EXPECT_EQ(told(hidden, services, "service.docker"), "unknown (denied)");
  FakeHost unmounted;
  unmounted.file("/lib/systemd/system/docker.service", "");
  EXPECT_EQ(told(unmounted, services, "service.docker"), "unknown (not-stated)");
  Systemd folder;
  folder.unit("docker").deny("/etc/systemd/system");
  EXPECT_EQ(told(folder, services, "service.docker.enabled"), "unknown (denied)");
  EXPECT_EQ(told(folder, services, "service.slurmd"), "unknown (denied)");
  Systemd tree;
  tree.unit("docker").live(false);
  EXPECT_EQ(told(tree, services, "service.docker"), "failed or inactive");
}

TEST(ServicesProbe, OtherServicesAreAnsweredWhenNamed) {
  Systemd host;
  host.unit("jupyter").enable("jupyter");
  const auto found = test::scan(host, services, test::only({"service.jupyter.enabled"}));
  EXPECT_EQ(told(found, "service.jupyter.enabled"), "true");
  EXPECT_EQ(found.facts.size(), 1u);
}

}  // namespace
}  // namespace goldenv::probe
