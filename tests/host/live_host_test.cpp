#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/host.h"
#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

template <typename T>
Errc code_of(const Result<T>& result) {
  EXPECT_FALSE(result) << "a value where an error was expected";
  return result ? Errc::usage : result.error().code;
}

/// A mount table entry that makes the looks below a folder those of a child.
LiveOptions with_mount(const std::string& point, std::chrono::milliseconds deadline) {
  LiveOptions options;
  options.deadline = deadline;
  options.more_mounts.push_back(Mount{point, "nfs4", "server:/export", {"rw"}});
  return options;
}

TEST(LiveHost, ReadsAFileToItsEnd) {
  const test::TempDir folder;
  std::string large(300'000, 'x');
  large[123'456] = '\0';
  folder.file("small", "one\n");
  folder.file("empty", "");
  folder.file("page", std::string(4096, 'p'));
  folder.file("large", large);
  const auto host = live_host();
  EXPECT_EQ(*host->read_file(folder.at("small")), "one\n");
  EXPECT_EQ(*host->read_file(folder.at("empty")), "");
  EXPECT_EQ(*host->read_file(folder.at("page")), std::string(4096, 'p'));
  EXPECT_EQ(*host->read_file(folder.at("large")), large);
  EXPECT_EQ(*host->read_head(folder.at("large"), 5000), large.substr(0, 5000));
  EXPECT_EQ(*host->read_head(folder.at("small"), 5000), "one\n");
  EXPECT_EQ(host->read_head(folder.at("none"), 5000).error().code, Errc::absent);
  EXPECT_TRUE(host->live());
}

TEST(LiveHost, ALinkInMidPathLeadsOnAndAnotherLookSeesWhereItLeadsNow) {
  const test::TempDir folder;
  folder.file("one/a/x", "one a");
  folder.file("one/b/x", "one b");
  folder.file("two/a/x", "two a");
  std::filesystem::create_directory_symlink("one", folder.at("link"));
  std::filesystem::create_directory_symlink("round", folder.at("round"));
  const auto host = live_host();
  // The link is known from the second path on, and folders behind it are told apart.
  EXPECT_EQ(*host->read_file(folder.at("link/a/x")), "one a");
  EXPECT_EQ(*host->read_file(folder.at("link/b/x")), "one b");
  EXPECT_EQ(*host->read_file(folder.at("link/a/../../two/a/x")), "two a");
  EXPECT_EQ(*host->real_path(folder.at("link/b/x")), *host->real_path(folder.at("one/b/x")));
  EXPECT_EQ(*host->read_link(folder.at("link")), "one");
  for (const char* path : {"round/a/x", "round/b/x"}) {
    EXPECT_EQ(code_of(host->read_file(folder.at(path))), Errc::unreadable) << path;
  }
  std::filesystem::remove(folder.at("link"));
  std::filesystem::create_directory_symlink("two", folder.at("link"));
  EXPECT_EQ(*live_host()->read_file(folder.at("link/a/x")), "two a");
}

TEST(LiveHost, AFolderOfMoreEntriesThanTheLimitIsTooLargeAndNotCut) {
  const test::TempDir folder;
  for (const char* name : {"mount/a", "mount/b", "mount/c"}) {
    folder.file(name, "");
  }
  const auto with_limit = [&](std::size_t limit, bool by_child) {
    LiveOptions options =
        with_mount(folder.at(by_child ? "mount" : "none"), std::chrono::seconds(20));
    options.folder_limit = limit;
    return live_host(options)->list(folder.at("mount"));
  };
  for (const bool by_child : {false, true}) {
    EXPECT_EQ(with_limit(3, by_child)->size(), 3u);
    const auto more = with_limit(2, by_child);
    EXPECT_EQ(code_of(more), Errc::too_large);
    EXPECT_EQ(more.error().message, folder.at("mount") + ": more than 2 entries");
  }
  LiveOptions options;
  EXPECT_EQ(options.folder_limit, kFolderLimit);
  options.folder_limit = 2;
  EXPECT_EQ(code_of((*tree_host(folder.path(), options))->list("/mount")), Errc::too_large);
}

TEST(LiveHost, ReadsProcWhoseFilesHaveNoSize) {
  const auto host = live_host();
  const auto status = host->status("/proc/self/mountinfo");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->size_bytes, 0u);
  const auto text = host->read_file("/proc/self/mountinfo");
  ASSERT_TRUE(text);
  EXPECT_EQ(parse_mountinfo(*text).size(), host->mounts().size());
  EXPECT_NE(mount_of(host->mounts(), "/proc/self"), nullptr);
}

TEST(LiveHost, WhatIsNotThereIsAbsent) {
  const test::TempDir folder;
  folder.file("file", "x");
  folder.link("dangling", "nowhere");
  const auto host = live_host();
  EXPECT_EQ(code_of(host->read_file(folder.at("none"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_file(folder.at("none/below"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_file(folder.at("file/below"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_file(folder.at("file/below/more"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_file(folder.at("dangling"))), Errc::absent);
  EXPECT_EQ(code_of(host->list(folder.at("none"))), Errc::absent);
  EXPECT_EQ(code_of(host->status(folder.at("none"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_link(folder.at("none"))), Errc::absent);
  EXPECT_EQ(code_of(host->hops(folder.at("dangling"))), Errc::absent);
  EXPECT_EQ(code_of(host->space(folder.at("none"))), Errc::absent);
  EXPECT_EQ(*host->read_link(folder.at("dangling")), "nowhere");
  EXPECT_FALSE(host->exists(folder.at("dangling")));
  EXPECT_NE(host->read_file(folder.at("none")).error().message.find(folder.at("none")),
            std::string::npos);
}

TEST(LiveHost, AProcessThatHasEndedIsAbsent) {
  const auto host = live_host();
  EXPECT_EQ(code_of(host->read_file("/proc/4194305/environ")), Errc::absent);
}

TEST(LiveHost, OnlyRegularFilesAreOpened) {
  const test::TempDir folder;
  ASSERT_EQ(mkfifo(folder.at("fifo").c_str(), 0600), 0);
  folder.folder("folder");
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(server);
  const auto host = live_host();
  const auto words = [&](const std::string& path) {
    const auto text = host->read_file(path);
    EXPECT_EQ(code_of(text), Errc::unreadable) << path;
    return text ? "" : text.error().message.substr(path.size());
  };
  EXPECT_EQ(words(folder.at("fifo")), ": is a FIFO");
  EXPECT_EQ(words(folder.at("folder")), ": is a folder");
  EXPECT_EQ(words(folder.at("socket")), ": is a socket");
  EXPECT_EQ(words("/dev/null"), ": is a device");
  EXPECT_EQ(words("/"), ": is a folder");
  EXPECT_EQ(code_of(host->list(folder.at("fifo"))), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_link(folder.at("folder"))), Errc::unreadable);
  EXPECT_EQ(code_of(host->inspect(folder.at("fifo"), [](int) { return std::string("opened"); })),
            Errc::unreadable);
  EXPECT_EQ(host->status(folder.at("fifo"))->kind, FileStatus::Kind::fifo);
  EXPECT_EQ(host->status("/dev/null")->kind, FileStatus::Kind::device);
}

TEST(LiveHost, APathThatIsNoneIsUnreadable) {
  const auto host = live_host();
  using namespace std::string_view_literals;
  EXPECT_EQ(code_of(host->read_file("")), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file("etc/hostname")), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file("/etc/host\0name"sv)), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file("/" + std::string(300, 'n'))), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file("/" + std::string(100'000, '/') + "etc")), Errc::unreadable);
}

TEST(LiveHost, MoreThanTheLimitIsTooLarge) {
  const test::TempDir folder;
  folder.file("ten", "0123456789");
  const std::string sparse = folder.file("sparse", "");
  std::filesystem::resize_file(sparse, std::uintmax_t{1} << 40);
  const auto host = live_host();
  EXPECT_EQ(*host->read_file(folder.at("ten"), 10), "0123456789");
  const auto cut = host->read_file(folder.at("ten"), 9);
  EXPECT_EQ(code_of(cut), Errc::too_large);
  EXPECT_EQ(cut.error().message, folder.at("ten") + ": larger than 9 bytes");
  EXPECT_EQ(code_of(host->read_file(sparse)), Errc::too_large);
}

TEST(LiveHost, FollowsLinksInMidPathAndAtTheEnd) {
  const test::TempDir folder;
  folder.file("cuda-12.1/lib/file", "here");
  folder.link("etc/cuda", folder.at("cuda-12.1"));
  folder.link("cuda", "etc/cuda");
  folder.link("cuda-12.1/lib/up", "../../cuda/./lib//file");
  const auto host = live_host();
  EXPECT_EQ(*host->read_file(folder.at("cuda/lib/file")), "here");
  EXPECT_EQ(*host->read_file(folder.at("cuda/lib/up")), "here");
  EXPECT_EQ(*host->read_file(folder.at("cuda/../etc/../cuda/lib/../lib/up")), "here");
  EXPECT_EQ(*host->real_path(folder.at("cuda/lib/up")), folder.at("cuda-12.1/lib/file"));
  EXPECT_EQ(*host->real_path(folder.at("cuda/..")), folder.path());
  EXPECT_EQ(*host->real_path("/../.."), "/");
  EXPECT_EQ(
      *host->hops(folder.at("cuda")),
      (std::vector<std::string>{folder.at("cuda"), folder.at("etc/cuda"), folder.at("cuda-12.1")}));
  EXPECT_EQ(
      *host->hops(folder.at("cuda/lib/file")),
      (std::vector<std::string>{folder.at("cuda/lib/file"), folder.at("cuda-12.1/lib/file")}));
  EXPECT_EQ(*host->hops(folder.at("cuda-12.1/lib")),
            (std::vector<std::string>{folder.at("cuda-12.1/lib")}));
}

TEST(LiveHost, ADotDotBehindALinkMeansTheLinksTarget) {
  const test::TempDir folder;
  folder.file("a/b/file", "deep");
  folder.file("a/side", "beside the target");
  folder.file("side", "beside the link");
  folder.link("link", "a/b");
  EXPECT_EQ(*live_host()->read_file(folder.at("link/../side")), "beside the target");
}

TEST(LiveHost, ALoopOfLinksIsUnreadable) {
  const test::TempDir folder;
  folder.link("a", "b");
  folder.link("b", "a");
  folder.link("self", "self/deeper");
  folder.link("last", "end");
  for (int i = 0; i < 60; ++i) {
    folder.link("chain" + std::to_string(i), i == 0 ? "end" : "chain" + std::to_string(i - 1));
  }
  folder.file("end", "reached");
  const auto host = live_host();
  EXPECT_EQ(code_of(host->read_file(folder.at("a"))), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file(folder.at("a/below"))), Errc::unreadable);
  EXPECT_EQ(code_of(host->read_file(folder.at("self"))), Errc::unreadable);
  EXPECT_EQ(code_of(host->hops(folder.at("a"))), Errc::unreadable);
  EXPECT_EQ(*host->read_file(folder.at("chain39")), "reached");  // 40 links, as the kernel
  EXPECT_EQ(code_of(host->read_file(folder.at("chain40"))), Errc::unreadable);
}

TEST(LiveHost, PathsDeeperThanTheKernelTakesAtOnceAreRead) {
  const test::TempDir folder;
  // 180 folders of 40 letters: 7,380 bytes, nearly twice PATH_MAX; made from within.
  const std::string name(40, 'n');
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::string path = folder.path();
  for (int i = 0; i < 180; ++i) {
    ASSERT_EQ(mkdir(name.c_str(), 0755), 0);
    ASSERT_EQ(chdir(name.c_str()), 0);
    path += "/" + name;
  }
  std::ofstream("file") << "deep";
  ASSERT_EQ(symlink(("../" + name + "/file").c_str(), "link"), 0);
  std::filesystem::current_path(here);
  const auto host = live_host();
  EXPECT_EQ(*host->read_file(path + "/file"), "deep");
  EXPECT_EQ(*host->read_file(path + "/link"), "deep");
  EXPECT_EQ(host->list(path)->size(), 2u);
  // Removed from within too: what removes the temporary folder walks whole paths.
  std::filesystem::current_path(folder.path());
  for (int i = 0; i < 180; ++i) {
    ASSERT_EQ(chdir(name.c_str()), 0);
  }
  EXPECT_EQ(unlink("file"), 0);
  EXPECT_EQ(unlink("link"), 0);
  for (int i = 0; i < 180; ++i) {
    ASSERT_EQ(chdir(".."), 0);
    ASSERT_EQ(rmdir(name.c_str()), 0);
  }
  std::filesystem::current_path(here);
}

TEST(LiveHost, ListsNamesInOrderWithTheirOwnKind) {
  const test::TempDir folder;
  folder.file("b", "");
  folder.folder("a");
  folder.link("c", "a");
  folder.file(".hidden", "");
  ASSERT_EQ(mkfifo(folder.at("d").c_str(), 0600), 0);
  using Kind = FileStatus::Kind;
  const auto host = live_host();
  EXPECT_EQ(*host->list(folder.path()), (std::vector<DirEntry>{{".hidden", Kind::file},
                                                               {"a", Kind::folder},
                                                               {"b", Kind::file},
                                                               {"c", Kind::link},
                                                               {"d", Kind::fifo}}));
  EXPECT_TRUE(host->list(folder.at("c"))->empty());
  EXPECT_EQ(code_of(host->list(folder.at("b"))), Errc::unreadable);
  EXPECT_FALSE(host->list("/")->empty());
}

TEST(LiveHost, AFileThatVanishesAfterItWasListedIsAbsent) {
  const test::TempDir folder;
  folder.file("sub/one", "1");
  folder.file("sub/two", "2");
  const auto host = live_host();
  EXPECT_EQ(host->list(folder.at("sub"))->size(), 2u);
  std::filesystem::remove(folder.at("sub/one"));
  EXPECT_EQ(code_of(host->read_file(folder.at("sub/one"))), Errc::absent);
  std::filesystem::remove_all(folder.at("sub"));
  EXPECT_EQ(code_of(host->read_file(folder.at("sub/two"))), Errc::absent);
}

TEST(LiveHost, StatusIsThatOfTheLinksTarget) {
  const test::TempDir folder;
  folder.file("file", "12345");
  folder.link("link", "file");
  ASSERT_EQ(chmod(folder.at("file").c_str(), 0640), 0);
  const auto host = live_host();
  const auto status = host->status(folder.at("link"));
  ASSERT_TRUE(status);
  struct stat s;
  ASSERT_EQ(stat(folder.at("file").c_str(), &s), 0);
  EXPECT_EQ(status->kind, FileStatus::Kind::file);
  EXPECT_EQ(status->mode, 0640u);
  EXPECT_EQ(status->size_bytes, 5u);
  EXPECT_EQ(status->inode, s.st_ino);
  EXPECT_EQ(status->device, s.st_dev);
  EXPECT_EQ(status->uid, s.st_uid);
  EXPECT_EQ(status->mtime_ns / 1'000'000'000, s.st_mtim.tv_sec);
}

TEST(LiveHost, InspectGivesAnOpenDescriptorAndTheLooksOwnAnswer) {
  const test::TempDir folder;
  folder.file("file", "0123456789");
  const auto host = live_host();
  const auto middle = host->inspect(folder.at("file"), [](int fd) -> Result<std::string> {
    char bytes[3];
    return pread(fd, bytes, 3, 4) == 3 ? std::string(bytes, 3) : std::string("short");
  });
  EXPECT_EQ(*middle, "456");
  const auto failed = host->inspect(folder.at("file"), [](int) -> Result<std::string> {
    return Error{Errc::malformed, "no ELF file", {"reading"}};
  });
  EXPECT_EQ(failed.error(), (Error{Errc::malformed, "no ELF file", {"reading"}}));
  EXPECT_EQ(code_of(host->inspect(folder.at("none"), [](int) { return std::string(); })),
            Errc::absent);
}

TEST(LiveHost, SystemNameAndSpaceAreTheKernels) {
  const auto host = live_host();
  utsname name{};
  ASSERT_EQ(uname(&name), 0);
  EXPECT_EQ(host->system_name()->release, name.release);
  EXPECT_EQ(host->system_name()->machine, name.machine);
  EXPECT_EQ(host->system_name()->version, name.version);
  const auto space = host->space("/");
  ASSERT_TRUE(space);
  EXPECT_GT(space->total_bytes, 0u);
  EXPECT_LE(space->free_bytes, space->total_bytes);
}

TEST(LiveHost, AnUnsetVariableIsAbsentAndAnEmptyOneIsNot) {
  ASSERT_EQ(setenv("GOLDENV_TEST_EMPTY", "", 1), 0);
  ASSERT_EQ(setenv("GOLDENV_TEST_EQUALS", "a=b", 1), 0);
  unsetenv("GOLDENV_TEST_UNSET");
  const auto host = live_host();
  EXPECT_EQ(*host->variable("GOLDENV_TEST_EMPTY"), "");
  EXPECT_EQ(*host->variable("GOLDENV_TEST_EQUALS"), "a=b");
  EXPECT_EQ(code_of(host->variable("GOLDENV_TEST_UNSET")), Errc::absent);
  EXPECT_EQ(code_of(host->variable("GOLDENV_TEST_EQUALS=a")), Errc::absent);
  const auto names = host->variables();
  ASSERT_TRUE(names);
  EXPECT_TRUE(std::ranges::is_sorted(*names));
  EXPECT_EQ(std::ranges::count(*names, "GOLDENV_TEST_EQUALS"), 1);
}

TEST(LiveHost, ManyFoldersDoNotUseUpTheDescriptors) {
  const test::TempDir folder;
  const auto host = live_host();
  for (int i = 0; i < 300; ++i) {
    const std::string name = "folder" + std::to_string(i);
    folder.file(name + "/file", name);
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::string name = "folder" + std::to_string(i);
      const auto text = host->read_file(folder.at(name + "/file"));
      ASSERT_TRUE(text) << text.error().message;
      ASSERT_EQ(*text, name);
    }
  }
  EXPECT_LT(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                          std::filesystem::directory_iterator()),
            200);  // of which 128 may be ours
}

// Mounts that can hang, played by the mount table alone.

TEST(LiveHost, AChildAnswersBelowAMountThatCanHang) {
  const test::TempDir folder;
  const std::string large(900'000, 'l');  // more than any socket holds at once
  folder.file("mount/sub/file", "by a child");
  folder.file("mount/large", large);
  folder.link("mount/link", "sub/file");
  folder.link("into", "mount/sub");
  folder.file("outside", "by us");
  const auto host = live_host(with_mount(folder.at("mount"), std::chrono::seconds(20)));
  EXPECT_EQ(*host->read_file(folder.at("mount/sub/file")), "by a child");
  EXPECT_EQ(*host->read_file(folder.at("mount/large")), large);
  EXPECT_EQ(*host->read_file(folder.at("into/file")), "by a child");
  EXPECT_EQ(*host->read_file(folder.at("mount/../outside")), "by us");
  EXPECT_EQ(*host->read_link(folder.at("mount/link")), "sub/file");
  EXPECT_EQ(*host->real_path(folder.at("into/file")), folder.at("mount/sub/file"));
  EXPECT_EQ(*host->hops(folder.at("mount/link")),
            (std::vector<std::string>{folder.at("mount/link"), folder.at("mount/sub/file")}));
  EXPECT_EQ(host->list(folder.at("mount"))->size(), 3u);
  EXPECT_EQ(host->status(folder.at("mount/link"))->size_bytes, 10u);
  EXPECT_GT(host->space(folder.at("mount"))->total_bytes, 0u);
  EXPECT_EQ(code_of(host->read_file(folder.at("mount/none"))), Errc::absent);
  EXPECT_EQ(code_of(host->read_file(folder.at("mount/large"), 10)), Errc::too_large);
  const pid_t us = getpid();
  const auto who =
      host->inspect(folder.at("mount/sub/file"), [](int) { return std::to_string(getpid()); });
  EXPECT_NE(*who, std::to_string(us));
  const auto here =
      host->inspect(folder.at("outside"), [](int) { return std::to_string(getpid()); });
  EXPECT_EQ(*here, std::to_string(us));
}

TEST(LiveHost, AChildHoldsNoneOfOurDescriptors) {
  const test::TempDir folder;
  folder.file("mount/file", "x");
  const auto host = live_host(with_mount(folder.at("mount"), std::chrono::seconds(20)));
  const auto open_ones = host->inspect(folder.at("mount/file"), [](int fd) {
    std::string names;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code none;
      const auto target = std::filesystem::read_symlink(entry.path(), none).string();
      if (!none && entry.path().filename() != std::to_string(fd) && !target.starts_with("/") &&
          !target.starts_with("socket:")) {
        names += target + " ";
      }
      if (!none && target.starts_with("/dev/")) {
        names += target + " ";
      }
    }
    return names;
  });
  EXPECT_EQ(*open_ones, "");
}

TEST(LiveHost, ALookThatNeverEndsTimesOutOnceAndItsMountIsDead) {
  const test::TempDir folder;
  folder.file("mount/file", "x");
  folder.file("outside", "still read");
  const auto host = live_host(with_mount(folder.at("mount"), std::chrono::milliseconds(150)));
  const auto sleeper = [](int) {
    std::this_thread::sleep_for(std::chrono::hours(1));
    return std::string("awake");
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto late = host->inspect(folder.at("mount/file"), sleeper);
  EXPECT_EQ(code_of(late), Errc::timed_out);
  EXPECT_EQ(late.error().message, folder.at("mount/file") + ": no answer within 150 ms");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  const auto then = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(code_of(host->read_file(folder.at("mount/file"))), Errc::timed_out);
    EXPECT_EQ(code_of(host->list(folder.at("mount"))), Errc::timed_out);
    EXPECT_EQ(code_of(host->inspect(folder.at("mount/file"), sleeper)), Errc::timed_out);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - then, std::chrono::milliseconds(150 * 20));
  EXPECT_EQ(*host->read_file(folder.at("outside")), "still read");
}

TEST(LiveHost, OnlyTheMountThatDidNotAnswerIsDead) {
  const test::TempDir folder;
  folder.file("good/file", "answers");
  folder.file("bad/file", "sleeps");
  folder.link("good/link", "../bad/file");
  LiveOptions options = with_mount(folder.at("good"), std::chrono::milliseconds(150));
  options.more_mounts.push_back(Mount{folder.at("bad"), "fuse.sshfs", "host:", {}});
  const auto host = live_host(options);
  // The way to the bad mount leads over the good one, which is not to blame.
  EXPECT_EQ(code_of(host->inspect(folder.at("good/link"),
                                  [](int) {
                                    std::this_thread::sleep_for(std::chrono::hours(1));
                                    return std::string();
                                  })),
            Errc::timed_out);
  EXPECT_EQ(*host->read_file(folder.at("good/file")), "answers");
  EXPECT_EQ(code_of(host->read_file(folder.at("bad/file"))), Errc::timed_out);
  EXPECT_EQ(code_of(host->read_file(folder.at("good/link"))), Errc::timed_out);
  EXPECT_EQ(*host->read_file(folder.at("good/file")), "answers");
}

TEST(LiveHost, AChildThatDiesIsAFailureOfThatLookAlone) {
  const test::TempDir folder;
  folder.file("mount/file", "x");
  const auto host = live_host(with_mount(folder.at("mount"), std::chrono::seconds(20)));
  EXPECT_EQ(
      code_of(host->inspect(folder.at("mount/file"), [](int) -> Result<std::string> { _exit(3); })),
      Errc::failed);
  EXPECT_EQ(*host->read_file(folder.at("mount/file")), "x");
}

}  // namespace
}  // namespace goldenv::host
