#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "probe/rpm_database.h"
#include "probe/rpm_machine.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe dpkg;
extern const Probe rpm;
namespace {

using test::FakeHost;
using test::told;
using test::rpm::header;

const std::vector<std::string>& headers() {
  static const std::vector<std::string> kHeaders = {
      header("bash", -1, "5.1.8", "6.el9", "x86_64"),
      header("glibc", -1, "2.34", "100.el9_4.2", "x86_64", 3000),
      header("glibc", -1, "2.34", "100.el9_4.2", "i686", 700),
      header("nvidia-driver", 3, "535.129.03", "1.el9", "x86_64"),
      header("kernel-core", -1, "5.14.0", "427.el9", "x86_64"),
      header("kernel-core", -1, "5.14.0", "503.el9", "x86_64"),
      header("tzdata", 0, "2024a", "1.el9", "noarch", 20000),
      header("gpg-pubkey", -1, "8d8b756f", "629e5d7f", "(none)"),
      header("rpm", -1, "4.16.1.3", "29.el9", "x86_64", 10)};
  return kHeaders;
}

Result<std::vector<RpmPackage>> parse(const std::string& bytes) {
  return parse_rpm_database([&](std::uint64_t offset, std::size_t size) {
    return offset < bytes.size() ? bytes.substr(offset, size) : std::string();
  });
}

struct Form {
  const char* file;
  std::string bytes;
};
std::vector<Form> forms() {
  return {{"rpmdb.sqlite", test::rpm::Sqlite(headers()).bytes()},
          {"Packages", test::rpm::Berkeley(headers(), false).bytes()},
          {"Packages", test::rpm::Berkeley(headers(), true).bytes()},
          {"Packages.db", test::rpm::ndb(headers())}};
}

TEST(RpmDatabase, EveryFormGivesTheSamePackages) {
  std::vector<RpmPackage> expected = {{"bash", "5.1.8-6.el9", "x86_64"},
                                      {"glibc", "2.34-100.el9_4.2", "i686"},
                                      {"glibc", "2.34-100.el9_4.2", "x86_64"},
                                      {"kernel-core", "5.14.0-427.el9", "x86_64"},
                                      {"kernel-core", "5.14.0-503.el9", "x86_64"},
                                      {"nvidia-driver", "3:535.129.03-1.el9", "x86_64"},
                                      {"rpm", "4.16.1.3-29.el9", "x86_64"},
                                      {"tzdata", "2024a-1.el9", "noarch"}};
  for (const Form& form : forms()) {
    auto packages = parse(form.bytes);
    ASSERT_TRUE(packages) << form.file << ": " << packages.error().message;
    std::ranges::sort(*packages, {}, [](const RpmPackage& one) {
      return std::tie(one.name, one.version, one.architecture);
    });
    EXPECT_EQ(*packages, expected) << form.file;
  }
}

TEST(RpmDatabase, OneThatIsCutShortIsNoShorterList) {
  for (const Form& form : forms()) {
    const std::string page(512, '\0');
    for (std::size_t size = 0; size + 1 < form.bytes.size(); size += 97) {
      const auto packages = parse(form.bytes.substr(0, size));
      // What is cut behind the bytes that matter (a description) takes nothing away.
      EXPECT_TRUE(!packages || packages->size() == 8) << form.file << " at " << size;
    }
    EXPECT_FALSE(parse(form.bytes.substr(0, form.bytes.size() / 2))) << form.file;
  }
}

TEST(RpmDatabase, DamageIsFoundAndEndsTheLook) {
  for (const Form& form : forms()) {
    for (std::size_t at = 0; at < form.bytes.size(); at += 41) {
      std::string damaged = form.bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
      const auto packages = parse(damaged);  // must come back
      EXPECT_TRUE(packages || !packages.error().message.empty());
    }
  }
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse(std::string(10'000, 'x')));
}

TEST(RpmDatabase, TreeThatLeadsBackToItselfEnds) {
  std::string bytes = test::rpm::Sqlite(headers()).bytes();
  bytes.replace(512 + 8, 4, test::rpm::big(2, 4));  // the inner page's last child: itself
  const auto packages = parse(bytes);
  ASSERT_FALSE(packages);
  EXPECT_EQ(packages.error().code, Errc::malformed);
}

TEST(RpmHeader, ImpossibleSizesAreRefused) {
  const auto whole = [](const std::string& bytes) {
    return parse_rpm_header([&](std::size_t size) { return bytes.substr(0, size); });
  };
  const std::string good = header("a", -1, "1", "2", "noarch");
  EXPECT_EQ(*whole(good), (RpmPackage{"a", "1-2", "noarch"}));
  std::string bad = good;
  bad.replace(0, 4, test::rpm::big(0x7fffffff, 4));
  EXPECT_FALSE(whole(bad));
  bad = good;
  bad.replace(8 + 8, 4, test::rpm::big(0xfffffff0, 4));  // where the name stands
  EXPECT_FALSE(whole(bad));
  EXPECT_FALSE(whole(header("two words", -1, "1", "2", "noarch")));
  EXPECT_FALSE(whole(header("a", -1, "", "2", "noarch")));
}

struct RedHat : FakeHost {
  explicit RedHat(const std::string& folder = "/var/lib/rpm") {
    file(folder + "/rpmdb.sqlite", test::rpm::Sqlite(headers()).bytes());
    file(folder + "/rpmdb.sqlite-wal", "");
  }
};

TEST(RpmProbe, InstalledPackagesAreListed) {
  const auto found = test::scan(RedHat(), rpm);
  EXPECT_EQ(told(found, "rpm.package.glibc"), "2.34-100.el9_4.2");
  EXPECT_EQ(told(found, "rpm.package.glibc:i686"), "2.34-100.el9_4.2");
  EXPECT_EQ(told(found, "rpm.package.nvidia-driver"), "3:535.129.03-1.el9");
  EXPECT_EQ(told(found, "rpm.package.kernel-core"), "unknown (ambiguous)");
  EXPECT_EQ(told(found, "rpm.package.gpg-pubkey"), "not recorded");
  EXPECT_EQ(found.listed, std::vector<std::string>{"rpm.package"});
}

TEST(RpmProbe, NewFoldersAreLookedIntoAndNamedPackagesAnsweredAlone) {
  const auto found = test::scan(RedHat("/usr/lib/sysimage/rpm"), rpm,
                                test::only({"rpm.package.rpm", "rpm.package.libnccl"}));
  EXPECT_EQ(told(found, "rpm.package.rpm"), "4.16.1.3-29.el9");
  EXPECT_EQ(told(found, "rpm.package.libnccl"), "absent (not installed)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(RpmProbe, SystemWithoutRpmHasNoSuchPackages) {
  const auto found = test::scan(FakeHost(), rpm, test::also({"rpm.package.glibc"}));
  EXPECT_EQ(told(found, "rpm.package.glibc"), "absent (no rpm)");
  EXPECT_EQ(told(found, "packages.held"), "not recorded");
}

TEST(RpmProbe, DamagedDeniedAndUnfinishedDatabasesAreUnknown) {
  const auto glibc = [](const FakeHost& host) {
    const auto found = test::scan(host, rpm, test::also({"rpm.package.glibc"}));
    EXPECT_TRUE(found.listed.empty());
    return told(found, "rpm.package.glibc");
  };
  FakeHost damaged;
  damaged.file("/var/lib/rpm/rpmdb.sqlite", "SQLite format 3");
  EXPECT_EQ(glibc(damaged), "unknown (unreadable)");
  RedHat denied;
  denied.deny("/var/lib/rpm/rpmdb.sqlite");
  EXPECT_EQ(glibc(denied), "unknown (denied)");
  FakeHost hidden;
  hidden.deny("/var/lib/rpm");
  EXPECT_EQ(glibc(hidden), "unknown (denied)");
  RedHat unfinished;
  unfinished.file("/var/lib/rpm/rpmdb.sqlite-wal", "frames");
  EXPECT_EQ(glibc(unfinished), "unknown (unreadable)");
}

TEST(RpmProbe, LockedVersionsAreHeld) {
  RedHat host;
  EXPECT_EQ(told(host, rpm, "packages.held"), "(none)");
  host.file("/etc/dnf/plugins/versionlock.list",
            "# Added lock\nnvidia-driver-3:535.129.03-1.el9.*\n0:kernel-core-5.14.0-427.el9.*\n"
            "!bad-1-1.*\nlibnccl\n");
  host.file("/etc/zypp/locks", "type: package\nsolvable_name: cuda-toolkit\n");
  EXPECT_EQ(told(host, rpm, "packages.held"), "cuda-toolkit, kernel-core, libnccl, nvidia-driver");
  host.deny("/etc/dnf/plugins/versionlock.list");
  EXPECT_EQ(told(host, rpm, "packages.held"), "unknown (denied)");
}

TEST(RpmProbe, ToolWithoutPackagesLeavesHoldsToDpkg) {
  FakeHost host;
  host.file("/var/lib/rpm/rpmdb.sqlite",
            test::rpm::Sqlite({header("gpg-pubkey", -1, "1", "2", "(none)")}).bytes());
  EXPECT_EQ(told(host, rpm, "packages.held"), "not recorded");
}

}  // namespace
}  // namespace goldenv::probe
