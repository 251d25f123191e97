#include <gtest/gtest.h>

#include "probe/bracketed.h"
#include "probe/cpuinfo.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe cpu;
extern const Probe cpu_tuning;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kCpus = "/sys/devices/system/cpu";

std::string processor(int number, const std::string& microcode, const std::string& flags) {
  return "processor\t: " + std::to_string(number) +
         "\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763 "
         "64-Core Processor\nstepping\t: 1\n" +
         (microcode.empty() ? "" : "microcode\t: " + microcode + "\n") + "flags\t\t: " + flags +
         "\n\n";
}

/// Two sockets of one core with two threads each; CPU 3 is off.
struct Epyc : FakeHost {
  Epyc() {
    file("/proc/cpuinfo", processor(0, "0xa0011d1", "fpu sse avx2") +
                              processor(1, "0xa0011d1", "fpu sse avx2") +
                              processor(2, "0xa0011d1", "fpu sse"));
    const std::string root(kCpus);
    file(root + "/present", "0-3\n").file(root + "/online", "0-2\n");
    const char* siblings[] = {"0-1", "0-1", "2-3"};
    for (int i = 0; i < 3; ++i) {
      const std::string topology = root + "/cpu" + std::to_string(i) + "/topology/";
      file(topology + "physical_package_id", std::to_string(i / 2) + "\n");
      file(topology + "thread_siblings_list", std::string(siblings[i]) + "\n");
      const std::string policy = root + "/cpufreq/policy" + std::to_string(i);
      file(policy + "/scaling_governor", i == 2 ? "powersave\n" : "performance\n");
      file(policy + "/scaling_driver", "acpi-cpufreq\n");
      const std::string idle = root + "/cpu" + std::to_string(i) + "/cpuidle/";
      file(idle + "state0/disable", "0\n").file(idle + "state0/name", "POLL\n");
      file(idle + "state2/disable", "1\n").file(idle + "state2/name", "C2\n");
    }
    file(root + "/cpufreq/boost", "1\n").file(root + "/smt/control", "on\n");
    file(root + "/isolated", "\n").file(root + "/nohz_full", "(null)\n");
    file(root + "/cpuidle/current_driver", "acpi_idle\n");
    file(root + "/cpuidle/current_governor_ro", "menu\n");
    file(root + "/vulnerabilities/spectre_v2", "Mitigation: Retpolines; IBPB: conditional\n");
    const std::string clock = "/sys/devices/system/clocksource/clocksource0/";
    file(clock + "current_clocksource", "tsc\n")
        .file(clock + "available_clocksource", "tsc hpet acpi_pm \n");
  }
};

