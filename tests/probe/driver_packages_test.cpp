#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "probe/rpm_machine.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe driver_packages;
namespace {

using test::FakeHost;
using test::told;

using Names = std::vector<std::pair<std::string, std::string>>;

std::string status_of(const Names& packages) {
  std::string text =
      "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\n"
      "Version: 1.21.1\n\n";
  for (const auto& [name, version] : packages) {
    text += "Package: " + name +
            "\nStatus: install ok installed\nArchitecture: amd64\nVersion: " + version + "\n\n";
  }
  return text;
}

struct Debian : FakeHost {
  explicit Debian(const Names& packages) {
    file("/var/lib/dpkg/status", status_of(packages));
    file("/usr/bin/nvidia-smi",
         "\x7f"
         "ELF")
        .file("/usr/bin/nv-fabricmanager",
              "\x7f"
              "ELF");
    file("/proc/driver/nvidia/version", "NVRM version: ...\n");
  }
};

TEST(DriverPackagesProbe, ProgramsHaveTheVersionOfTheirPackage) {
  const Debian host({{"nvidia-utils-535-server", "535.129.03-0ubuntu0.22.04.1"},
                     {"nvidia-fabricmanager-535", "535.129.03-1"},
                     {"libnvidia-compute-535-server", "535.129.03-0ubuntu0.22.04.1"}});
  const auto found = test::scan(host, driver_packages);
  EXPECT_EQ(told(found, "driver.smi"), "535.129.03");
  EXPECT_EQ(told(found, "driver.fabricmanager"), "535.129.03");
  EXPECT_EQ(told(found, "driver.origin"), "package");
}

TEST(DriverPackagesProbe, AProgramWithoutAPackageStatesNoVersion) {
  const Debian host({});
  EXPECT_EQ(told(host, driver_packages, "driver.smi"), "unknown (not-stated)");
  EXPECT_EQ(told(host, driver_packages, "driver.fabricmanager"), "unknown (not-stated)");
  EXPECT_EQ(told(host, driver_packages, "driver.origin"), "unknown (not-stated)");
}

TEST(DriverPackagesProbe, TwoVersionsAreAmbiguousAndNoneIsAbsent) {
  Debian host({{"nvidia-utils-535", "535.129.03-1"}, {"nvidia-smi", "525.147.05-1"}});
  EXPECT_EQ(told(host, driver_packages, "driver.smi"), "unknown (ambiguous)");
  const FakeHost bare;
  EXPECT_EQ(told(bare, driver_packages, "driver.smi"), "absent (no nvidia-smi)");
  EXPECT_EQ(told(bare, driver_packages, "driver.fabricmanager"), "absent (no nv-fabricmanager)");
  EXPECT_EQ(told(bare, driver_packages, "driver.origin"), "absent (no driver)");
  FakeHost closed;
  closed.deny("/usr/bin/nvidia-smi");
  EXPECT_EQ(told(closed, driver_packages, "driver.smi"), "unknown (denied)");
}

TEST(DriverPackagesProbe, AListThatCannotBeReadLeavesAllOpen) {
  Debian host({});
  host.deny("/var/lib/dpkg/status");
  EXPECT_EQ(told(host, driver_packages, "driver.smi"), "unknown (denied)");
  EXPECT_EQ(told(host, driver_packages, "driver.origin"), "unknown (denied)");
}

TEST(DriverPackagesProbe, PackagesOfRpmCountAsWell) {
  FakeHost host;
  host.file("/usr/bin/nvidia-smi", "").file("/usr/bin/nv-fabricmanager", "");
  host.file("/var/lib/rpm/Packages.db",
            test::rpm::ndb({
                test::rpm::header("nvidia-driver-cuda", 3, "535.129.03", "1.el9", "x86_64"),
                test::rpm::header("nvidia-fabric-manager", -1, "535.129.03", "1", "x86_64"),
            }));
  const auto found = test::scan(host, driver_packages);
  EXPECT_EQ(told(found, "driver.smi"), "535.129.03");
  EXPECT_EQ(told(found, "driver.fabricmanager"), "535.129.03");
  EXPECT_EQ(told(found, "driver.origin"), "package");
  host.deny("/var/lib/rpm/Packages.db");
  EXPECT_EQ(told(host, driver_packages, "driver.smi"), "unknown (denied)");
}

TEST(DriverPackagesProbe, TheInstallerLeavesItsUninstaller) {
  FakeHost host;
  host.file("/proc/driver/nvidia/version", "x\n").file("/usr/bin/nvidia-uninstall", "");
  EXPECT_EQ(told(host, driver_packages, "driver.origin"), "runfile");
  host.file("/var/lib/dpkg/status", status_of({{"nvidia-driver-535", "535.129.03-1"}}));
  EXPECT_EQ(told(host, driver_packages, "driver.origin"), "unknown (ambiguous)");
}

TEST(DriverPackagesProbe, ContainersImagesAndDkmsAreTold) {
  FakeHost container;
  container.file("/proc/self/mountinfo",
                 "36 35 98:0 / /usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03 ro - ext4 /dev/a "
                 "rw\n");
  EXPECT_EQ(told(container, driver_packages, "driver.origin"), "container");
  FakeHost image;
  image.file("/proc/driver/nvidia/version", "x\n").folder("/run/nvidia/driver/usr");
  EXPECT_EQ(told(image, driver_packages, "driver.origin"), "image");
  FakeHost dkms;
  dkms.file("/proc/driver/nvidia/version", "x\n").folder("/var/lib/dkms/nvidia-fs");
  EXPECT_EQ(told(dkms, driver_packages, "driver.origin"), "unknown (not-stated)");
  dkms.folder("/var/lib/dkms/nvidia/535.129.03");
  EXPECT_EQ(told(dkms, driver_packages, "driver.origin"), "dkms");
  dkms.deny("/var/lib/dkms");
  EXPECT_EQ(told(dkms, driver_packages, "driver.origin"), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe
