#include "probe/kernel_log.h"

#include <gtest/gtest.h>

#include <string>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe kernel_events;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kBoot =
    "[    0.000000] Linux version 5.15.0-91-generic (buildd@lcy02) (gcc ...) #101-Ubuntu SMP\n";

constexpr const char* kMismatch =
    "[   12.014918] NVRM: API mismatch: the client has the version 570.153.02, but\n"
    "               NVRM: this kernel module has the version 570.144.  Please\n"
    "               NVRM: make sure that this kernel module and all NVIDIA driver\n"
    "               NVRM: components have the same version.\n"
    "[   23.991660] nvidia 0000:07:00.0: Direct firmware load for nvidia/570.144/gsp_ga10x.bin "
    "failed with error -2\n"
    "[   23.991667] NVRM: RmFetchGspRmImages: No firmware image found\n"
    "[   23.991672] NVRM: GPU 0000:07:00.0: RmInitAdapter failed! (0x61:0x56:1770)\n";

struct Logged : FakeHost {
  explicit Logged(const std::string& text, const std::string& path = "/var/log/kern.log") {
    live(false).file(path, text);
  }
};

TEST(KernelEventsProbe, AMismatchOfTwoLinesIsOnePair) {
  const Logged host(kBoot + std::string(kMismatch) + kMismatch);
  const auto found = test::scan(host, kernel_events);
  EXPECT_EQ(told(found, "log.api_mismatch"), "570.153.02 against 570.144");
  EXPECT_EQ(told(found, "driver.gsp.missing"), "nvidia/570.144/gsp_ga10x.bin");
  EXPECT_EQ(told(found, "log.nvrm"), "adapter initialisation failed, no GSP firmware");
  EXPECT_EQ(told(found, "log.lockup"), "0");
  EXPECT_EQ(told(found, "log.xid"), "(none)");
}

TEST(KernelEventsProbe, XidsAreCountedByCodeAndShown) {
  const Logged host(kBoot +
                    std::string("[1.0] NVRM: Xid (PCI:0000:83:00): 119, pid=849, name=x, Timeout\n"
                                "[2.0] NVRM: Xid (0000:01:00): 31, Ch 00000010, engmask 00000101\n"
                                "[3.0] NVRM: Xid (PCI:0000:83:00): 119, pid=1\n"
                                "[4.0] NVRM: Xid (PCI:0000:83:00): x, pid=1\n"
                                "[5.0] NVRM: Xid (PCI:0000:83:00\n"));
  const auto found = test::scan(host, kernel_events);
  EXPECT_EQ(told(found, "log.xid"), "119: 2, 31: 1");
  const facts::Fact* xid = found.find({"log.xid", ""});
  ASSERT_EQ(xid->evidence.notes.size(), 3u);
  EXPECT_EQ(xid->evidence.notes[1], "NVRM: Xid (0000:01:00): 31, Ch 00000010, engmask 00000101");
}

TEST(KernelEventsProbe, RejectedModulesAreTold) {
  const Logged host(
      kBoot +
      std::string("[1] nvidia: version magic '5.4.0-149-generic SMP mod_unload ' should be "
                  "'5.15.0-91-generic SMP mod_unload modversions '\n"
                  "[2] nvidia_uvm: Unknown symbol nvUvmInterfaceDisableAccessCntr (err -2)\n"
                  "[3] nvidia_uvm: disagrees about version of symbol module_layout\n"
                  "[4] nvidia: unsigned module is rejected\n"
                  "[5] Loading of unsigned module is rejected\n"
                  "[6] Lockdown: modprobe: unsigned module loading is restricted; see man x\n"
                  "[7] random: crng init done\n"));
  EXPECT_EQ(told(host, kernel_events, "log.module_rejected"),
            "(unnamed): signature, nvidia: signature, vermagic, nvidia_uvm: symbol version, "
            "unknown symbol");
}

TEST(KernelEventsProbe, LockupsBusErrorsAndClocksAreTold) {
  const Logged host(
      kBoot +
      std::string(
          "[1] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:1234]\n"
          "[2] NMI watchdog: Watchdog detected hard LOCKUP on cpu 0\n"
          "[3] pcieport 0000:80:01.1: PCIe Bus Error: severity=Corrected, type=Physical Layer\n"
          "[4] clocksource: timekeeping watchdog on CPU3: Marking clocksource 'tsc-early' as "
          "unstable because the skew is too large:\n"
          "[5] tsc: Marking TSC unstable due to clocksource watchdog\n"));
  const auto found = test::scan(host, kernel_events);
  EXPECT_EQ(told(found, "log.lockup"), "2");
  EXPECT_EQ(told(found, "log.pcie_errors"), "1");
  EXPECT_EQ(told(found, "clocksource.unstable"), "tsc, tsc-early");
}

