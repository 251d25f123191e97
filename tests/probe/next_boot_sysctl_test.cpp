#include <gtest/gtest.h>

#include "probe/boot_sysctls.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe next_boot_sysctl;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kThresh = "next_boot.sysctl.kernel.watchdog_thresh";

/// A machine on which systemd-sysctl applies the files.
FakeHost& with_systemd(FakeHost& host) {
  return host.file("/usr/lib/systemd/systemd-sysctl", "").file("/proc/cmdline", "quiet\n");
}

std::string thresh(const FakeHost& host) {
  return told(host, next_boot_sysctl, kThresh, test::only({kThresh}));
}

facts::Fact fact(const FakeHost& host, const std::string& key, Request request) {
  const auto found = test::scan(host, next_boot_sysctl, std::move(request));
  const facts::Fact* one = found.find(facts::FactKey::parse(key));
  return one != nullptr ? *one : facts::Fact{};
}

TEST(NextBootSysctl, TheLastFileByNameWinsWhateverItsFolder) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/10-gpu.conf", "# comment\n; another\n\nkernel.watchdog_thresh = 60\n")
      .file("/usr/lib/sysctl.d/90-latency.conf", "\n\nkernel.watchdog_thresh=30\n")
      .file("/proc/sys/kernel/watchdog_thresh", "10\n");
  const facts::Fact found = fact(host, kThresh, test::only({kThresh}));
  EXPECT_EQ(facts::describe(found.reading), "30");
  EXPECT_EQ(found.evidence.from, "/usr/lib/sysctl.d/90-latency.conf");
  EXPECT_EQ(found.evidence.line, 3u);
  ASSERT_EQ(found.evidence.notes.size(), 1u);
  EXPECT_EQ(found.evidence.notes[0], "over 60 in /etc/sysctl.d/10-gpu.conf:4");
}

TEST(NextBootSysctl, ANameInAnEarlierFolderHidesTheSameNameLater) {
  FakeHost host;
  with_systemd(host)
      .file("/proc/sys/kernel/watchdog_thresh", "10\n")
      .file("/etc/sysctl.d/50-a.conf", "kernel.watchdog_thresh = 1\n")
      .file("/usr/local/lib/sysctl.d/50-a.conf", "kernel.watchdog_thresh = 2\n")
      .file("/usr/lib/sysctl.d/50-a.conf", "kernel.watchdog_thresh = 3\nvm.swappiness = 3\n")
      .file("/usr/local/lib/sysctl.d/60-b.conf", "vm.max_map_count = 2\n")
      .file("/lib/sysctl.d/60-b.conf", "vm.max_map_count = 5\n");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_EQ(told(found, kThresh), "1");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.max_map_count"), "2");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.swappiness"), "not recorded");
  EXPECT_EQ(facts::describe(found.read({"next_boot.sysctl.vm.swappiness", ""}).reading), "absent");
  EXPECT_EQ(found.find({kThresh, ""})->evidence.notes.back(),
            "in place of /usr/lib/sysctl.d/50-a.conf, which it hides");
}

TEST(NextBootSysctl, ALinkToDevNullMasks) {
  FakeHost host;
  with_systemd(host)
      .link("/etc/sysctl.d/10-gpu.conf", "/dev/null")
      .file("/usr/lib/sysctl.d/10-gpu.conf", "kernel.watchdog_thresh = 60\n");
  EXPECT_EQ(thresh(host), "absent (nothing sets it)");
}

TEST(NextBootSysctl, EmptyAndDanglingFilesHideToo) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/10-a.conf", "")
      .file("/usr/lib/sysctl.d/10-a.conf", "kernel.watchdog_thresh = 60\n")
      .link("/etc/sysctl.d/20-b.conf", "gone")
      .file("/usr/lib/sysctl.d/20-b.conf", "kernel.watchdog_thresh = 60\n");
  EXPECT_EQ(thresh(host), "absent (nothing sets it)");
}

TEST(NextBootSysctl, SysctlConfCountsOnlyThroughALinkUnderSystemd) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.conf", "kernel.watchdog_thresh = 7\n");
  EXPECT_EQ(thresh(host), "absent (nothing sets it)");
  host.link("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
  EXPECT_EQ(thresh(host), "7");
}

TEST(NextBootSysctl, ProcpsAppliesSysctlConfLast) {
  FakeHost host;
  host.file("/etc/init.d/procps", "")
      .file("/proc/cmdline", "")
      .file("/etc/sysctl.conf", "kernel.watchdog_thresh = 7\n")
      .file("/etc/sysctl.d/zz.conf", "kernel.watchdog_thresh = 8\n");
  EXPECT_EQ(thresh(host), "7");
  host.deny("/etc/sysctl.conf");
  EXPECT_EQ(thresh(host), "unknown (denied, needs root)");
}

