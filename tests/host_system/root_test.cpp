// What only root can set up: mounts whose server never answers, files of other users.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>

#include "host/host.h"
#include "host/memory.h"
#include "host/result_file.h"
#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

constexpr uid_t kNobody = 65534;

#define SKIP_UNLESS_ROOT()                                                          \
  if (geteuid() != 0) {                                                             \
    GTEST_SKIP() << "not root: cannot mount, change the user or make device files"; \
  }

/// Runs `check` in a forked process, which may change its user, root and mounts; gives what it
/// found wrong, "" for nothing.
std::string apart(const std::function<std::string()>& check) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return "no pipe";
  }
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    std::string text = check();
    text.insert(0, text.empty() ? "ok" : "wrong: ");
    const ssize_t put = write(ends[1], text.data(), text.size());
    _exit(put == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char bytes[512];
  pollfd wait{ends[0], POLLIN, 0};
  while (poll(&wait, 1, 60'000) > 0) {
    const ssize_t got = read(ends[0], bytes, sizeof bytes);
    if (got <= 0) {
      break;
    }
    text.append(bytes, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (text.empty()) {
    kill(pid, SIGKILL);
    text = "no answer within 60 s";
  }
  waitpid(pid, nullptr, 0);
  return text == "ok" ? "" : text;
}

template <typename T>
std::string expect(std::string_view what, const Result<T>& result, Errc code) {
  if (result) {
    return std::string(what) + " gave a value; ";
  }
  return result.error().code == code
             ? ""
             : std::string(what) + " gave: " + result.error().message + "; ";
}

std::string become_nobody() {
  if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
      setresuid(kNobody, kNobody, kNobody) != 0) {
    return std::string("cannot become nobody: ") + std::strerror(errno);
  }
  return "";
}

TEST(DeniedFiles, AreDeniedAndNotAbsent) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  folder.file("secret", "root's");
  folder.file("closed/file", "root's");
  folder.file("listless/file", "everyone's");
  folder.link("link", "closed/file");
  ASSERT_EQ(chmod(folder.at("secret").c_str(), 0600), 0);
  ASSERT_EQ(chmod(folder.at("closed").c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.at("listless").c_str(), 0711), 0);
  EXPECT_EQ(
      apart([&] {
        std::string wrong = become_nobody();
        const auto host = live_host();
        wrong += expect("a file", host->read_file(folder.at("secret")), Errc::denied);
        wrong +=
            expect("its inspection",
                   host->inspect(folder.at("secret"), [](int) { return std::string("opened"); }),
                   Errc::denied);
        wrong += expect("below a folder", host->read_file(folder.at("closed/file")), Errc::denied);
        wrong += expect("what may be there", host->status(folder.at("closed/none")), Errc::denied);
        wrong += expect("through a link", host->read_file(folder.at("link")), Errc::denied);
        wrong += expect("a list", host->list(folder.at("closed")), Errc::denied);
        wrong += expect("a list", host->list(folder.at("listless")), Errc::denied);
        wrong += expect("init's variables", host->read_file("/proc/1/environ"), Errc::denied);
        wrong += host->status(folder.at("secret")) ? "" : "no status of a file";
        wrong += host->read_file(folder.at("listless/file")) ? "" : "no file in a folder";
        const auto tree = tree_host(folder.path());
        wrong += expect("a file in a tree", (*tree)->read_file("/secret"), Errc::denied);
        wrong += expect("a tree", tree_host(folder.at("closed/none")), Errc::denied);
        return wrong;
      }),
      "");
}

TEST(DeadMount, AFuseMountThatNobodyServesTimesOutAndAllElseIsRead) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  folder.folder("dead");
  folder.file("alive/file", "read");
  folder.link("alive/into", "../dead/file");
  folder.file("tree/etc/hostname", "of the tree");
  folder.folder("tree/mnt");
  const std::string result = apart([&]() -> std::string {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return std::string("cannot set up: no mounts of one's own: ") + std::strerror(errno);
    }
    for (const std::string& point : {folder.at("dead"), folder.at("tree/mnt")}) {
      int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
      if (server < 0) {
        // The device's number is fixed; a slim container has no file for it.
        const std::string device = folder.at("fuse");
        if (mknod(device.c_str(), S_IFCHR | 0600, makedev(10, 229)) == 0) {
          server = open(device.c_str(), O_RDWR | O_CLOEXEC);
        }
      }
      if (server < 0) {
        return std::string("cannot set up: no /dev/fuse: ") + std::strerror(errno);
      }
      const std::string options =
          "fd=" + std::to_string(server) + ",rootmode=40000,user_id=0,group_id=0";
      if (mount("test", point.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
        return std::string("cannot set up: no FUSE mount: ") + std::strerror(errno);
      }
    }
    LiveOptions options;
    options.deadline = std::chrono::milliseconds(300);
    const auto host = live_host(options);
    const auto tree = tree_host(folder.at("tree"), options);
    std::string wrong;
    wrong += expect("the mount", host->list(folder.at("dead")), Errc::timed_out);
    wrong += expect("a file in it", host->read_file(folder.at("dead/file")), Errc::timed_out);
    wrong += expect("a link into it", host->read_file(folder.at("alive/into")), Errc::timed_out);
    wrong += expect("its space", host->space(folder.at("dead")), Errc::timed_out);
    wrong += expect("its status", host->status(folder.at("dead")), Errc::timed_out);
    wrong += expect("in a tree", (*tree)->read_file("/mnt/file"), Errc::timed_out);
    wrong += expect("a tree in it", tree_host(folder.at("dead/tree"), options), Errc::timed_out);
    wrong += host->read_file(folder.at("alive/file")) ? "" : "a file beside it is not read; ";
    wrong += host->list(folder.path()) ? "" : "the folder above is not listed; ";
    wrong += (*tree)->read_file("/etc/hostname") ? "" : "a file of the tree is not read; ";
    wrong += host->read_file("/proc/self/status") ? "" : "/proc is not read; ";
    // The user's cache may lie there as well.
    Memory memory(folder.at("dead/cache"));
    wrong += memory.get(FileStatus{}, "q") ? "an answer from nowhere; " : "";
    return wrong;
  });
  if (result.starts_with("wrong: cannot set up: ")) {
    // LiveHost.ALookThatNeverEndsTimesOutOnceAndItsMountIsDead plays such a mount everywhere.
    GTEST_SKIP() << result;
  }
  EXPECT_EQ(result, "");
}

