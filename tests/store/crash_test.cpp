#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/child.h"
#include "store/disk.h"
#include "store/gc.h"
#include "store/made_object.h"
#include "store/verify.h"
#include "support/temp_dir.h"

namespace goldenv::store {
namespace {

namespace fs = std::filesystem;
using test::in_child;
using test::MadeObject;
using test::must;

int steps_left = 0;

void die_at_the_step() {
  if (--steps_left == 0) {
    ::kill(::getpid(), SIGKILL);
  }
}

/// What a store goes through: it is made, gets an object, an artifact, a generation with a name,
/// another without, and is swept.
void live(const std::string& folder, const std::string& proc) {
  const Store store = must(Store::open(folder, Access::write));
  MadeObject made("nccl", "2.20.5");
  made.file("site/lib/libnccl.so.2", "library").file("bin/tool", "tool", true).of("wheel");
  must(made.publish(store));
  {
    const Building building = must(store.begin("download"));
    std::ofstream(building.folder() + "/part") << "wheel";
    must(store.put_artifact(building.folder() + "/part", Sha256::of("wheel"), Checked::no));
  }
  for (const char digit : {'a', 'b'}) {
    Building building = must(store.begin("env"));
    fs::create_directories(building.folder() + "/.o");
    fs::create_symlink(store.tree(made.id()), building.folder() + "/.o/0");
    must(store.publish_generation(std::move(building), std::string(64, digit)));
  }
  must(store.set_root("train", std::string(64, 'a')));
  GcOptions options;
  options.min_age = std::chrono::seconds(0);
  options.proc = proc;
  must(gc(store, options));
}

std::string idle_proc(const test::TempDir& temp) {
  for (const char* name : {"exe", "cwd", "root"}) {
    temp.link(std::string("proc/1/") + name, "/");
  }
  temp.file("proc/1/maps", "");
  temp.file("proc/1/environ", "");
  return temp.at("proc");
}

std::vector<std::string> differences(const Store& store) {
  std::vector<std::string> all;
  must(verify(store, [&](const Difference& one) { all.push_back(one.path + ": " + one.says); }));
  return all;
}

TEST(StoreCrash, KilledAtAnyStepItIsWholeAndGoesOn) {
  const test::TempDir temp;
  const std::string proc = idle_proc(temp);
  int step = 0;
  for (int status = 128 + SIGKILL; status != 0;) {
    ++step;
    ASSERT_LT(step, 1000);
    const std::string folder = temp.at("store" + std::to_string(step));
    status = in_child([&] {
      step_hook = die_at_the_step;
      steps_left = step;
      live(folder, proc);
    });
    ASSERT_TRUE(status == 0 || status == 128 + SIGKILL) << "at step " << step;
    // Whoever only reads sees nothing half-made.
    if (const Result<Store> reader = Store::open(folder, Access::read)) {
      EXPECT_THAT(differences(*reader), ::testing::IsEmpty()) << "killed at step " << step;
    } else {
      EXPECT_EQ(reader.error().code, Errc::absent) << reader.error().message;
    }
    ASSERT_EQ(in_child([&] { live(folder, proc); }), 0) << "after step " << step;
    const Store store = must(Store::open(folder, Access::read));
    EXPECT_THAT(differences(store), ::testing::IsEmpty()) << "after step " << step;
    EXPECT_EQ(must(store.generations()), std::vector<std::string>{std::string(64, 'a')});
    EXPECT_EQ(must(store.ids()).size(), 1U);
    EXPECT_TRUE(store.artifact(Sha256::of("wheel")));
    EXPECT_TRUE(fs::is_empty(store.at("trash"))) << "after step " << step;
    for (const auto& entry : fs::directory_iterator(store.at("tmp"))) {
      EXPECT_TRUE(entry.is_symlink() || !entry.is_directory())
          << entry.path() << " after step " << step;
    }
  }
  EXPECT_GT(step, 20) << "the hook is called";
}

TEST(StoreCrash, EightAtOnceComeToOneStore) {
  const test::TempDir temp;
  const std::string folder = temp.at("store");
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      MadeObject made("nccl", "2.20.5");
      for (int j = 0; j < 40; ++j) {
        made.file("site/lib/file" + std::to_string(j), std::string(1000, 'x'));
      }
      const Result<Store> store = Store::open(folder, Access::write);
      const Result<Published> published =
          store ? made.publish(*store) : Result<Published>(store.error());
      if (!published) {
        std::fprintf(stderr, "%s\n", published.error().message.c_str());
      }
      ::_exit(published ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Store store = must(Store::open(folder, Access::read));
  EXPECT_EQ(must(store.ids()).size(), 1U);
  EXPECT_TRUE(fs::is_empty(store.at("tmp")));
  EXPECT_THAT(differences(store), ::testing::IsEmpty());
}

/// A file system of its own in a mount namespace of its own; false where that is not allowed.
bool mount_small(const std::string& folder, const char* size) {
  if (::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) {
    return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0;
}

TEST(StoreCrash, AFullDiskIsSaidAndLeavesNothing) {
  const test::TempDir temp;
  const std::string folder = temp.folder("small");
  const int status = in_child([&] {
    if (!mount_small(folder, "size=512k,mode=700")) {
      // Without a small disk: files of at most this size.
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{100'000, 100'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    const Store store = must(Store::open(folder + "/store", Access::write));
    MadeObject small("small", "1");
    small.file("site/a", std::string(20'000, 'a'));
    must(small.publish(store));
    MadeObject large("large", "1");
    large.file("site/a", std::string(2'000'000, 'a'));
    const auto refused = large.publish(store);
    if (refused || refused.error().code != Errc::failed) {
      throw std::runtime_error("a full disk is not noticed");
    }
    if (!fs::is_empty(store.at("tmp")) || must(store.ids()).size() != 1 ||
        !differences(store).empty()) {
      throw std::runtime_error("a full disk leaves something half made");
    }
    // It is full only for what is too large.
    MadeObject other("other", "1");
    other.file("site/a", std::string(20'000, 'b'));
    must(other.publish(store));
  });
  EXPECT_EQ(status, 0);
}

TEST(StoreCrash, AFullDiskIsNamed) {
  EXPECT_EQ(system_error("/x", ENOSPC).message, "/x: the disk is full");
  EXPECT_EQ(system_error("/x", EDQUOT).code, Errc::failed);
  EXPECT_EQ(system_error("/x", EROFS).code, Errc::denied);
  EXPECT_EQ(system_error("/x", ENOENT).code, Errc::absent);
}

TEST(StoreCrash, AReadOnlyDiskCanBeReadFrom) {
  const test::TempDir temp;
  const std::string folder = temp.folder("small");
  const int status = in_child([&] {
    if (!mount_small(folder, "size=512k,mode=700")) {
      return;  // no file system can be made read-only here
    }
    const std::string place = folder + "/store";
    MadeObject made("a", "1");
    made.file("site/a", "a");
    const std::string digest(64, 'a');
    {
      const Store store = must(Store::open(place, Access::write));
      must(made.publish(store));
      must(store.publish_generation(must(store.begin("env")), digest));
    }
    if (::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      throw std::runtime_error("cannot remount");
    }
    const Store store = must(Store::open(place, Access::read));
    if (must(store.list()).size() != 1 || !differences(store).empty() ||
        must(store.lease(digest)).folder.empty()) {
      throw std::runtime_error("reading does not work");
    }
    const auto writing = Store::open(place, Access::write);
    if (writing || writing.error().code != Errc::denied) {
      throw std::runtime_error("writing is not refused");
    }
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace goldenv::store