TEST(NextBootSysctl, WhereNothingAppliesThemNothingIsKnown) {
  FakeHost host;
  host.file("/proc/cmdline", "").file("/etc/sysctl.d/a.conf", "kernel.watchdog_thresh = 7\n");
  EXPECT_EQ(thresh(host), "unknown (not-stated)");
  const auto whole = test::scan(host, next_boot_sysctl);
  EXPECT_TRUE(whole.facts.empty());
  EXPECT_TRUE(whole.listed.empty());
}

TEST(NextBootSysctl, AMaskedServiceSetsNothing) {
  FakeHost host;
  with_systemd(host)
      .link("/etc/systemd/system/systemd-sysctl.service", "/dev/null")
      .file("/etc/sysctl.d/a.conf", "kernel.watchdog_thresh = 7\n");
  EXPECT_EQ(thresh(host), "absent (nothing sets it: systemd-sysctl.service is masked)");
}

TEST(NextBootSysctl, SlashesAndDotsAndADashSpellTheSame) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.d/a.conf",
                          "-kernel/watchdog_thresh = 5\n"
                          "net.ipv4.conf.eth0/100.mtu=1400\n"
                          "net/ipv4/conf/eth0.200/mtu = 1300\n"
                          "/vm//swappiness = 1\n"
                          "../etc/passwd = 1\n"
                          "no assignment\n"
                          "net.ipv4.tcp_rmem = 4096\t 87380   6291456\n"
                          "kernel.core_pattern = |/bin/x  %p\n");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_EQ(told(found, kThresh), "5");
  EXPECT_EQ(told(found, "next_boot.sysctl.net.ipv4.conf.eth0/100.mtu"), "1400");
  EXPECT_EQ(told(found, "next_boot.sysctl.net.ipv4.conf.eth0/200.mtu"), "1300");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.swappiness"), "1");
  EXPECT_EQ(told(found, "next_boot.sysctl.net.ipv4.tcp_rmem"), "4096 87380 6291456");
  EXPECT_EQ(told(found, "next_boot.sysctl.kernel.core_pattern"), "|/bin/x  %p");
  EXPECT_EQ(found.facts.size(), 7u);  // and tcp_wmem, which nothing sets
}

TEST(NextBootSysctl, NamesBeatGlobsWhereverTheyStand) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/10-a.conf",
            "net.ipv4.conf.lo.rp_filter = 0\n-net.ipv4.conf.all.rp_filter\n")
      .file("/etc/sysctl.d/20-b.conf", "net.ipv4.conf.*.rp_filter = 2\n");
  const auto ask = [&](const std::string& key) {
    return told(host, next_boot_sysctl, key, test::only({key}));
  };
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.eth0.rp_filter"), "2");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.eth0/7.rp_filter"), "2");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.lo.rp_filter"), "0");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.all.rp_filter"),
            "absent (kept off by /etc/sysctl.d/10-a.conf:2)");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.eth0.forwarding"), "absent (nothing sets it)");
}

TEST(NextBootSysctl, TheLastOfSeveralGlobsWinsAndOneMayBeTakenBack) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.d/a.conf",
                          "net.ipv4.conf.*.rp_filter = 2\n"
                          "net.ipv4.*.eth?.rp_filter = 1\n"
                          "net.ipv6.conf.*.forwarding = 1\n"
                          "-net.ipv6.conf.*.forwarding\n");
  const auto ask = [&](const std::string& key) {
    return told(host, next_boot_sysctl, key, test::only({key}));
  };
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.eth0.rp_filter"), "1");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv4.conf.eth10.rp_filter"), "2");
  EXPECT_EQ(ask("next_boot.sysctl.net.ipv6.conf.eth0.forwarding"), "absent (nothing sets it)");
}

