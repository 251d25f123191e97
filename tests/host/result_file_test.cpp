#include "host/result_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

LiveOptions with_mount(const std::string& point, std::chrono::milliseconds deadline) {
  LiveOptions options;
  options.deadline = deadline;
  options.more_mounts.push_back(Mount{point, "nfs4", "server:/export", {"rw"}});
  return options;
}

TEST(ResultFile, IsThereWholeAndReplacesAnOldOne) {
  const test::TempDir folder;
  const std::string text(3'000'000, 'x');
  ASSERT_TRUE(write_result(folder.at("new"), text));
  EXPECT_EQ(test::read_file(folder.at("new")), text);
  ASSERT_TRUE(write_result(folder.at("new"), "short"));
  EXPECT_EQ(test::read_file(folder.at("new")), "short");
  const auto nowhere = write_result(folder.at("no/such"), "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message,
            "cannot write " + folder.at("no/such") + ": No such file or directory");
  EXPECT_EQ(nowhere.error().code, Errc::failed);
}

TEST(ResultFile, OnAMountThatAnswersIsTheSame) {
  const test::TempDir folder;
  folder.file("mount/old", "old");
  folder.link("link", "mount/old");
  ASSERT_EQ(::chmod(folder.at("mount/old").c_str(), 0640), 0);
  const LiveOptions options = with_mount(folder.at("mount"), std::chrono::seconds(20));
  ASSERT_TRUE(write_result(folder.at("link"), "new", options));
  EXPECT_EQ(test::read_file(folder.at("mount/old")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.at("link")));
  EXPECT_EQ(std::filesystem::status(folder.at("mount/old")).permissions(),
            std::filesystem::perms(0640));
  ASSERT_TRUE(write_result(folder.at("mount/other"), "other", options));
  EXPECT_EQ(test::read_file(folder.at("mount/other")), "other");
  const auto nowhere = write_result(folder.at("mount/no/such"), "x", options);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("No such file"), std::string::npos);
}

TEST(ResultFile, OnAMountThatDoesNotAnswerFailsAtTheDeadline) {
  // A FIFO that nobody reads holds its writer as a dead server would.
  const test::TempDir folder;
  folder.folder("mount");
  ASSERT_EQ(::mkfifo(folder.at("mount/dead").c_str(), 0600), 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto written = write_result(folder.at("mount/dead"), "x",
                                    with_mount(folder.at("mount"), std::chrono::milliseconds(200)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::timed_out);
  EXPECT_EQ(written.error().message, "cannot write " + folder.at("mount/dead") +
                                         ": its file system did not answer within 200 ms");
}

TEST(ResultFile, ALinkStaysOneAlsoThroughFolders) {
  const test::TempDir folder;
  folder.file("real/old", "old");
  folder.link("way", "real");
  folder.link("real/link", "old");
  ASSERT_TRUE(write_result(folder.at("way/link"), "new"));
  EXPECT_EQ(test::read_file(folder.at("real/old")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.at("real/link")));
  ASSERT_TRUE(write_result(folder.at("way/fresh"), "fresh"));
  EXPECT_EQ(test::read_file(folder.at("real/fresh")), "fresh");
  ASSERT_TRUE(write_result("/dev/null", "gone"));
}

TEST(ResultFile, APipeIsWrittenOnceSomebodyReadsIt) {
  const test::TempDir folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  LiveOptions options;
  options.deadline = std::chrono::milliseconds(100);
  const auto nobody = write_result(folder.at("pipe"), "x", options);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().message,
            "cannot write " + folder.at("pipe") + ": nobody read this pipe within 100 ms");
  const std::string text(1'000'000, 'x');
  std::string read;
  std::thread reader([&] { read = test::read_file(folder.at("pipe")); });
  EXPECT_TRUE(write_result(folder.at("pipe"), text));
  reader.join();
  EXPECT_EQ(read, text);
}

}  // namespace
}  // namespace goldenv::host
