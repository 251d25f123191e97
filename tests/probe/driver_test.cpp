#include <gtest/gtest.h>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe driver;
namespace {

using test::FakeHost;
using test::told;

constexpr std::string_view kClosed =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
    "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04) \n";

TEST(DriverProbe, ModuleInMemoryIsRead) {
  FakeHost host;
  host.file("/proc/driver/nvidia/version", std::string(kClosed))
      .file("/sys/module/nvidia/version", "535.129.03\n");
  const auto found = test::scan(host, driver);
  EXPECT_EQ(told(found, "driver"), "535.129.03");
  EXPECT_EQ(told(found, "driver.flavor"), "proprietary");
  EXPECT_EQ(told(found, "driver.compiler"), "gcc 11.4.0");
  EXPECT_EQ(told(found, "driver.numbering"), "linux");
  const facts::Fact* fact = found.find({"driver.compiler", ""});
  EXPECT_EQ(fact->evidence.from, "/proc/driver/nvidia/version");
  EXPECT_EQ(fact->evidence.line, 2u);
}

TEST(DriverProbe, JetsonCountsInNumbersOfItsOwn) {
  FakeHost host;
  host.file(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  35.3.1  Release Build  (b@h) S\n"
      "GCC version:  gcc version 9.3.0 (Buildroot 2020.08) \n");
  EXPECT_EQ(told(host, driver, "driver"), "35.3.1");
  EXPECT_EQ(told(host, driver, "driver.numbering"), "tegra");
  EXPECT_EQ(told(host, driver, "driver.flavor"), "open");
}

TEST(DriverProbe, BuilderNeverShows) {
  FakeHost host;
  host.file("/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build  "
            "(dvs-builder@U16-I3-B14-4-3)  Thu Oct 10 12:15:00 UTC 2024\n");
  const auto found = test::scan(host, driver);
  for (const facts::Fact& fact : found.facts) {
    EXPECT_EQ(facts::describe(fact.reading).find("dvs-builder"), std::string::npos);
  }
}

TEST(DriverProbe, WithoutModuleItIsAbsent) {
  FakeHost host;
  host.folder("/proc").folder("/sys/module");
  EXPECT_EQ(told(host, driver, "driver"), "absent (not loaded)");
  EXPECT_EQ(told(host, driver, "driver.flavor"), "absent (not loaded)");
}

TEST(DriverProbe, TwoNumbersForOneModuleAreAmbiguous) {
  FakeHost host;
  host.file("/proc/driver/nvidia/version", std::string(kClosed))
      .file("/sys/module/nvidia/version", "535.129.01\n");
  EXPECT_EQ(told(host, driver, "driver"), "unknown (ambiguous)");
}

TEST(DriverProbe, DeniedIsUnknownAndNotAbsent) {
  FakeHost host;
  host.deny("/proc/driver/nvidia/version");
  EXPECT_EQ(told(host, driver, "driver"), "unknown (denied)");
}

TEST(DriverProbe, EmptyAndCutFilesAreUnknown) {
  for (const char* text : {"", "NVRM version: NVIDIA UNIX x86_64 Kern"}) {
    FakeHost host;
    host.file("/proc/driver/nvidia/version", text);
    EXPECT_EQ(told(host, driver, "driver"), "unknown (unreadable)") << text;
  }
}

TEST(DriverProbe, TreeWithoutProcDoesNotSayThatNothingIsLoaded) {
  FakeHost host;
  host.fail("/proc", Errc::not_live).fail("/sys", Errc::not_live).live(false);
  EXPECT_EQ(told(host, driver, "driver"), "unknown (not-live)");
}

TEST(DriverProbe, ContainerThatHidesProcStillShowsTheModule) {
  FakeHost host;
  host.folder("/proc").file("/sys/module/nvidia/version", "550.90.07\n");
  EXPECT_EQ(told(host, driver, "driver"), "550.90.07");
  EXPECT_EQ(told(host, driver, "driver.flavor"), "unknown (not-stated)");
}

TEST(DriverProbe, AFileThatIsDeniedIsNotCalledMissing) {
  FakeHost host;
  host.deny("/proc/driver/nvidia").file("/sys/module/nvidia/version", "550.90.07\n");
  const auto found = test::scan(host, driver);
  EXPECT_EQ(told(found, "driver"), "550.90.07");
  for (const char* key : {"driver.flavor", "driver.compiler", "driver.numbering"}) {
    EXPECT_EQ(told(found, key), "unknown (denied)") << key;
    EXPECT_NE(facts::describe(found.find({key, ""})->reading).find("/proc/driver/nvidia"),
              std::string::npos);
  }
}

TEST(DriverProbe, AModuleInMemoryWhoseFilesAreHiddenIsNotAbsent) {
  FakeHost by_list;
  by_list.file("/proc/modules", "nvidia_uvm 1 0 - Live 0x0\nnvidia 1 1 nvidia_uvm, Live 0x0\n");
  FakeHost by_folder;
  by_folder.file("/sys/module/nvidia/initstate", "live\n");
  for (const FakeHost* host : {&by_list, &by_folder}) {
    for (const char* key : {"driver", "driver.flavor", "driver.compiler", "driver.numbering"}) {
      EXPECT_EQ(told(*host, driver, key), "unknown (not-stated)") << key;
    }
  }
}

TEST(DriverProbe, NotLoadedIsSaidOnlyByWhatListsTheLoadedOnes) {
  // /sys is hidden, and the kernel's own list is there.
  FakeHost listed;
  listed.file("/proc/modules", "ib_core 1 0 - Live 0x0\n").deny("/sys");
  FakeHost blind;
  FakeHost denied;
  denied.deny("/proc/modules").fail("/sys", Errc::absent);
  for (const char* key : {"driver", "driver.flavor", "driver.compiler", "driver.numbering"}) {
    EXPECT_EQ(told(listed, driver, key), "absent (not loaded)") << key;
    EXPECT_EQ(told(blind, driver, key), "unknown (unreadable)") << key;
    EXPECT_EQ(told(denied, driver, key), "unknown (denied)") << key;
  }
  for (const char* text : {"", "\x01\xfe", "nvidia_uvm 1"}) {
    FakeHost torn;
    torn.file("/proc/modules", text);
    EXPECT_EQ(told(torn, driver, "driver"), "unknown (unreadable)") << text;
    torn.file("/sys/module/loop/initstate", "live\n");
    EXPECT_EQ(told(torn, driver, "driver"), "absent (not loaded)") << text;
  }
}

TEST(DriverProbe, WindowsDriverUnderWslIsUnknownAndNotAbsent) {
  FakeHost host;
  host.uname({"pc", "5.15.167.4-microsoft-standard-WSL2", "#1 SMP", "x86_64"}).file("/dev/dxg", "");
  EXPECT_EQ(told(host, driver, "driver"), "unknown (not-probed, needs nvml)");
  EXPECT_EQ(told(host, driver, "driver.numbering"), "windows");
  EXPECT_EQ(told(host, driver, "driver.flavor"), "absent (WSL has no kernel module of NVIDIA)");
}

struct TwoGpus : FakeHost {
  TwoGpus(const std::string& first, const std::string& second) {
    int bus = 0;
    for (const std::string& firmware : {first, second}) {
      const std::string address = bus++ == 0 ? "0000:07:00.0" : "0000:0f:00.0";
      file("/proc/driver/nvidia/gpus/" + address + "/information",
           "Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 274\nGPU Firmware: \t " + firmware +
               "\n");
    }
  }
};

TEST(DriverProbe, FirmwareOfAllGpusIsOneValue) {
  const auto found = test::scan(TwoGpus("535.129.03", "535.129.03"), driver);
  EXPECT_EQ(told(found, "driver.gsp"), "535.129.03");
  EXPECT_EQ(told(found, "driver.gsp.enabled"), "true");
  EXPECT_EQ(told(found, "driver.gsp@1"), "535.129.03");
  EXPECT_EQ(found.find({"driver.gsp", "1"})->evidence.line, 3u);
}

TEST(DriverProbe, FirmwareNotUsedIsAbsentAndCounted) {
  EXPECT_EQ(told(test::scan(TwoGpus("N/A", "N/A"), driver), "driver.gsp"), "absent (GSP not used)");
  EXPECT_EQ(told(test::scan(TwoGpus("535.129.03", "N/A"), driver), "driver.gsp"),
            "535.129.03 x 1, absent x 1");
}

TEST(DriverProbe, OneGpuThatDoesNotSayMakesTheFactUnknown) {
  EXPECT_EQ(told(test::scan(TwoGpus("535.129.03", ""), driver), "driver.gsp"),
            "unknown (not-stated)");
}

TEST(DriverProbe, FirmwareFoldersAreDriverVersions) {
  FakeHost host;
  host.file("/lib/firmware/nvidia/535.129.03/gsp_ga10x.bin", "x")
      .file("/lib/firmware/nvidia/535.129.03/gsp_tu10x.bin", "x")
      .file("/lib/firmware/nvidia/550.90.07/gsp_ga10x.bin.zst", "x")
      .file("/lib/firmware/nvidia/470.1.1/README", "x")
      .file("/lib/firmware/nvidia/tu102/gsp/gsp-535.113.01.bin", "x");
  EXPECT_EQ(told(host, driver, "driver.gsp.on_disk"), "535.129.03, 550.90.07");
}

TEST(DriverProbe, CheckReadsNothingThatIsNotWanted) {
  FakeHost host;
  host.file("/proc/driver/nvidia/version", std::string(kClosed));
  const auto found = test::scan(host, driver, test::only({"driver.flavor"}));
  EXPECT_EQ(told(found, "driver.flavor"), "proprietary");
  EXPECT_EQ(found.facts.size(), 1u);
}

}  // namespace
}  // namespace goldenv::probe