TEST(NextBootSysctl, GlobsAreSpreadOverTheMachineOnlyWhenAllIsAsked) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/a.conf", "net.ipv4.conf.*.rp_filter = 2\nvm.swappiness = 1\n")
      .file("/proc/sys/net/ipv4/conf/eth0/rp_filter", "0\n")
      .file("/proc/sys/net/ipv4/conf/eth0.7/rp_filter", "0\n")
      .file("/proc/sys/net/ipv4/conf/eth0/mtu", "0\n");
  const auto plain = test::scan(host, next_boot_sysctl);
  EXPECT_EQ(told(plain, "next_boot.sysctl.net.ipv4.conf.eth0.rp_filter"), "not recorded");
  // Unknown, not absent: the glob sets it.
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(
      plain.read({"next_boot.sysctl.net.ipv4.conf.eth0.rp_filter", ""}).reading));
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(
      plain.read({"next_boot.sysctl.net.core.rmem_max", ""}).reading));
  Request request;
  request.all = true;
  const auto all = test::scan(host, next_boot_sysctl, request);
  EXPECT_EQ(told(all, "next_boot.sysctl.net.ipv4.conf.eth0.rp_filter"), "2");
  EXPECT_EQ(told(all, "next_boot.sysctl.net.ipv4.conf.eth0/7.rp_filter"), "2");
  EXPECT_EQ(told(all, "next_boot.sysctl.net.ipv4.conf.eth0.mtu"), "not recorded");
}

TEST(NextBootSysctl, ABranchThatAGlobReachesIsNotListed) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.d/a.conf", "k*.watchdog* = 2\n");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(
      found.read({"next_boot.sysctl.kernel.panic", ""}).reading));
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(
      found.read({"next_boot.sysctl.vm.swappiness", ""}).reading));
}

TEST(NextBootSysctl, TheCommandLineSetsBeforeTheFiles) {
  FakeHost host;
  host.file("/usr/lib/systemd/systemd-sysctl", "")
      .file("/proc/cmdline",
            "watchdog_thresh=20 sysctl.vm.swappiness=5 sysctl/kernel/panic=3 hung_task_panic=1 "
            "numa_balancing=disable nowatchdog hugepages=16 -- sysctl.vm.dirty_ratio=1\n")
      .file("/etc/sysctl.d/a.conf", "vm.swappiness = 60\n");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_EQ(told(found, kThresh), "20");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.swappiness"), "60");
  EXPECT_EQ(told(found, "next_boot.sysctl.kernel.panic"), "3");
  EXPECT_EQ(told(found, "next_boot.sysctl.kernel.hung_task_panic"), "1");
  EXPECT_EQ(told(found, "next_boot.sysctl.kernel.numa_balancing"), "0");
  EXPECT_EQ(told(found, "next_boot.sysctl.kernel.watchdog"), "0");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.nr_hugepages"), "16");
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.dirty_ratio"), "not recorded");
  EXPECT_EQ(found.find({"next_boot.sysctl.vm.swappiness", ""})->evidence.notes.front(),
            "over 5 in /proc/cmdline");
  EXPECT_EQ(found.find({kThresh, ""})->evidence.from, "/proc/cmdline");
}

TEST(NextBootSysctl, OldKernelsTakeNoSysctlWords) {
  FakeHost host;
  host.uname({"n", "5.4.0-150-generic", "", "x86_64"})
      .file("/usr/lib/systemd/systemd-sysctl", "")
      .file("/proc/cmdline", "sysctl.vm.swappiness=5 watchdog_thresh=20\n");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_EQ(told(found, "next_boot.sysctl.vm.swappiness"), "not recorded");
  EXPECT_EQ(told(found, kThresh), "20");
}

TEST(NextBootSysctl, HugePagesOfSeveralSizesAreNotGuessed) {
  FakeHost host;
  host.file("/usr/lib/systemd/systemd-sysctl", "")
      .file("/proc/cmdline", "hugepagesz=1G hugepages=16\n");
  EXPECT_EQ(told(host, next_boot_sysctl, "next_boot.sysctl.vm.nr_hugepages"),
            "unknown (ambiguous)");
}

TEST(NextBootSysctl, AFolderThatCannotBeListedLeavesEveryNameOpen) {
  FakeHost host;
  with_systemd(host)
      .file("/usr/lib/sysctl.d/99.conf", "kernel.watchdog_thresh = 30\n")
      .deny("/etc/sysctl.d");
  EXPECT_EQ(thresh(host), "unknown (denied, needs root)");
  const auto found = test::scan(host, next_boot_sysctl);
  EXPECT_TRUE(found.listed.empty());
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(
      found.read({"next_boot.sysctl.vm.swappiness", ""}).reading));
}

