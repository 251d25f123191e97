#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "privileged/privileged.h"
#include "support/program.h"
#include "support/temp_dir.h"

// Scripts run for real, below a folder that stands for the machine.

namespace goldenv::privileged {
namespace {

namespace fs = std::filesystem;
using Kind = Step::Kind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Step step(Kind kind, std::string name, std::string want) {
  Step step;
  step.kind = kind;
  step.keys = {"the." + name};
  step.name = std::move(name);
  step.want = std::move(want);
  step.have = "else";
  return step;
}

class Script : public testing::Test {
 protected:
  Script() {
    machine_.file("proc/sys/vm/swappiness", "60\n");
    machine_.file("proc/sys/net/ipv4/conf/eth0.100/mtu", "1500\n");
    machine_.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    for (const std::string policy : {"policy0", "policy1"}) {
      const std::string folder = "sys/devices/system/cpu/cpufreq/" + policy + "/";
      machine_.file(folder + "scaling_governor", "powersave\n");
      machine_.file(folder + "scaling_available_governors", "performance powersave\n");
    }
    machine_.folder("usr/local/cuda-11.8");
    machine_.folder("usr/local/cuda-12.1");
    machine_.link("usr/local/cuda", "cuda-11.8");
    // In the place of what would make this machine's boot files.
    for (const std::string name : {"update-grub", "update-initramfs"}) {
      const std::string program =
          tools_.file(name, "#!/bin/sh\necho " + name + " >>'" + tools_.at("called") + "'\n");
      fs::permissions(program, fs::perms::owner_all);
    }
  }

  std::string text(const std::vector<Step>& steps) {
    return script_text(steps, {.manifest = "train",
                               .host = "node17",
                               .root = machine_.path(),
                               .path = tools_.path() + ":/usr/sbin:/usr/bin:/sbin:/bin"});
  }
  test::Ended run(const std::vector<Step>& steps) {
    return test::run({{"/bin/sh", tools_.file("script", text(steps))}});
  }
  test::Ended undo(const std::string& number) {
    return test::run({{"/bin/sh", machine_.at("var/lib/goldenv/apply/" + number + "/undo")}});
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    return test::read_file(machine_.at(path));
  }
  [[nodiscard]] bool exists(const std::string& path) const {
    return fs::exists(fs::symlink_status(machine_.at(path)));
  }

  test::TempDir machine_;
  test::TempDir tools_;
};

std::vector<Step> all_steps() {
  std::vector<Step> steps = {step(Kind::link, "/usr/local/cuda", "/usr/local/cuda-12.1"),
                             step(Kind::module_parameter, "nvidia NVreg_X", "a b"),
                             step(Kind::boot_parameter, "amd_iommu", "amd_iommu=on"),
                             step(Kind::sysctl, "net.ipv4.conf.eth0/100.mtu", "9000"),
                             step(Kind::sysctl, "vm.swappiness", "10"),
                             step(Kind::governor, "", "performance"),
                             step(Kind::huge_pages, "enabled", "always")};
  steps[2].words = {"amd_iommu=on"};
  return steps;
}

TEST_F(Script, DoesAllStepsAndUndoesThem) {
  machine_.file("etc/sysctl.d/90-goldenv-vm.swappiness.conf", "vm.swappiness = 33\n");
  const test::Ended done = run(all_steps());
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "10\n");
  EXPECT_EQ(read("proc/sys/net/ipv4/conf/eth0.100/mtu"), "9000\n");
  EXPECT_EQ(read("etc/sysctl.d/90-goldenv-vm.swappiness.conf"),
            "# goldenv, manifest train\nvm.swappiness = 10\n");
  EXPECT_EQ(read("etc/sysctl.d/90-goldenv-net.ipv4.conf.eth0=2f100.mtu.conf"),
            "# goldenv, manifest train\nnet.ipv4.conf.eth0/100.mtu = 9000\n");
  EXPECT_EQ(read("etc/modprobe.d/90-goldenv-nvidia-NVreg_X.conf"),
            "# goldenv, manifest train\noptions nvidia NVreg_X=\"a b\"\n");
  EXPECT_EQ(read("sys/devices/system/cpu/cpufreq/policy1/scaling_governor"), "performance\n");
  EXPECT_EQ(read("sys/kernel/mm/transparent_hugepage/enabled"), "always\n");
  EXPECT_EQ(fs::read_symlink(machine_.at("usr/local/cuda")), machine_.at("usr/local/cuda-12.1"));
  EXPECT_EQ(test::read_file(tools_.at("called")), "update-initramfs\nupdate-grub\n");
  EXPECT_EQ(fs::status(machine_.at("var/lib/goldenv/apply")).permissions(), fs::perms::owner_all);

