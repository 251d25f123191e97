#include <gtest/gtest.h>

#include "probe/scan.h"
#include "probe/sysctl_path.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe sysctl;
namespace {

using test::FakeHost;
using test::told;

TEST(SysctlProbe, WatchedNamesAreRead) {
  FakeHost host;
  host.file("/proc/sys/kernel/watchdog_thresh", "60\n")
      .file("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n")
      .file("/proc/sys/net/core/rmem_max", "212992\n");
  const auto found = test::scan(host, sysctl);
  EXPECT_EQ(told(found, "sysctl.kernel.watchdog_thresh"), "60");
  EXPECT_EQ(told(found, "sysctl.net.ipv4.tcp_rmem"), "4096 131072 6291456");
  EXPECT_EQ(told(found, "sysctl.net.core.rmem_max"), "212992");
  EXPECT_EQ(found.find({"sysctl.kernel.watchdog_thresh", ""})->evidence.from,
            "/proc/sys/kernel/watchdog_thresh");
}

TEST(SysctlProbe, MissingFileIsAbsent) {
  FakeHost host;
  host.folder("/proc/sys/kernel");
  EXPECT_EQ(told(host, sysctl, "sysctl.kernel.yama.ptrace_scope"),
            "absent (this kernel has no such name)");
}

TEST(SysctlProbe, UnreadableFileIsUnknownAndNotAbsent) {
  FakeHost host;
  host.deny("/proc/sys/kernel/watchdog_thresh");
  EXPECT_EQ(told(host, sysctl, "sysctl.kernel.watchdog_thresh"), "unknown (denied, needs root)");
  host.fail("/proc/sys/vm", Errc::not_live);
  EXPECT_EQ(told(host, sysctl, "sysctl.vm.swappiness"), "unknown (not-live)");
}

TEST(SysctlProbe, EmptyValueIsAValue) {
  FakeHost host;
  host.file("/proc/sys/kernel/watchdog_thresh", "\n");
  EXPECT_EQ(told(host, sysctl, "sysctl.kernel.watchdog_thresh"), "");
}

TEST(SysctlProbe, NamesWithDotsInsideAreReadOnRequest) {
  FakeHost host;
  host.file("/proc/sys/net/ipv4/conf/eth0.100/mtu", "9000\n");
  const auto found = test::scan(host, sysctl, test::only({"sysctl.net.ipv4.conf.eth0/100.mtu"}));
  EXPECT_EQ(told(found, "sysctl.net.ipv4.conf.eth0/100.mtu"), "9000");
  EXPECT_EQ(found.facts.size(), 1u);
}

TEST(SysctlProbe, AllNamesAreReadWhenAsked) {
  FakeHost host;
  host.file("/proc/sys/kernel/ostype", "Linux\n")
      .file("/proc/sys/net/ipv4/conf/eth0.7/tag", "0\n")
      .file("/proc/sys/fs/binfmt_misc/register", "x")
      .deny("/proc/sys/vm/compact_memory");
  Request request;
  request.all = true;
  const auto found = test::scan(host, sysctl, request);
  EXPECT_EQ(told(found, "sysctl.kernel.ostype"), "Linux");
  EXPECT_EQ(told(found, "sysctl.net.ipv4.conf.eth0/7.tag"), "0");
  EXPECT_EQ(told(found, "sysctl.vm.compact_memory"), "unknown (denied, needs root)");
  EXPECT_EQ(told(found, "sysctl.fs.binfmt_misc.register"), "not recorded");
}

TEST(SysctlProbe, KeysOfTheNetworkAreNotCarriedAbout) {
  FakeHost host;
  host.file("/proc/sys/net/ipv4/tcp_fastopen_key", "01234567-89abcdef-01234567-89abcdef\n");
  const auto found = test::scan(host, sysctl, test::only({"sysctl.net.ipv4.tcp_fastopen_key"}));
  EXPECT_EQ(told(found, "sysctl.net.ipv4.tcp_fastopen_key"), "unknown (not-probed)");
}

TEST(SysctlPath, NamesAndPathsAreInverses) {
  for (const std::string_view name :
       {"kernel.watchdog_thresh", "net.ipv4.conf.eth0/100.mtu", "vm.nr_hugepages"}) {
    EXPECT_EQ(sysctl_name(sysctl_path(name)), name);
  }
}

TEST(SysctlPath, NoNameLeadsOutOfTheFolder) {
  for (const std::string_view name :
       {"//.//.etc.passwd", "kernel.//.shadow", "", ".", "a..b", "/"}) {
    const std::string path = sysctl_path(name);
    for (const char* bad : {"/../", "/./", "//"}) {
      EXPECT_EQ(("/" + path + "/").find(bad), std::string::npos) << name;
    }
  }
}

TEST(SysctlPath, TabsAndLineEndsBecomeOneBlank) {
  EXPECT_EQ(one_blank("1\t2\t 3\n"), "1 2 3");
  EXPECT_EQ(one_blank("|/usr/share/apport %p  %s\n"), "|/usr/share/apport %p  %s");
  EXPECT_EQ(one_blank("a\n\nb\n"), "a b");
  EXPECT_EQ(one_blank(""), "");
}

}  // namespace
}  // namespace goldenv::probe
