#include <gtest/gtest.h>

#include "probe/dpkg_status.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe dpkg;
namespace {

using test::FakeHost;
using test::told;

std::string stanza(const std::string& name, const std::string& status, const std::string& arch,
                   const std::string& version) {
  return "Package: " + name + "\nStatus: " + status +
         "\nPriority: optional\nArchitecture: " + arch + "\nMulti-Arch: same\nVersion: " + version +
         "\nDescription: text\n Package: not a field\n\n";
}

struct Debian : FakeHost {
  Debian() {
    file("/var/lib/dpkg/status",
         stanza("dpkg", "install ok installed", "amd64", "1.21.22") +
             stanza("libc6", "install ok installed", "amd64", "2.36-9+deb12u14") +
             stanza("libc6", "install ok installed", "i386", "2.36-9+deb12u13") +
             stanza("libnccl2", "hold ok installed", "amd64", "2.18.3-1+cuda12.1") +
             stanza("tzdata", "install ok installed", "all", "2024a-0") +
             stanza("nvidia-driver-535", "install ok half-configured", "amd64", "535.129.03-0") +
             stanza("libnvidia-compute-470", "deinstall ok config-files", "amd64", "470.1-0") +
             stanza("man-db", "install ok triggers-pending", "amd64", "2.11.2-2") +
             stanza("gone", "purge ok not-installed", "amd64", "1"));
  }
};

TEST(DpkgProbe, InstalledPackagesAreListed) {
  const auto found = test::scan(Debian(), dpkg);
  EXPECT_EQ(told(found, "dpkg.package.libc6"), "2.36-9+deb12u14");
  EXPECT_EQ(told(found, "dpkg.package.libc6:i386"), "2.36-9+deb12u13");
  EXPECT_EQ(told(found, "dpkg.package.tzdata"), "2024a-0");
  EXPECT_EQ(told(found, "dpkg.package.man-db"), "2.11.2-2");
  EXPECT_EQ(told(found, "dpkg.package.libnvidia-compute-470"), "not recorded");
  EXPECT_EQ(told(found, "dpkg.package.gone"), "not recorded");
  EXPECT_EQ(told(found, "dpkg.leftover"), "libnvidia-compute-470: 470.1-0");
  EXPECT_EQ(told(found, "packages.held"), "libnccl2");
  EXPECT_EQ(found.listed, std::vector<std::string>{"dpkg.package"});
  EXPECT_EQ(found.find({"dpkg.package.libc6", ""})->evidence.line, 10u);
}

TEST(DpkgProbe, UnfinishedPackageIsNeitherThereNorAbsent) {
  EXPECT_EQ(told(Debian(), dpkg, "dpkg.package.nvidia-driver-535"), "unknown (ambiguous)");
}

TEST(DpkgProbe, NamedPackagesAreAnsweredAlone) {
  const auto found =
      test::scan(Debian(), dpkg, test::only({"dpkg.package.libnccl2", "dpkg.package.libcudnn8"}));
  EXPECT_EQ(told(found, "dpkg.package.libnccl2"), "2.18.3-1+cuda12.1");
  EXPECT_EQ(told(found, "dpkg.package.libcudnn8"), "absent (not installed)");
  EXPECT_EQ(found.facts.size(), 2u);
  EXPECT_TRUE(found.listed.empty());
}

TEST(DpkgProbe, SystemWithoutDpkgHasNoSuchPackages) {
  const auto found = test::scan(FakeHost(), dpkg, test::also({"dpkg.package.libc6"}));
  EXPECT_EQ(told(found, "dpkg.package.libc6"), "absent (no dpkg)");
  EXPECT_EQ(told(found, "packages.held"), "unknown (unsupported)");
}

TEST(DpkgProbe, DeniedListIsNoEmptyList) {
  FakeHost host;
  host.deny("/var/lib/dpkg/status");
  const auto found = test::scan(host, dpkg, test::also({"dpkg.package.libc6"}));
  EXPECT_EQ(told(found, "dpkg.package.libc6"), "unknown (denied)");
  EXPECT_EQ(told(found, "dpkg.leftover"), "unknown (denied)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(DpkgProbe, ImagesWithoutDpkgKeepOneFileAPackage) {
  FakeHost host;
  host.file("/var/lib/dpkg/status.d/base",
            "Package: base-files\nArchitecture: amd64\nVersion: 12.4\n")
      .file("/var/lib/dpkg/status.d/base.md5sums", "x");
  EXPECT_EQ(told(host, dpkg, "dpkg.package.base-files"), "12.4");
}

TEST(DpkgStatusText, CutAndEmptyTextsGiveWhatIsWhole) {
  EXPECT_TRUE(parse_dpkg_status("").empty());
  EXPECT_TRUE(parse_dpkg_status("Package: a\nVersion: 1\n").empty());
  const auto packages = parse_dpkg_status(
      "Package: a\r\nStatus: install ok installed\r\nVersion: 1\r\n\r\nPackage: b\nStatus: install "
      "ok");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].name, "a");
  EXPECT_EQ(packages[0].version, "1");
}

}  // namespace
}  // namespace goldenv::probe