  const test::Ended undone = undo("1");
  ASSERT_EQ(undone.status, 0) << undone.err;
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "60\n");
  EXPECT_EQ(read("proc/sys/net/ipv4/conf/eth0.100/mtu"), "1500\n");
  EXPECT_EQ(read("etc/sysctl.d/90-goldenv-vm.swappiness.conf"), "vm.swappiness = 33\n");
  EXPECT_FALSE(exists("etc/sysctl.d/90-goldenv-net.ipv4.conf.eth0=2f100.mtu.conf"));
  EXPECT_FALSE(exists("etc/modprobe.d"));
  EXPECT_FALSE(exists("etc/default/grub.d"));
  EXPECT_EQ(read("sys/devices/system/cpu/cpufreq/policy0/scaling_governor"), "powersave\n");
  EXPECT_EQ(read("sys/kernel/mm/transparent_hugepage/enabled"), "madvise\n");
  EXPECT_EQ(fs::read_symlink(machine_.at("usr/local/cuda")), "cuda-11.8");
  EXPECT_EQ(undo("1").status, 0);  // and once more
}

TEST_F(Script, IsTheSameForTheSamePlanAndSaysWhatItDoes) {
  EXPECT_EQ(text(all_steps()), text(all_steps()));
  EXPECT_THAT(
      text(all_steps()),
      HasSubstr("# the.vm.swappiness: 10 is wanted, else is there; in force now and at each "
                "boot\n"));
}

TEST_F(Script, MaySyntacticallyBeRunByAnyShellOfPosix) {
  tools_.file("script", text(all_steps()));
  for (const std::string shell : {"/bin/dash", "/bin/bash"}) {
    const test::Ended parsed = test::run({{shell, "-n", tools_.at("script")}});
    EXPECT_EQ(parsed.status, 0) << shell << parsed.err;
  }
}

TEST_F(Script, TheFirstFailureIsNamedAndUndone) {
  std::vector<Step> steps = {step(Kind::sysctl, "vm.swappiness", "10"),
                             step(Kind::boot_parameter, "iommu", "iommu=pt")};
  steps[1].words = {"iommu=pt"};
  fs::permissions(tools_.file("update-grub", "#!/bin/sh\nexit 1\n"), fs::perms::owner_all);
  const test::Ended failed = run(steps);
  EXPECT_EQ(failed.status, 4);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("failed: 3 of 3: the boot loader's menu"),
                                HasSubstr("/apply/1/undo")));
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "10\n");
  // Nobody goes on from here.
  const test::Ended again = run(steps);
  EXPECT_EQ(again.status, 4);
  EXPECT_THAT(again.err, HasSubstr("an earlier apply was not finished"));
  // The boot loader's menu cannot be made, which is told; all else is put back.
  const test::Ended half = undo("1");
  EXPECT_EQ(half.status, 4);
  EXPECT_THAT(half.err, HasSubstr("not put back: the boot loader's menu"));
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "60\n");
  fs::permissions(tools_.file("update-grub", "#!/bin/sh\n"), fs::perms::owner_all);
  EXPECT_EQ(undo("1").status, 0);
  EXPECT_EQ(run(steps).status, 0);
}

TEST_F(Script, WhatCannotBeKeptStopsItBeforeAnythingIsChanged) {
  const test::Ended failed =
      run({step(Kind::sysctl, "vm.swappiness", "10"), step(Kind::governor, "", "schedutil")});
  EXPECT_EQ(failed.status, 4);
  EXPECT_THAT(failed.err,
              AllOf(HasSubstr("before the. schedutil"), HasSubstr("nothing was changed")));
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "60\n");
  EXPECT_FALSE(exists("etc/sysctl.d"));
  EXPECT_FALSE(exists("var/lib/goldenv/apply/1"));
}

