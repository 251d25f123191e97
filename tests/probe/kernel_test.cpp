#include <gtest/gtest.h>

#include "probe/kernel_text.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe kernel;
extern const Probe kernel_config;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kRelease = "6.1.0-57-amd64";

struct Bookworm : FakeHost {
  Bookworm() {
    uname({"node", kRelease, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)", "x86_64"});
    file(
        "/proc/version",
        "Linux version 6.1.0-57-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) "
        "12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3\n");
    file("/proc/cmdline",
         "BOOT_IMAGE=/vmlinuz-6.1.0-57 root=UUID=1 ro quiet console=tty0 console=ttyS0\n");
    file("/proc/sys/kernel/tainted", "4097\n");
    file("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    file("/lib/modules/6.1.0-57-amd64/modules.dep", "");
    file("/lib/modules/6.1.0-47-amd64/modules.dep", "");
    file("/boot/vmlinuz-6.1.0-57-amd64", "x").file("/boot/vmlinuz-6.5.0-1-amd64", "x");
    file("/boot/vmlinuz-0-rescue-abc", "x")
        .file("/boot/config-6.1.0-57-amd64",
              "# Linux/x86\nCONFIG_MODVERSIONS=y\nCONFIG_HZ=250\n"
              "CONFIG_CC_VERSION_TEXT=\"gcc-12 (Debian) 12.2.0\"\n"
              "# CONFIG_PCI_P2PDMA is not set\n");
    const std::string headers = "/usr/src/linux-headers/include/generated/";
    file(headers + "utsrelease.h", "#define UTS_RELEASE \"6.1.0-57-amd64\"\n");
    file(headers + "compile.h",
         "#define LINUX_COMPILER \"gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld 2.40\"\n");
    link("/lib/modules/6.1.0-57-amd64/build", "/usr/src/linux-headers");
    file("/var/lib/dpkg/status",
         "Package: linux-image-6.1.0-57-amd64\nStatus: install ok installed\nArchitecture: amd64\n"
         "Version: 6.1.192-3\n\n");
  }
};

TEST(KernelProbe, RunningKernelIsRead) {
  const auto found = test::scan(Bookworm(), kernel);
  EXPECT_EQ(told(found, "kernel"), kRelease);
  EXPECT_EQ(told(found, "kernel.upstream"), "6.1.192");
  EXPECT_EQ(told(found, "kernel.compiler"), "gcc 12.2.0");
  EXPECT_EQ(told(found, "kernel.taint"), "O, P");
  EXPECT_EQ(told(found, "kernel.lockdown"), "none");
  EXPECT_EQ(told(found, "kernel.installed"), "6.1.0-47-amd64, 6.1.0-57-amd64, 6.5.0-1-amd64");
  EXPECT_EQ(told(found, "kernel.headers"), kRelease);
  EXPECT_EQ(told(found, "kernel.headers.compiler"), "gcc 12.2.0");
  EXPECT_EQ(told(found, "kernel.package"), "6.1.192-3");
  EXPECT_EQ(told(found, "kernel.cmdline"),
            "BOOT_IMAGE=/vmlinuz-6.1.0-57 root=UUID=1 ro quiet console=tty0 console=ttyS0");
}

TEST(KernelProbe, UbuntuStatesItsUpstreamLevelInAFile) {
  FakeHost host;
  host.uname({"n", "5.4.0-169-generic", "#187-Ubuntu SMP", "x86_64"})
      .file("/proc/version_signature", "Ubuntu 5.4.0-169.187-generic 5.4.257\n");
  EXPECT_EQ(told(host, kernel, "kernel.upstream"), "5.4.257");
}

TEST(KernelProbe, UndecidedUpstreamLevelIsAPrefix) {
  FakeHost host;
  host.uname({"n", "5.4.0-169-generic", "#187-Ubuntu SMP Thu", "x86_64"});
  EXPECT_EQ(told(host, kernel, "kernel.upstream"), "5.4...");
}

TEST(KernelProbe, BuilderIsLeftOut) {
  FakeHost host;
  host.uname({"n", "6.6.1", "#2 SMP root@build-7 (ci@farm) Mon @0", "x86_64"});
  EXPECT_EQ(told(host, kernel, "kernel.build"), "#2 SMP Mon @0");
}

TEST(KernelProbe, DanglingHeadersLinkMeansNotInstalled) {
  FakeHost host;
  host.uname({"n", kRelease, "#1", "x86_64"})
      .link("/lib/modules/6.1.0-57-amd64/build", "/usr/src/gone");
  EXPECT_EQ(told(host, kernel, "kernel.headers"), "absent (headers not installed)");
  EXPECT_EQ(told(host, kernel, "kernel.headers.compiler"), "absent (headers not installed)");
}

TEST(KernelProbe, ContainersPackageListSaysNothingOfTheHostsKernel) {
  FakeHost host;
  host.file("/var/lib/dpkg/status", "Package: bash\nStatus: install ok installed\nVersion: 5\n\n");
  EXPECT_EQ(told(host, kernel, "kernel.package"), "unknown (not-stated)");
  host.file("/boot/vmlinuz-5.15.0-91-generic", "x");
  EXPECT_EQ(told(host, kernel, "kernel.package"), "absent (no package of this release)");
}

TEST(KernelProbe, RpmSystemsPackageIsUnknown) {
  FakeHost host;
  host.folder("/var/lib/rpm");
  EXPECT_EQ(told(host, kernel, "kernel.package"), "unknown (unsupported)");
}

TEST(KernelProbe, DeniedAndOddFilesAreUnknown) {
  FakeHost host;
  host.deny("/proc/cmdline").deny("/boot").file("/proc/sys/kernel/tainted", "x\n");
  host.file("/proc/version", "Linux version 6.1").file("/sys/kernel/security/lockdown", "none\n");
  const auto found = test::scan(host, kernel);
  EXPECT_EQ(told(found, "kernel.cmdline"), "unknown (denied)");
  EXPECT_EQ(told(found, "kernel.installed"), "unknown (denied)");
  EXPECT_EQ(told(found, "kernel.taint"), "unknown (unreadable)");
  EXPECT_EQ(told(found, "kernel.compiler"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "kernel.lockdown"), "unknown (unreadable)");
}

TEST(KernelProbe, NoLockdownIsAbsent) {
  EXPECT_EQ(told(FakeHost(), kernel, "kernel.lockdown"), "absent");
  EXPECT_EQ(told(FakeHost(), kernel, "kernel.installed"),
            "absent (neither /lib/modules nor /boot is there)");
}

TEST(KernelConfigProbe, OptionsAreReadOnRequest) {
  const auto request = test::also({"kernel.config.MODVERSIONS", "kernel.config.CONFIG_HZ",
                                   "kernel.config.PCI_P2PDMA", "kernel.config.NO_SUCH",
                                   "kernel.config.CC_VERSION_TEXT"});
  const auto found = test::scan(Bookworm(), kernel_config, request);
  EXPECT_EQ(told(found, "kernel.config.MODVERSIONS"), "y");
  EXPECT_EQ(told(found, "kernel.config.CONFIG_HZ"), "250");
  EXPECT_EQ(told(found, "kernel.config.PCI_P2PDMA"), "absent (not set)");
  EXPECT_EQ(told(found, "kernel.config.NO_SUCH"), "absent (not set)");
  EXPECT_EQ(told(found, "kernel.config.CC_VERSION_TEXT"), "gcc-12 (Debian) 12.2.0");
  EXPECT_TRUE(test::scan(Bookworm(), kernel_config).facts.empty());
}

TEST(KernelConfigProbe, WithoutReadableConfigurationNothingIsNotSet) {
  const auto request = test::only({"kernel.config.HZ"});
  FakeHost none;
  EXPECT_EQ(told(none, kernel_config, "kernel.config.HZ", request), "unknown (not-stated)");
  FakeHost torn;
  torn.file("/proc/config.gz", "\x1f\x8b");
  EXPECT_EQ(told(torn, kernel_config, "kernel.config.HZ", request), "unknown (unreadable)");
  FakeHost closed;
  closed.deny("/boot/config-5.15.0-91-generic");
  EXPECT_EQ(told(closed, kernel_config, "kernel.config.HZ", request),
            "unknown (denied, needs root)");
}

TEST(KernelConfigProbe, TheKernelsOwnCopyIsUnpacked) {
  // gzip of "# Linux\nCONFIG_HZ=250\n# CONFIG_NUMA is not set\nCONFIG_LOCALVERSION=\"\"\n".
  const std::string bytes(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x53\x56\xf0\xc9\xcc\x2b\xad\xe0\x72\xf6"
      "\xf7\x73\xf3\x74\x8f\xf7\x88\xb2\x35\x32\x35\xe0\x52\x56\x80\xf2\xfd\x42\x7d\x1d"
      "\x15\x32\x8b\x15\xf2\xf2\x4b\x14\x8a\x53\x4b\x60\xca\x7c\xfc\x9d\x1d\x7d\xc2\x5c"
      "\x83\x82\x3d\xfd\xfd\x6c\x95\x94\xb8\x00\x39\xab\x00\x87\x46\x00\x00\x00",
      78);
  FakeHost host;
  host.file("/proc/config.gz", bytes);
  const auto request = test::only({"kernel.config.HZ", "kernel.config.NUMA",
                                   "kernel.config.NO_SUCH", "kernel.config.LOCALVERSION"});
  const auto found = test::scan(host, kernel_config, request);
  EXPECT_EQ(told(found, "kernel.config.HZ"), "250");
  EXPECT_EQ(found.find({"kernel.config.HZ", ""})->evidence.line, 2u);
  EXPECT_EQ(told(found, "kernel.config.NUMA"), "absent (not set)");
  EXPECT_EQ(told(found, "kernel.config.NO_SUCH"), "absent (not set)");
  EXPECT_EQ(told(found, "kernel.config.LOCALVERSION"), "");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    host.file("/proc/config.gz", bytes.substr(0, size));
    EXPECT_EQ(told(host, kernel_config, "kernel.config.NUMA", request), "unknown (unreadable)")
        << size;
  }
  // A copy under /boot that is closed to us is no reason to leave this one.
  host.file("/proc/config.gz", bytes).deny("/boot/config-5.15.0-91-generic");
  EXPECT_EQ(told(host, kernel_config, "kernel.config.HZ", request), "250");
}

TEST(KernelText, CommandLinesKeepQuotedBlanks) {
  EXPECT_EQ(split_cmdline("a  b=\"c d\" \"e f\"=g\th\n"),
            (std::vector<std::string>{"a", "b=\"c d\"", "\"e f\"=g", "h"}));
  EXPECT_EQ(split_cmdline("open=\"x y\n"), (std::vector<std::string>{"open=\"x y"}));
  EXPECT_TRUE(split_cmdline("").empty());
  EXPECT_TRUE(split_cmdline("\n").empty());
}

TEST(KernelText, TaintBitsHaveLetters) {
  EXPECT_EQ(taint_letters(0), std::vector<std::string>{});
  EXPECT_EQ(taint_letters(1u << 13 | 1u << 9), (std::vector<std::string>{"W", "E"}));
  EXPECT_EQ(taint_letters(std::uint64_t{1} << 40), (std::vector<std::string>{"40"}));
}

TEST(KernelText, SecondParenthesisIsTheCompilers) {
  EXPECT_EQ(version_compiler("Linux version 1 (a (b)) (gcc (x (y)) 1.2) #1 (z)"),
            "gcc (x (y)) 1.2");
  EXPECT_EQ(version_compiler("Linux version 1 (a)"), "");
  EXPECT_EQ(version_compiler(")) (a) (open"), "");
}

}  // namespace
}  // namespace goldenv::probe