TEST(NextBootSysctl, AFileThatCannotBeReadLeavesOpenWhatItCouldDecide) {
  FakeHost host;
  with_systemd(host)
      .file("/etc/sysctl.d/10.conf", "vm.swappiness = 1\n")
      .deny("/etc/sysctl.d/50.conf")
      .file("/etc/sysctl.d/90.conf", "kernel.watchdog_thresh = 30\nnet.core.* = 1\n");
  const auto ask = [&](const std::string& key) {
    return told(host, next_boot_sysctl, key, test::only({key}));
  };
  EXPECT_EQ(thresh(host), "30");
  EXPECT_EQ(ask("next_boot.sysctl.vm.swappiness"), "unknown (denied, needs root)");
  EXPECT_EQ(ask("next_boot.sysctl.net.core.rmem_max"), "unknown (denied, needs root)");
  EXPECT_EQ(ask("next_boot.sysctl.vm.dirty_ratio"), "unknown (denied, needs root)");
}

TEST(NextBootSysctl, WithoutACommandLineFilesStillDecide) {
  FakeHost host;
  host.file("/usr/lib/systemd/systemd-sysctl", "")
      .fail("/proc", Errc::not_live)
      .file("/etc/sysctl.d/90.conf", "kernel.watchdog_thresh = 30\n");
  EXPECT_EQ(thresh(host), "30");
  EXPECT_EQ(told(host, next_boot_sysctl, "next_boot.sysctl.vm.swappiness",
                 test::only({"next_boot.sysctl.vm.swappiness"})),
            "unknown (not-live)");
}

TEST(NextBootSysctl, WhatStandsInRunMayBeGoneThen) {
  FakeHost host;
  with_systemd(host)
      .file("/run/sysctl.d/50.conf", "kernel.watchdog_thresh = 30\nvm.swappiness = 1\n")
      .file("/usr/lib/sysctl.d/50.conf", "kernel.watchdog_thresh = 60\n");
  EXPECT_EQ(thresh(host), "30 or 60");
  EXPECT_EQ(told(host, next_boot_sysctl, "next_boot.sysctl.vm.swappiness"), "unknown (ambiguous)");
}

TEST(NextBootSysctl, SecretsAreNotCarriedAbout) {
  FakeHost host;
  with_systemd(host).file("/etc/sysctl.d/a.conf",
                          "net.ipv4.tcp_fastopen_key = 01234567-89abcdef-01234567-89abcdef\n");
  const std::string key = "next_boot.sysctl.net.ipv4.tcp_fastopen_key";
  const facts::Fact found = fact(host, key, test::only({key}));
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(found.reading));
  EXPECT_TRUE(found.evidence.notes.empty());
}

TEST(NextBootSysctl, MoreSettingsThanAnyMachineHasEndInUnknowns) {
  FakeHost host;
  std::string text;
  for (int i = 0; i < 6000; ++i) {
    text += "kernel.x" + std::to_string(i) + " = 1\n";
  }
  with_systemd(host).file("/etc/sysctl.d/a.conf", text);
  EXPECT_EQ(told(host, next_boot_sysctl, "next_boot.sysctl.kernel.x1",
                 test::only({"next_boot.sysctl.kernel.x1"})),
            "unknown (unreadable)");
}

TEST(NextBootSysctl, ANameThatThisKernelLacksIsTold) {
  FakeHost host;
  with_systemd(host)
      .folder("/proc/sys/kernel")
      .file("/etc/sysctl.d/a.conf", "kernel.watchdog_thresh = 9\n");
  EXPECT_EQ(fact(host, kThresh, test::only({kThresh})).evidence.notes.back(),
            "the running kernel has no such name");
}

TEST(PathGlob, StopsAtSlashes) {
  for (const auto& [pattern, path] :
       std::vector<std::pair<const char*, const char*>>{{"a/*/c", "a/b/c"},
                                                        {"a/b*", "a/b"},
                                                        {"a/*b*c", "a/xbbyc"},
                                                        {"a/[!x-z]b", "a/cb"},
                                                        {"a/[]]", "a/]"},
                                                        {"a/[b", "a/[b"},
                                                        {"a/\\*", "a/*"},
                                                        {"*", "a"},
                                                        {"a/?", "a/b"},
                                                        {"a/[a-c]", "a/b"}}) {
    EXPECT_TRUE(path_glob_matches(pattern, path)) << pattern;
  }
  for (const auto& [pattern, path] :
       std::vector<std::pair<const char*, const char*>>{{"a/*", "a/b/c"},
                                                        {"*", "a/b"},
                                                        {"*", ".a"},
                                                        {"a/?", "a"},
                                                        {"a/b*", "a/c"},
                                                        {"a/[!b]", "a/b"},
                                                        {"a/\\*", "a/b"},
                                                        {"a*b", "ac"}}) {
    EXPECT_FALSE(path_glob_matches(pattern, path)) << pattern;
  }
}

}  // namespace
}  // namespace goldenv::probe