TEST(ProcessRoot, IsTheRootThatTheProcessHas) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  folder.file("jail/etc/hostname", "in the jail");
  folder.link("jail/absolute", "/etc/hostname");
  folder.file("jail/proc/driver/nvidia/version", "a file");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const bool done = unshare(CLONE_NEWNS) == 0 && chroot(folder.at("jail").c_str()) == 0 &&
                      chdir("/") == 0 && write(ends[1], "x", 1) == 1;
    if (!done) {
      _exit(1);
    }
    while (true) {
      pause();
    }
  }
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1) << "no process in a root of its own";
  close(ends[0]);
  const std::string door = "/proc/" + std::to_string(pid) + "/root";
  const auto host = tree_host(door);
  const auto below = tree_host(door + "/etc");
  const auto slashes = tree_host("/proc//" + std::to_string(pid) + "/./root/");
  EXPECT_TRUE(host && below && slashes);
  if (host && below && slashes) {
    EXPECT_EQ((*host)->read_file("/etc/hostname").value_or("none"), "in the jail");
    EXPECT_EQ((*host)->read_file("/absolute").value_or("none"), "in the jail");
    EXPECT_EQ((*host)->read_file("/../../etc/hostname").value_or("none"), "in the jail");
    EXPECT_EQ((*host)->read_file("/proc/driver/nvidia/version").value_or("none"), "a file");
    EXPECT_EQ((*below)->read_file("/hostname").value_or("none"), "in the jail");
    EXPECT_EQ((*slashes)->list("/")->size(), 3u);
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(MemoryOfOthers, IsNeitherReadNorWritten) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  FileStatus file;
  file.inode = 7;
  const auto learn = [&] {
    Memory memory(folder.at("cache"));
    memory.put(file, "q", "a");
  };
  const auto knows = [&] { return Memory(folder.at("cache")).get(file, "q").has_value(); };
  learn();
  EXPECT_TRUE(knows());
  ASSERT_EQ(chown(folder.at("cache/memory").c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(knows()) << "a file of nobody's is believed";
  ASSERT_EQ(chown(folder.at("cache/memory").c_str(), 0, 0), 0);
  ASSERT_EQ(chown(folder.at("cache").c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(knows()) << "a file in a folder of nobody's is believed";
  std::filesystem::remove(folder.at("cache/memory"));
  learn();
  EXPECT_FALSE(std::filesystem::exists(folder.at("cache/memory")));
}

TEST(PlantedLinks, AreNotFollowedInFoldersOpenToAll) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  folder.file("secret", "root's");
  folder.link("tmp/of-nobody", "../secret");
  folder.link("tmp/of-root", "../secret");
  folder.link("tmp/folder", "..");
  ASSERT_EQ(lchown(folder.at("tmp/of-nobody").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(lchown(folder.at("tmp/folder").c_str(), kNobody, kNobody), 0);
  const auto read_with_mode = [&](mode_t mode, const char* name) {
    EXPECT_EQ(chmod(folder.at("tmp").c_str(), mode), 0);
    return live_host()->read_file(folder.at(name));
  };
  EXPECT_EQ(read_with_mode(01777, "tmp/of-nobody").error().code, Errc::denied);
  EXPECT_EQ(read_with_mode(01777, "tmp/folder/secret").error().code, Errc::denied);
  EXPECT_EQ(read_with_mode(0777, "tmp/of-nobody").error().code, Errc::denied);
  EXPECT_EQ(*read_with_mode(01777, "tmp/of-root"), "root's");
  EXPECT_EQ(*read_with_mode(0755, "tmp/of-nobody"), "root's");
  // In a tree no link leads anywhere but into the tree.
  EXPECT_EQ(chmod(folder.at("tmp").c_str(), 01777), 0);
  EXPECT_EQ(*(*tree_host(folder.path()))->read_file("/tmp/of-nobody"), "root's");
}

TEST(PlantedLinks, AreNotWrittenThrough) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  folder.file("target/old", "root's");
  folder.link("tmp/file", folder.at("target/old"));
  folder.link("tmp/folder", folder.at("target"));
  folder.link("tmp/nowhere", folder.at("target/new"));
  for (const char* link : {"tmp/file", "tmp/folder", "tmp/nowhere"}) {
    ASSERT_EQ(lchown(folder.at(link).c_str(), kNobody, kNobody), 0);
  }
  for (const mode_t mode : {01777u, 0777u}) {
    ASSERT_EQ(chmod(folder.at("tmp").c_str(), mode), 0);
    for (const char* path : {"tmp/file", "tmp/folder/old", "tmp/folder/new"}) {
      const auto written = write_result(folder.at(path), "planted");
      ASSERT_FALSE(written) << path;
      EXPECT_EQ(written.error().message, "cannot write " + folder.at(path) +
                                             ": a link of another user in a folder open to all");
    }
    // Where it leads to nothing the file takes its place, as with any name there.
    static_cast<void>(write_result(folder.at("tmp/nowhere"), "mine"));
    EXPECT_FALSE(std::filesystem::exists(folder.at("target/new")));
  }
  EXPECT_EQ(test::read_file(folder.at("target/old")), "root's");
}

TEST(DeviceFiles, AreNotOpened) {
  SKIP_UNLESS_ROOT();
  const test::TempDir folder;
  // Numbers for local use (devices.txt), which none has: to open them would fail with another
  // error. (Not 0, 0: an overlay takes that for a whiteout and refuses to make it.)
  ASSERT_EQ(mknod(folder.at("device").c_str(), S_IFCHR | 0600, makedev(240, 240)), 0);
  ASSERT_EQ(mknod(folder.at("disk").c_str(), S_IFBLK | 0600, makedev(250, 250)), 0);
  const auto host = live_host();
  EXPECT_EQ(host->read_file(folder.at("device")).error().message,
            folder.at("device") + ": is a device");
  EXPECT_EQ(host->read_file(folder.at("disk")).error().message,
            folder.at("disk") + ": is a device");
}

}  // namespace
}  // namespace goldenv::host