TEST_F(Script, KilledInItsMidstItIsUndone) {
  // A step that kills the whole script as a power cut would: nothing gets to say anything.
  std::vector<Step> steps = {step(Kind::sysctl, "vm.swappiness", "10"),
                             step(Kind::boot_parameter, "iommu", "iommu=pt")};
  steps[1].words = {"iommu=pt"};
  fs::permissions(tools_.file("update-grub", "#!/bin/sh\nkill -9 $PPID\n"), fs::perms::owner_all);
  EXPECT_EQ(run(steps).status, 128 + 9);
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "10\n");
  fs::permissions(tools_.file("update-grub", "#!/bin/sh\n"), fs::perms::owner_all);
  const test::Ended undone = undo("1");
  EXPECT_EQ(undone.status, 0) << undone.err;
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "60\n");
  EXPECT_FALSE(exists("etc/default/grub.d"));
}

TEST_F(Script, TheOlderOfTwoIsNotUndoneFirst) {
  ASSERT_EQ(run({step(Kind::sysctl, "vm.swappiness", "10")}).status, 0);
  ASSERT_EQ(run({step(Kind::sysctl, "vm.swappiness", "20")}).status, 0);
  const test::Ended early = undo("1");
  EXPECT_EQ(early.status, 4);
  EXPECT_THAT(early.err, HasSubstr("apply 2 came after"));
  ASSERT_EQ(undo("2").status, 0);
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "10\n");
  ASSERT_EQ(undo("1").status, 0);
  EXPECT_EQ(read("proc/sys/vm/swappiness"), "60\n");
}

TEST_F(Script, TwoAtOnceAreOneAfterTheOther) {
  // The first waits within its step for the second to have come and gone.
  std::vector<Step> steps = {step(Kind::boot_parameter, "iommu", "iommu=pt")};
  steps[0].words = {"iommu=pt"};
  const std::string second = tools_.file("second", text(steps));
  fs::permissions(
      tools_.file("update-grub", "#!/bin/sh\n/bin/sh '" + second + "' 2>'" + tools_.at("said") +
                                     "'\necho $? >'" + tools_.at("status") + "'\n"),
      fs::perms::owner_all);
  EXPECT_EQ(run(steps).status, 0);
  EXPECT_EQ(test::read_file(tools_.at("status")), "4\n");
  EXPECT_THAT(test::read_file(tools_.at("said")), HasSubstr("another apply or rollback"));
}

TEST_F(Script, GrubsWordsAreReplacedWhereverTheyStand) {
  std::vector<Step> steps = {step(Kind::boot_parameter, "amd_iommu", ""),
                             step(Kind::boot_parameter, "console", "")};
  steps[0].words = {};
  steps[1].words = {"console=tty0", "console=ttyS0"};
  ASSERT_EQ(run(steps).status, 0);
  const std::string folder = machine_.at("etc/default/grub.d/");
  const test::Ended shown = test::run(
      {{"/bin/sh", "-euc",
        "GRUB_CMDLINE_LINUX='a amd-iommu=off console=tty1 b'\n"
        "GRUB_CMDLINE_LINUX_DEFAULT='quiet amd_iommu'\n. \"$1/90-goldenv-amd_iommu.cfg\"\n"
        ". \"$1/90-goldenv-console.cfg\"\n"
        "echo \"$GRUB_CMDLINE_LINUX|$GRUB_CMDLINE_LINUX_DEFAULT\"",
        "sh", folder}});
  EXPECT_EQ(shown.out, "a b console=tty0 console=ttyS0|quiet\n") << shown.err;
}

TEST_F(Script, ValuesAreNotTheShells) {
  const std::string odd = "'; touch " + machine_.at("caught") + "; echo '$(touch " +
                          machine_.at("caught") + ")`touch " + machine_.at("caught") + "`\\";
  const std::vector<Step> steps = {step(Kind::sysctl, "vm.swappiness", odd)};
  const test::Ended done = run(steps);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(read("proc/sys/vm/swappiness"), odd + "\n");
  EXPECT_FALSE(exists("caught"));
  EXPECT_EQ(undo("1").status, 0);
  EXPECT_FALSE(exists("caught"));
}

}  // namespace
}  // namespace goldenv::privileged
