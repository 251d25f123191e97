#include "source/unit.h"

#include <gtest/gtest.h>

#include "host/process.h"
#include "support/fake_host.h"

namespace goldenv::source {
namespace {

constexpr char kUnified[] = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr char kHybrid[] =
    "30 1 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    "31 1 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
    "32 1 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

std::string stat(int pid, int start) {
  return std::to_string(pid) + " (x y) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 " +
         std::to_string(start) + " 0 0 0\n";
}

class UnitProcessTest : public testing::Test {
 protected:
  UnitProcessTest() {
    host.file("/proc/self/mountinfo", kUnified)
        .file("/etc/passwd", "me:x:1000:1000::/home/me:/bin/sh\nyou:x:1001:1::/home/you:/bin/sh\n");
    for (const auto& [pid, start] : {std::pair{40, 900}, {41, 100}, {42, 500}}) {
      host.file("/proc/" + std::to_string(pid) + "/stat", stat(pid, start));
    }
  }
  [[nodiscard]] std::uint32_t pid_of(const std::string& unit) {
    const auto found = process_of_unit(host, unit, 1000);
    EXPECT_TRUE(found) << found.error().message;
    return found ? found->pid : 0;
  }

  test::FakeHost host;
};

TEST(UnitName, ServiceIsWhatAPlainNameMeans) {
  EXPECT_EQ(*unit_name("jupyter"), "jupyter.service");
  EXPECT_EQ(*unit_name("vllm@7b"), "vllm@7b.service");
  EXPECT_EQ(*unit_name("session-1.scope"), "session-1.scope");
  EXPECT_EQ(*unit_name("a.b"), "a.b.service");
  for (const char* word : {"", ".", "..", "a/b", "a b", "../../etc"}) {
    EXPECT_FALSE(unit_name(word)) << word;
  }
}

TEST_F(UnitProcessTest, TheOldestProcessIsTheMainOne) {
  host.file("/sys/fs/cgroup/system.slice/slurmd.service/cgroup.procs", "40\n41\n42\n");
  const auto found = process_of_unit(host, "slurmd.service", 1000);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->pid, 41u);
  EXPECT_FALSE(found->is_user_unit);
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_EQ(found->notes[0],
            "the oldest of the 3 processes in /sys/fs/cgroup/system.slice/slurmd.service");
}

TEST_F(UnitProcessTest, ThePidFileDecides) {
  host.file("/sys/fs/cgroup/system.slice/slurmd.service/cgroup.procs", "40\n41\n42\n")
      .file("/usr/lib/systemd/system/slurmd.service", "[Service]\nPIDFile=/run/slurmd.pid\n")
      .file("/run/slurmd.pid", "42\n");
  EXPECT_EQ(pid_of("slurmd.service"), 42u);
  host.file("/run/slurmd.pid", "4711\n");  // stale
  EXPECT_EQ(pid_of("slurmd.service"), 41u);
}

TEST_F(UnitProcessTest, HierarchiesOfBothKindsAreSearched) {
  host.file("/proc/self/mountinfo", kHybrid)
      .file("/sys/fs/cgroup/systemd/system.slice/a.service/cgroup.procs", "40\n")
      .file("/sys/fs/cgroup/unified/system.slice/a.service/cgroup.procs", "");
  EXPECT_EQ(pid_of("a.service"), 40u);
}

TEST_F(UnitProcessTest, GroupsInsideCountWhereTheUnitHasNoProcessItself) {
  host.file("/sys/fs/cgroup/machine.slice/a.service/cgroup.procs", "")
      .file("/sys/fs/cgroup/machine.slice/a.service/inner/cgroup.procs", "42\n");
  EXPECT_EQ(pid_of("a.service"), 42u);
}

TEST_F(UnitProcessTest, TheCallersUnitsComeBeforeThoseOfOthers) {
  const std::string users = "/sys/fs/cgroup/user.slice/";
  host.file(users + "user-1001.slice/user@1001.service/app.slice/j.service/cgroup.procs", "40\n");
  const auto other = process_of_unit(host, "j.service", 1000);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->pid, 40u);
  EXPECT_EQ(other->home, "/home/you");
  host.file(users + "user-1000.slice/user@1000.service/app.slice/j.service/cgroup.procs", "41\n");
  const auto own = process_of_unit(host, "j.service", 1000);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->pid, 41u);
  EXPECT_TRUE(own->is_user_unit);
  EXPECT_EQ(own->home, "/home/me");
  const auto neither = process_of_unit(host, "j.service", 0);
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.error().code, Errc::usage);
}

TEST_F(UnitProcessTest, OneThatDoesNotRunHasItsFiles) {
  host.file("/etc/systemd/system/a.service", "[Service]\nEnvironment=A=1\n")
      .folder("/sys/fs/cgroup/system.slice");
  const auto found = process_of_unit(host, "a.service", 1000);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->pid, 0u);
  EXPECT_EQ(found->why_none, "is not running: it has no control group");
  host.file("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda rw\n");
}

TEST_F(UnitProcessTest, WithoutControlGroupsNothingIsSaidOfWhetherItRuns) {
  test::FakeHost bare;
  bare.file("/etc/systemd/system/a.service", "[Service]\n");
  const auto found = process_of_unit(bare, "a.service", 1000);
  ASSERT_TRUE(found);
  EXPECT_NE(found->why_none.find("is not known"), std::string::npos);
}

TEST_F(UnitProcessTest, NoSuchUnitIsAUsageError) {
  const auto found = process_of_unit(host, "none.service", 1000);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::usage);
}

}  // namespace
}  // namespace goldenv::source
