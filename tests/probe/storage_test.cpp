#include <gtest/gtest.h>

#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe storage;
namespace {

using test::FakeHost;
using test::told;

struct Machine : FakeHost {
  Machine() {
    file("/proc/self/mountinfo",
         "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n"
         "2 1 0:5 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n"
         "3 1 0:6 / /home rw - nfs4 server:/home rw,vers=4.2\n"
         "4 1 0:7 / /my\\040data rw - xfs /dev/sdb rw\n");
    folder("/tmp").folder("/home/me").folder("/my data/set").folder("/dev/shm");
    set("HOME", "/home/me");
    link("/proc/self/cwd", "/my data/set");
    link("/data", "/my data");
  }
};

TEST(StorageProbe, RolesAreOnTheMountsThatHoldThem) {
  const auto found = test::scan(Machine(), storage);
  EXPECT_EQ(told(found, "filesystem.root"), "ext4");
  EXPECT_EQ(told(found, "filesystem.tmp"), "ext4");
  EXPECT_EQ(told(found, "filesystem.home"), "nfs4");
  EXPECT_EQ(told(found, "filesystem.shm"), "tmpfs");
  EXPECT_EQ(told(found, "filesystem.store"), "nfs4");
  EXPECT_EQ(told(found, "filesystem.workdir"), "xfs");
  EXPECT_NE(told(found, "filesystem.home.options").find("vers=4.2"), std::string::npos);
}

TEST(StorageProbe, NamedPathsFollowLinks) {
  const auto found =
      test::scan(Machine(), storage,
                 test::only({"filesystem@/data/x/y", "filesystem@~/job", "filesystem@here"}));
  EXPECT_EQ(told(found, "filesystem@/data/x/y"), "xfs");
  EXPECT_EQ(told(found, "filesystem@~/job"), "nfs4");
  EXPECT_EQ(told(found, "filesystem@here"), "unknown (unsupported)");
  EXPECT_EQ(found.facts.size(), 3u);
}

TEST(StorageProbe, PathOnADeadMountIsNamedByTheTable) {
  Machine host;
  host.fail("/home/me", Errc::timed_out);
  EXPECT_EQ(told(host, storage, "filesystem.home"), "nfs4");
}

TEST(StorageProbe, WithoutTableNothingIsKnown) {
  FakeHost host;
  host.live(false).fail("/proc", Errc::not_live);
  const auto found = test::scan(host, storage);
  EXPECT_EQ(told(found, "filesystem.root"), "unknown (not-live)");
  EXPECT_EQ(told(found, "filesystem.home"), "unknown (not-live)");
  EXPECT_EQ(told(found, "filesystem.workdir"), "unknown (not-live)");
  FakeHost empty;
  empty.file("/proc/self/mountinfo", "");
  EXPECT_EQ(told(empty, storage, "filesystem.root"), "unknown (unreadable)");
  EXPECT_EQ(told(empty, storage, "filesystem.home"), "absent (no home folder is set)");
}

}  // namespace
}  // namespace goldenv::probe
