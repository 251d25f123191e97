#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/sha256.h"
#include "doc/node.h"
#include "support/program.h"
#include "support/temp_dir.h"

// What only root can set up: a store on a disk that is full, or that is read-only.

namespace goldenv::realise {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A small file system in memory, in the folder of a test.
class SmallDisk {
 public:
  SmallDisk(std::string point, const std::string& options) : point_(std::move(point)) {
    is_mounted_ =
        mount("test", point_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
    EXPECT_TRUE(is_mounted_) << std::strerror(errno);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_mounted_) {
      umount2(point_.c_str(), MNT_DETACH);
    }
  }

 private:
  std::string point_;
  bool is_mounted_ = false;
};

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "not root: cannot mount";
    }
    dir.folder("disk");
  }

  /// Asks for an archive with one file of so many zeros, packed or not.
  [[nodiscard]] test::Ended ask(const std::string& file, std::size_t bytes) const {
    const auto made = test::run(
        {.argv = {"/usr/bin/env", "python3", "-c",
                  "import sys, tarfile, io\n"
                  "with tarfile.open(sys.argv[1], 'w:gz' if sys.argv[1].endswith('gz') else 'w') "
                  "as archive:\n"
                  "    member = tarfile.TarInfo('zeros')\n"
                  "    member.size = int(sys.argv[2])\n"
                  "    archive.addfile(member, io.BytesIO(bytes(member.size)))\n",
                  dir.at(file), std::to_string(bytes)}});
    EXPECT_EQ(made.status, 0) << made.err;
    return test::run(
        {.argv = {GOLDENV_REALISE},
         .input = R"({"goldenv_realise":1,"store":)" + doc::quote_json(dir.at("disk/store")) +
                  R"(,"objects":[{"id":"zeros","key":")" + Sha256::of(file).hex() +
                  R"(","kind":"tar","name":"zeros","version":"1","file":)" + doc::quote_json(file) +
                  R"(,"urls":[)" + doc::quote_json("file://" + dir.at(file)) + R"(],"sha256":")" +
                  Sha256::of(test::read_file(dir.at(file))).hex() + R"("}]})"});
  }

  test::TempDir dir;
};

TEST_F(FullDiskTest, DownloadThatDoesNotFitIsToldAndRemoved) {
  const SmallDisk disk(dir.at("disk"), "size=1m");
  const auto ended = ask("zeros.tar", 4 << 20);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\"error\""), HasSubstr("zeros.tar: "),
                               HasSubstr("No space left on device")));
  EXPECT_TRUE(fs::is_empty(dir.at("disk/store/tmp")));
  EXPECT_TRUE(fs::is_empty(dir.at("disk/store/objects")));
}

TEST_F(FullDiskTest, ArchiveThatDoesNotFitIsToldAndRemoved) {
  const SmallDisk disk(dir.at("disk"), "size=1m");
  const auto ended = ask("zeros.tar.gz", 4 << 20);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\"error\""), HasSubstr("zeros.tar.gz: "),
                               HasSubstr("(the disk is full)")));
  EXPECT_TRUE(fs::is_empty(dir.at("disk/store/tmp")));
  EXPECT_TRUE(fs::is_empty(dir.at("disk/store/objects")));
  // With room the same request completes.
  const auto again = ask("zeros.tar.gz", 100 << 10);
  EXPECT_THAT(again.out, HasSubstr("\"realised\""));
}

TEST_F(FullDiskTest, ReadOnlyDiskIsTold) {
  const SmallDisk disk(dir.at("disk"), "size=1m,ro");
  const auto ended = ask("zeros.tar.gz", 1000);
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("\"error\""), HasSubstr("disk"), Not(HasSubstr("done"))));
}

}  // namespace
}  // namespace goldenv::realise
