#include <gtest/gtest.h>

#include <map>
#include <set>

#include "probe/process_table.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe leftovers;
extern const Probe orphans;
namespace {

using test::FakeHost;
using test::told;

/// A machine that booted 1000 s before the files on it were written, with processes.
struct Machine : FakeHost {
  std::map<std::string, std::uint32_t> owners;
  std::set<std::string, std::less<>> refused;  ///< listed by their folders, and no more is told

  Machine() {
    file("/proc/stat", "cpu 1\nbtime 1699999000\n").file("/proc/uptime", "4600.50 1.0\n");
    file("/proc/net/unix", "Num RefCount Protocol Flags Type St Inode Path\n");
    folder("/tmp").folder("/dev/shm").set("HOME", "/home/u");
    member(1, "systemd", 0, 0, 0);
  }

  Machine& member(int pid, const std::string& name, int parent, int started_s,
                  std::uint32_t uid = 1000) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::string stat = std::to_string(pid) + " (" + name + ") S " + std::to_string(parent);
    for (int field = 5; field < 22; ++field) {
      stat += " 0";
    }
    file(folder + "/stat", stat + " " + std::to_string(started_s * 100) + " 0\n");
    file(folder + "/maps", "7f00-7f01 r-xp 0 08:01 1  /usr/bin/x\n");
    this->folder(folder + "/fd");
    owners[folder] = uid;
    return *this;
  }

  Machine& owned(const std::string& path, std::uint32_t uid = 1000) {
    owners[path] = uid;
    return *this;
  }

  [[nodiscard]] Result<host::FileStatus> status(std::string_view path) const override {
    if (refused.contains(path)) {
      return Error{Errc::denied, std::string(path) + ": permission denied", {}};
    }
    Result<host::FileStatus> status = FakeHost::status(path);
    const auto owner = owners.find(std::string(path));
    if (status && owner != owners.end()) {
      status->uid = owner->second;
    }
    return status;
  }
};

struct Segment : Machine {
  explicit Segment(const std::string& name) {
    file("/dev/shm/" + name, std::string(100, 'x'));
    owned("/dev/shm/" + name);
  }
};

TEST(LeftoversProbe, CleanMachineHasNone) {
  const auto found = test::scan(Machine(), leftovers);
  EXPECT_EQ(told(found, "leftover.pymp"), "0");
  EXPECT_EQ(told(found, "leftover.shm_nccl"), "0");
  EXPECT_EQ(told(found, "leftover.shm_torch.bytes"), "0");
  EXPECT_EQ(told(found, "leftover.extension_locks"), "0");
  EXPECT_EQ(told(found, "leftover.shm_nccl.oldest"), "absent (none is left over)");
}

TEST(LeftoversProbe, SegmentThatNobodyMapsIsLeftOver) {
  Segment machine("nccl-a1b2c3");
  machine.member(50, "python3", 1, 5);
  const auto found = test::scan(machine, leftovers);
  EXPECT_EQ(told(found, "leftover.shm_nccl"), "1");
  EXPECT_EQ(told(found, "leftover.shm_nccl.bytes"), "100");
  EXPECT_EQ(told(found, "leftover.shm_nccl.oldest"), "3600");
  EXPECT_EQ(found.find({"leftover.shm_nccl", ""})->evidence.notes,
            (std::vector<std::string>{"/dev/shm/nccl-a1b2c3", "user 1000: 1"}));
}

TEST(LeftoversProbe, MappedSegmentIsAlive) {
  Segment machine("nccl-a1b2c3");
  machine.member(50, "python3", 1, 5);
  machine.file("/proc/50/maps", "7f00-7f01 rw-s 0 00:19 5    /dev/shm/nccl-a1b2c3\n");
  EXPECT_EQ(told(machine, leftovers, "leftover.shm_nccl"), "0");
}

TEST(LeftoversProbe, OneProcessThatShowsNothingLeavesItOpen) {
  Segment machine("nccl-a1b2c3");
  machine.member(50, "python3", 1, 5).deny("/proc/50/maps");
  EXPECT_EQ(told(machine, leftovers, "leftover.shm_nccl"), "unknown (denied, needs root)");
  EXPECT_EQ(told(machine, leftovers, "leftover.shm_nccl.bytes"), "unknown (denied, needs root)");
  Segment other("nccl-a1b2c3");
  other.member(50, "python3", 1, 5, 1001).deny("/proc/50/maps");
  EXPECT_EQ(told(other, leftovers, "leftover.shm_nccl"), "1");
}

TEST(LeftoversProbe, TorchSegmentLivesAsLongAsItsMakerOrManager) {
  Segment dead("torch_77_123_0");
  dead.member(50, "python3", 1, 5);
  EXPECT_EQ(told(dead, leftovers, "leftover.shm_torch"), "1");
  Segment maker("torch_77_123_0");
  maker.member(77, "pt_main_thread", 1, 5);
  EXPECT_EQ(told(maker, leftovers, "leftover.shm_torch"), "0");
  Segment manager("torch_77_123_0");
  manager.member(80, "torch_shm_manag", 1, 5);
  EXPECT_EQ(told(manager, leftovers, "leftover.shm_torch"), "0");
}