TEST(KernelEventsProbe, OnlyTheLastBootCounts) {
  const std::string xid = "Jan  1 00:00:09 gpu kernel: [ 9.1] NVRM: Xid (PCI:0000:83:00): 79, x\n";
  const std::string boot = "Jan  1 00:00:00 gpu kernel: [ 0.0] Linux version 5.15.0\n";
  EXPECT_EQ(told(Logged(boot + xid + xid), kernel_events, "log.xid"), "79: 2");
  EXPECT_EQ(told(Logged(boot + xid + boot), kernel_events, "log.xid"), "(none)");
  EXPECT_EQ(told(Logged(boot + xid + boot + xid), kernel_events, "log.xid"), "79: 1");
  // A file that begins in the midst of a boot says nothing of which one.
  EXPECT_EQ(told(Logged(xid), kernel_events, "log.xid"), "unknown (not-stated)");
}

TEST(KernelEventsProbe, LogDaemonsWriteLineEndsAsNumbers) {
  const Logged host(
      "2024-01-01T00:00:00 gpu kernel: [0.0] Linux version 5.15.0\n"
      "2024-01-01T00:00:00 gpu kernel: [1.0] NVRM: API mismatch: the client has the version "
      "550.1, but#012NVRM: this kernel module has the version 550.2.  Please#012NVRM: make\n"
      "2024-01-01T00:00:00 gpu sshd[1]: NVRM: Xid (PCI:0000:83:00): 79, not the kernel's\n",
      "/var/log/syslog");
  const auto found = test::scan(host, kernel_events);
  EXPECT_EQ(told(found, "log.api_mismatch"), "550.1 against 550.2");
  EXPECT_EQ(told(found, "log.xid"), "(none)");
}

TEST(KernelEventsProbe, WithoutALogNothingIsKnown) {
  FakeHost none;
  none.live(false);
  EXPECT_EQ(told(none, kernel_events, "log.xid"), "unknown (not-stated)");
  none.deny("/var/log/kern.log");
  EXPECT_EQ(told(none, kernel_events, "log.lockup"), "unknown (denied, needs root)");
  EXPECT_EQ(told(none, kernel_events, "clocksource.unstable"), "unknown (denied, needs root)");
  FakeHost closed;  // a running machine
  closed.deny("/proc/sys/kernel/dmesg_restrict");
  EXPECT_EQ(told(closed, kernel_events, "log.xid"), "unknown (denied, needs root)");
  closed.file("/var/log/messages", kBoot + std::string(kMismatch));
  EXPECT_EQ(told(closed, kernel_events, "log.api_mismatch"), "570.153.02 against 570.144");
}

TEST(KernelLog, WhatUserProgramsWroteIsPassedOver) {
  const std::string fake = "NVRM: Xid (PCI:0000:83:00): 79, x\n";
  EXPECT_TRUE(parse_kernel_log("<12>[ 1.0] " + fake).xids.empty());
  EXPECT_TRUE(parse_kernel_log("<x>[ 1.0] " + fake).xids.empty());
  EXPECT_TRUE(parse_kernel_log("<4>[ 1.0] python: " + fake).xids.empty());
  EXPECT_EQ(parse_kernel_log("<4>[ 1.0] " + fake).xids.size(), 1u);
  EXPECT_EQ(parse_kernel_log(fake).xids.size(), 1u);
}

TEST(KernelLog, HostileBytesAreKeptFromTheEvidence) {
  const std::string text = "NVRM: Xid (PCI:\x1b[31m\t\xff\x01): 13, " + std::string(5000, 'a');
  const KernelLog log = parse_kernel_log(text);
  ASSERT_EQ(log.xids.size(), 1u);
  const std::string& line = log.lines.at("log.xid").front();
  EXPECT_LT(line.size(), 400u);
  EXPECT_EQ(line.find_first_of("\x1b\t\x01"), std::string::npos);
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += "m" + std::to_string(i) + ": Unknown symbol x (err -2)\n";
    many += "nvidia 0: Direct firmware load for f" + std::to_string(i) + " failed\n";
  }
  EXPECT_LE(parse_kernel_log(many).rejected.size(), 200u);
  EXPECT_LE(parse_kernel_log(many).missing_firmware.size(), 200u);
  for (const char* torn : {"", "\n\n", "[", "<", "<6", "<6>", "<6>[", "[]", "#012#012",
                           "NVRM: ", "NVRM: Xid (): ", ": version magic '' should be '"}) {
    static_cast<void>(parse_kernel_log(torn));
  }
}

TEST(KernelLog, EncodingIsReversible) {
  const KernelLog log = parse_kernel_log(
      kBoot + std::string(kMismatch) +
      "[1] nvidia: version magic 'a' should be 'b'\n[2] NVRM: Xid (PCI:0000:83:00): 79, x\n"
      "[3] tsc: Marking TSC unstable due to x\n");
  const Result<KernelLog> back = decode_kernel_log(encode(log));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, log);
  EXPECT_FALSE(decode_kernel_log(""));
  EXPECT_FALSE(decode_kernel_log("kernel log 1\nxid\n"));
}

}  // namespace
}  // namespace goldenv::probe
