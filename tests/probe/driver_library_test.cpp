#include <gtest/gtest.h>

#include "loader/cache_file.h"
#include "loader/elf_file.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe driver_library;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kLib = "/usr/lib/x86_64-linux-gnu/";

/// A system whose loader finds what lies in the usual folder.
struct System : FakeHost {
  System() {
    file("/bin/sh", test::elf_file({}));
    file("/etc/ld.so.cache",
         test::cache_file({
             {"libcuda.so.1", std::string(kLib) + "libcuda.so.1", 0x0303, 0},
             {"libnvidia-ml.so.1", std::string(kLib) + "libnvidia-ml.so.1", 0x0303, 0},
         }));
  }
  System& library(const std::string& folder, const std::string& soname,
                  const std::string& version) {
    file(folder + soname.substr(0, soname.size() - 1) + version,
         test::elf_file({.soname = soname}));
    link(folder + soname, soname.substr(0, soname.size() - 1) + version);
    return *this;
  }
};

TEST(DriverLibraryProbe, VersionsComeFromTheNamesOfTheFiles) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03").library(kLib, "libnvidia-ml.so.1", "535.129.03");
  const auto found = test::scan(host, driver_library);
  EXPECT_EQ(told(found, "driver.libcuda"), "535.129.03");
  EXPECT_EQ(told(found, "driver.libcuda.path"), std::string(kLib) + "libcuda.so.535.129.03");
  EXPECT_EQ(told(found, "driver.libcuda.origin"), "driver");
  EXPECT_EQ(told(found, "driver.libcuda.copies"), "535.129.03: 1");
  EXPECT_EQ(told(found, "driver.nvml"), "535.129.03");
  EXPECT_EQ(told(found, "driver.userland"), "535.129.03");
  EXPECT_EQ(told(found, "driver.libcuda@" + std::string(kLib) + "libcuda.so.535.129.03"),
            "535.129.03");
}

TEST(DriverLibraryProbe, LeftoverOfAnOlderDriverIsAnotherCopy) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.01").library(kLib, "libcuda.so.1", "535.129.03");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda"), "535.129.03");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda.copies"), "535.129.01: 1, 535.129.03: 1");
}

TEST(DriverLibraryProbe, ForwardCompatibilityIsSaid) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03")
      .library("/usr/local/cuda-12.4/compat/", "libcuda.so.1", "550.54.15")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/compat");
  const auto found = test::scan(host, driver_library);
  EXPECT_EQ(told(found, "driver.libcuda"), "550.54.15");
  EXPECT_EQ(told(found, "driver.libcuda.origin"), "forward-compat");
  EXPECT_EQ(told(found, "driver.libcuda.copies"), "535.129.03: 1, 550.54.15: 1");
}

TEST(DriverLibraryProbe, StubsAreNeverTakenForADriver) {
  System host;
  host.library("/usr/local/cuda/lib64/stubs/", "libcuda.so.1", "535.1.2")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs");
  host.file("/usr/local/cuda/lib64/stubs/libcuda.so.1", test::elf_file({.soname = "libcuda.so.1"}));
  const auto found = test::scan(host, driver_library);
  EXPECT_EQ(told(found, "driver.libcuda"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "driver.libcuda.origin"), "stub");
  EXPECT_EQ(told(found, "driver.libcuda.copies"), "absent (no copy)");
}

TEST(DriverLibraryProbe, WslAndJetsonNamesHoldNoDriverVersion) {
  System wsl;
  wsl.file("/usr/lib/wsl/lib/libcuda.so.1", test::elf_file({.soname = "libcuda.so.1"}))
      .set("LD_LIBRARY_PATH", "/usr/lib/wsl/lib");
  EXPECT_EQ(told(wsl, driver_library, "driver.libcuda"), "unknown (not-stated)");
  EXPECT_EQ(told(wsl, driver_library, "driver.libcuda.origin"), "wsl");
  System jetson;
  jetson.library(std::string(kLib), "libcuda.so.1", "1.1");
  EXPECT_EQ(told(jetson, driver_library, "driver.libcuda"), "unknown (not-stated)");
}

TEST(DriverLibraryProbe, WithoutLibcudaTheOtherLibrarySpeaks) {
  System host;
  host.library(kLib, "libnvidia-ml.so.1", "550.90.07");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda"), "absent (no library answers)");
  EXPECT_EQ(told(host, driver_library, "driver.userland"), "550.90.07");
}

TEST(DriverLibraryProbe, WithoutEitherThereIsNoUserland) {
  const System host;
  EXPECT_EQ(told(host, driver_library, "driver.userland"), "absent (no library answers)");
  EXPECT_EQ(told(host, driver_library, "driver.nvml"), "absent (no library answers)");
}

TEST(DriverLibraryProbe, FolderThatCannotBeListedMakesTheCountUnknown) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03").deny("/usr/local/nvidia/lib64");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda"), "535.129.03");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda.copies"), "unknown (denied)");
}

TEST(DriverLibraryProbe, ACopyThatLeadsWhereNoOneMayLookMakesTheCountUnknown) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03");
  host.link("/usr/lib/libcuda.so.1", "/root/libcuda.so.550.54.14").deny("/root");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda"), "535.129.03");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda.copies"), "unknown (denied)");
}

TEST(DriverLibraryProbe, FileMountedByAContainerRuntimeIsTheHosts) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03");
  host.file("/proc/self/mountinfo", "30 20 8:1 / / rw - overlay overlay rw\n31 30 8:1 /x " +
                                        std::string(kLib) +
                                        "libcuda.so.535.129.03 ro - ext4 /dev/sda1 ro\n");
  EXPECT_EQ(told(host, driver_library, "driver.libcuda.origin"), "container");
}

TEST(DriverLibraryProbe, TheBranchOfLibcudaSaysWhatItServes) {
  System host;
  host.library(kLib, "libcuda.so.1", "535.129.03");
  const auto found = test::scan(host, driver_library, test::only({"cuda.driver_api"}));
  EXPECT_EQ(told(found, "cuda.driver_api"), "12.2");
  EXPECT_EQ(told(found, "driver.libcuda"), "not recorded");
  host.library("/usr/local/cuda-12.4/compat/", "libcuda.so.1", "550.54.15")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/compat");
  EXPECT_EQ(told(host, driver_library, "cuda.driver_api"), "12.4");
  System newer;
  newer.library(kLib, "libcuda.so.1", "999.10.01");
  EXPECT_EQ(told(newer, driver_library, "cuda.driver_api"), "unknown (not-stated, needs nvml)");
  EXPECT_EQ(told(System(), driver_library, "cuda.driver_api"), "absent (no library answers)");
}

}  // namespace
}  // namespace goldenv::probe