TEST(CpuProbe, ProcessorsAreRead) {
  const auto found = test::scan(Epyc(), cpu);
  EXPECT_EQ(told(found, "cpu.arch"), "x86_64");
  EXPECT_EQ(told(found, "cpu.vendor"), "AuthenticAMD");
  EXPECT_EQ(told(found, "cpu.model"), "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(told(found, "cpu.stepping"), "25-1-1");
  EXPECT_EQ(told(found, "cpu.flags"), "fpu, sse");
  EXPECT_EQ(told(found, "cpu.count"), "4");
  EXPECT_EQ(told(found, "cpu.sockets"), "2");
  EXPECT_EQ(told(found, "cpu.cores"), "2");
  EXPECT_EQ(told(found, "cpu.online"), "0-2");
  EXPECT_EQ(told(found, "cpu.microcode"), "0xa0011d1");
  EXPECT_EQ(told(found, "cpu.microcode@2"), "0xa0011d1");
}

TEST(CpuProbe, MicrocodeThatDiffersIsCounted) {
  FakeHost host;
  host.file("/proc/cpuinfo", processor(0, "0x1", "fpu") + processor(1, "0x2", "fpu"));
  EXPECT_EQ(told(host, cpu, "cpu.microcode"), "0x1 x 1, 0x2 x 1");
}

TEST(CpuProbe, MicrocodeThatAVirtualMachineIsNotToldIsUnknown) {
  FakeHost host;
  host.file("/proc/cpuinfo", processor(0, "", "fpu"));
  EXPECT_EQ(told(host, cpu, "cpu.microcode"), "unknown (not-stated)");
  host.file(std::string(kCpus) + "/cpu0/microcode/version", "0x7\n");
  EXPECT_EQ(told(host, cpu, "cpu.microcode"), "0x7");
}

TEST(CpuProbe, ArmProcessorsAreNamedByTheirCodes) {
  FakeHost host;
  host.uname({"n", "6.8.0", "#1", "aarch64"});
  host.file(
      "/proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"
      "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n\n");
  const auto found = test::scan(host, cpu);
  EXPECT_EQ(told(found, "cpu.vendor"), "ARM");
  EXPECT_EQ(told(found, "cpu.model"), "Neoverse-V2");
  EXPECT_EQ(told(found, "cpu.flags"), "asimd, fp, sve");
  EXPECT_EQ(told(found, "cpu.stepping"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "cpu.microcode"), "absent (this architecture has none)");
  EXPECT_EQ(told(found, "cpu.arch"), "aarch64");
}

TEST(CpuProbe, EmptyAndDeniedTextsAreUnknown) {
  FakeHost host;
  host.file("/proc/cpuinfo", "");
  EXPECT_EQ(told(host, cpu, "cpu.vendor"), "unknown (unreadable)");
  EXPECT_EQ(told(host, cpu, "cpu.flags"), "unknown (not-stated)");
  host.deny("/proc/cpuinfo").deny("/sys");
  EXPECT_EQ(told(host, cpu, "cpu.vendor"), "unknown (denied)");
  EXPECT_EQ(told(host, cpu, "cpu.count"), "unknown (denied)");
}

TEST(CpuTuningProbe, SettingsAreRead) {
  const auto found = test::scan(Epyc(), cpu_tuning);
  EXPECT_EQ(told(found, "cpu.governor"), "performance x 2, powersave x 1");
  EXPECT_EQ(told(found, "cpu.governor@2"), "powersave");
  EXPECT_EQ(told(found, "cpu.scaling_driver"), "acpi-cpufreq");
  EXPECT_EQ(told(found, "cpu.energy_preference"), "absent");
  EXPECT_EQ(told(found, "cpu.boost"), "true");
  EXPECT_EQ(told(found, "cpu.smt"), "on");
  EXPECT_EQ(told(found, "cpu.isolated"), "(empty list)");
  EXPECT_EQ(told(found, "cpu.nohz_full"), "(empty list)");
  EXPECT_EQ(told(found, "cpu.idle.driver"), "acpi_idle");
  EXPECT_EQ(told(found, "cpu.idle.governor"), "menu");
  EXPECT_EQ(told(found, "cpu.idle.disabled"), "C2");
  EXPECT_EQ(told(found, "cpu.mitigation.spectre_v2"), "Mitigation: Retpolines; IBPB: conditional");
  EXPECT_EQ(told(found, "clocksource"), "tsc");
  EXPECT_EQ(told(found, "clocksource.available"), "tsc hpet acpi_pm");
}

TEST(CpuTuningProbe, VirtualMachineWithoutFrequencyControlHasNoGovernor) {
  FakeHost host;
  host.folder(std::string(kCpus) + "/cpufreq");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.governor"), "absent (no cpufreq policy)");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.boost"), "absent");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.idle.disabled"), "absent (no idle driver)");
}

TEST(CpuTuningProbe, TurboIsWrittenTheOtherWayRound) {
  FakeHost host;
  host.file(std::string(kCpus) + "/intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.boost"), "false");
  host.file(std::string(kCpus) + "/intel_pstate/no_turbo", "?\n");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.boost"), "unknown (unreadable)");
}

TEST(CpuTuningProbe, OneDeniedPolicyMakesTheGovernorUnknown) {
  Epyc host;
  host.deny(std::string(kCpus) + "/cpufreq/policy1/scaling_governor");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.governor"), "unknown (denied)");
  EXPECT_EQ(told(host, cpu_tuning, "cpu.governor@0"), "performance");
}

TEST(CpuTuningProbe, TreeWithoutSysIsNotLive) {
  FakeHost host;
  host.fail("/sys", Errc::not_live).live(false);
  EXPECT_EQ(told(host, cpu_tuning, "cpu.governor"), "unknown (not-live)");
  EXPECT_EQ(told(host, cpu_tuning, "clocksource"), "unknown (not-live)");
}

TEST(CpuTuningProbe, MitigationsAreAnsweredByName) {
  const auto request = test::only({"cpu.mitigation.spectre_v2", "cpu.mitigation.none"});
  const auto found = test::scan(Epyc(), cpu_tuning, request);
  EXPECT_EQ(told(found, "cpu.mitigation.none"), "absent");
  EXPECT_EQ(found.facts.size(), 2u);
}

TEST(Cpuinfo, BlocksWithoutNumberArePassedOver) {
  const auto found =
      parse_cpuinfo("Hardware\t: x\nprocessor\t: 3\nflags : a\n\nRevision : 7\nprocessor : x\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 3u);
  EXPECT_EQ(found[0].field("flags"), "a");
  EXPECT_EQ(found[0].field("Revision"), "");
}

TEST(Ranges, AreExpandedWithinLimits) {
  EXPECT_EQ(expand_ranges("0-2,5\n"), (std::vector<std::uint32_t>{0, 1, 2, 5}));
  EXPECT_EQ(expand_ranges("0-4294967295", 4).size(), 4u);
  EXPECT_TRUE(expand_ranges("x,5-1,-,").empty());
  EXPECT_TRUE(expand_ranges("").empty());
}

}  // namespace
}  // namespace goldenv::probe