TEST(LeftoversProbe, FolderOfAProcessIsDeadWithoutListenerOrCandidate) {
  Machine machine;
  machine.owned("/tmp/pymp-x1").folder("/tmp/pymp-x1");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "1");  // no process of its owner
  machine.member(60, "python3", 1, 2000);                     // younger than the folder
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "1");
  machine.member(61, "python3", 1, 900);
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "unknown (ambiguous)");
  machine.file("/tmp/pymp-x1/listener-abc", "");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "1");
  machine.file("/proc/net/unix",
               "Num\n0: 00000002 00000000 00010000 0001 01 12 /tmp/pymp-x1/listener-abc\n");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "0");
}

TEST(LeftoversProbe, LockThatNobodyHoldsOpenIsLeftOver) {
  Machine machine;
  const std::string lock = "/home/u/.cache/torch_extensions/py310_cu121/fused_adam/lock";
  machine.owned(lock).member(90, "python3", 1, 5).file(lock, "");
  EXPECT_EQ(told(machine, leftovers, "leftover.extension_locks"), "1");
  machine.link("/proc/90/fd/7", lock);
  EXPECT_EQ(told(machine, leftovers, "leftover.extension_locks"), "0");
}

TEST(LeftoversProbe, WhatCannotBeLookedAtIsUnknownAndNotNothing) {
  Machine machine;
  machine.owned("/tmp/pymp-x1").file("/tmp/pymp-x1/listener-a", "12345");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp.bytes"), "5");
  machine.refused.insert("/tmp/pymp-x1/listener-a");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp"), "1");
  EXPECT_EQ(told(machine, leftovers, "leftover.pymp.bytes"), "unknown (denied)");
  const std::string lock = "/home/u/.cache/torch_extensions/py310_cu121/fused_adam/lock";
  machine.owned(lock).file(lock, "");
  EXPECT_EQ(told(machine, leftovers, "leftover.extension_locks"), "1");
  machine.refused.insert(lock);
  EXPECT_EQ(told(machine, leftovers, "leftover.extension_locks"), "unknown (denied)");
}

TEST(LeftoversProbe, TreeWithoutProcessesCannotTell) {
  FakeHost tree;
  tree.live(false).folder("/tmp/pymp-x").folder("/dev/shm").fail("/proc", Errc::not_live);
  EXPECT_EQ(told(tree, leftovers, "leftover.pymp"), "unknown (not-live)");
  EXPECT_EQ(told(tree, leftovers, "leftover.shm_nccl"), "0");
  FakeHost denied;
  denied.deny("/dev/shm").set("HOME", "/root");
  EXPECT_EQ(told(denied, leftovers, "leftover.shm_torch"), "unknown (denied)");
}

TEST(OrphansProbe, ProcessWithoutParentThatHoldsAGpuIsLeftOver) {
  constexpr const char* kKey = "leftover.gpu_processes";
  Machine machine;
  EXPECT_EQ(told(machine, orphans, kKey), "absent (no device of a GPU)");
  machine.file("/dev/nvidia0", "").file("/dev/nvidiactl", "");
  machine.member(40, "nvidia-persiste", 1, 3, 0).link("/proc/40/fd/3", "/dev/nvidiactl");
  machine.file("/proc/40/cgroup", "0::/system.slice/nvidia-persistenced.service\n");
  machine.member(50, "python3", 49, 5).link("/proc/50/fd/3", "/dev/nvidia0");
  machine.member(49, "bash", 1, 4);
  EXPECT_EQ(told(machine, orphans, kKey), "0");
  machine.member(51, "python3", 1, 5).link("/proc/51/fd/3", "/dev/nvidia0");
  machine.file("/proc/51/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n");
  EXPECT_EQ(told(machine, orphans, kKey), "1");
  // Left behind by a job of cron, in cron's own group.
  machine.member(30, "cron", 1, 2, 0).file("/proc/30/cgroup", "0::/system.slice/cron.service\n");
  machine.member(52, "python3", 1, 9).link("/proc/52/fd/3", "/dev/nvidia0");
  machine.file("/proc/52/cgroup", "0::/system.slice/cron.service\n");
  EXPECT_EQ(told(machine, orphans, kKey), "2");
  machine.deny("/proc/51/fd");
  EXPECT_EQ(told(machine, orphans, kKey), "unknown (denied, needs ptrace)");
}

TEST(OrphansProbe, WhereTheFirstProcessIsNoInitNobodyIsAnOrphan) {
  Machine machine;
  machine.member(1, "python3", 0, 0, 0).file("/dev/nvidia0", "");
  EXPECT_EQ(told(machine, orphans, "leftover.gpu_processes"), "unknown (unsupported)");
}

TEST(ProcessStat, NamesMayHoldAnything) {
  std::string fields;
  for (int field = 5; field < 22; ++field) {
    fields += " 1";
  }
  const auto stat = parse_process_stat("5 (a) (b c) S 7" + fields + " 1234 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) (b c");
  EXPECT_EQ(stat->parent, 7u);
  EXPECT_EQ(stat->start_s, 12u);
  EXPECT_FALSE(parse_process_stat("5 (a) S 7 1"));
  EXPECT_FALSE(parse_process_stat(") 5 ("));
  EXPECT_FALSE(parse_process_stat(""));
}

}  // namespace
}  // namespace goldenv::probe
