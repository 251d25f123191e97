#include "store/gc.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "store/child.h"
#include "store/made_object.h"
#include "store/processes.h"
#include "store/verify.h"
#include "support/temp_dir.h"

namespace goldenv::store {
namespace {

namespace fs = std::filesystem;
using test::MadeObject;
using test::must;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreGc : public ::testing::Test {
 protected:
  StoreGc() : store_(must(Store::open(temp_.at("store"), Access::write))) {
    options_.min_age = std::chrono::seconds(0);
    options_.patience = std::chrono::milliseconds(0);
    options_.proc = temp_.at("proc");
    process(1, "/sbin/init", "");
  }

  MadeObject add(const std::string& name, const std::string& version = "1") {
    MadeObject made(name, version);
    made.file("site/" + name + ".py", std::string(10'000, 'x')).of(name + version);
    must(made.publish(store_));
    temp_.file("store/tmp/download", name + version);
    must(store_.put_artifact(store_.at("tmp/download"), Sha256::of(name + version), Checked::no));
    return made;
  }

  std::string generation(char digit, const std::vector<std::string>& ids) {
    Building building = must(store_.begin("env"));
    fs::create_directories(building.folder() + "/.o");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      fs::create_symlink(store_.tree(ids[i]), building.folder() + "/.o/" + std::to_string(i));
    }
    const std::string digest(64, digit);
    must(store_.publish_generation(std::move(building), digest));
    return digest;
  }

  /// A process as /proc shows it.
  void process(int pid, const std::string& exe, const std::string& environ,
               const std::string& maps = "") {
    const std::string folder = "proc/" + std::to_string(pid);
    temp_.link(folder + "/exe", exe);
    temp_.link(folder + "/cwd", "/");
    temp_.link(folder + "/root", "/");
    temp_.file(folder + "/environ", environ);
    temp_.file(folder + "/maps", maps);
    temp_.file(folder + "/stat", std::to_string(pid) + " (a b) S 1 1 1 0 -1 4194560 0 0");
  }

  std::vector<std::string> collect() {
    const Collected collected = must(gc(store_, options_));
    std::vector<std::string> gone;
    std::uint64_t bytes = 0;
    for (const Gone& one : collected.gone) {
      gone.push_back(std::string(name(one.kind)) + " " + one.name);
      bytes += one.bytes;
    }
    EXPECT_EQ(collected.freed_bytes, bytes);
    kept_.clear();
    for (const Kept& one : collected.kept) {
      kept_.push_back(one.digest.substr(0, 1) + ": " + one.why);
    }
    return gone;
  }

  static std::string artifact(const std::string& bytes) {
    return "artifact " + Sha256::of(bytes).hex();
  }

  test::TempDir temp_;
  Store store_;
  GcOptions options_;
  std::vector<std::string> kept_;
};

TEST_F(StoreGc, WhatNoRootLeadsToGoes) {
  const MadeObject a = add("a");
  const MadeObject b = add("b");
  const MadeObject c = add("c");
  must(store_.set_root("train", generation('1', {a.id(), b.id()})));
  const std::string dead = generation('2', {b.id(), c.id()});
  EXPECT_THAT(collect(), ElementsAre("generation " + dead, "object " + c.id(), artifact("c1")));
  EXPECT_THAT(must(store_.generations()), ElementsAre(std::string(64, '1')));
  EXPECT_TRUE(store_.has(b.object.key));
  EXPECT_FALSE(store_.artifact(Sha256::of("c1")));
  EXPECT_TRUE(fs::is_empty(store_.at("trash")));
  EXPECT_EQ(must(verify(store_, [](const Difference&) {})).differences, 0U);
  EXPECT_THAT(collect(), IsEmpty());
}

TEST_F(StoreGc, AManifestsNameGoesWithWhatNothingElseNeeds) {
  const std::string before = "manifest-" + std::string(32, '1');
  const std::string after = "manifest-" + std::string(32, '2');
  const std::string leased = "manifest-" + std::string(32, '3');
  const std::string dangling = "manifest-" + std::string(32, '4');
  const MadeObject a = add("a");
  must(store_.set_root(before, generation('1', {a.id()})));
  must(store_.set_root(after, generation('2', {})));
  must(store_.set_root("train", std::string(64, '2')));
  must(store_.set_root(leased, generation('3', {})));
  const Lease lease = must(store_.lease(std::string(64, '3')));
  temp_.link("store/roots/" + dangling, "../envs/" + std::string(64, '4'));
  options_.min_age = std::chrono::hours(1);
  EXPECT_THAT(collect(), IsEmpty());
  EXPECT_THAT(kept_, IsEmpty()) << "young names keep";
  options_.min_age = std::chrono::seconds(0);
  options_.dry_run = true;
  const std::vector<std::string> would = collect();
  EXPECT_EQ(must(store_.roots()).size(), 5U);
  options_.dry_run = false;
  EXPECT_THAT(collect(), ElementsAre("root " + before, "root " + dangling,
                                     "generation " + std::string(64, '1'), "object " + a.id(),
                                     artifact("a1")));
  EXPECT_EQ(would.size(), 5U);
  EXPECT_THAT(kept_, ElementsAre("3: goldenv run holds it"));
  std::vector<std::string> names;
  for (const NamedRoot& root : must(store_.roots())) {
    names.push_back(root.name);
  }
  EXPECT_THAT(names, ElementsAre(after, leased, "train"));
}

TEST_F(StoreGc, AFileAmongTheNamesDoesNotStopIt) {
  const MadeObject a = add("a");
  temp_.file("store/roots/.x", "");
  EXPECT_THAT(collect(), ElementsAre("object " + a.id(), artifact("a1")));
}

TEST_F(StoreGc, WithoutTheFolderOfNamesNothingGoes) {
  add("a");
  fs::remove(store_.at("roots"));
  temp_.file("store/roots", "");
  EXPECT_FALSE(gc(store_, options_));
  EXPECT_EQ(must(store_.ids()).size(), 1U);
}

TEST_F(StoreGc, ADryRunSaysTheSameAndTouchesNothing) {
  add("a");
  generation('1', {});
  options_.dry_run = true;
  const std::vector<std::string> would = collect();
  EXPECT_EQ(would.size(), 3U);
  EXPECT_EQ(must(store_.generations()).size(), 1U);
  EXPECT_EQ(must(store_.ids()).size(), 1U);
  options_.dry_run = false;
  EXPECT_EQ(collect(), would);
  EXPECT_THAT(must(store_.ids()), IsEmpty());
}

TEST_F(StoreGc, BytesAreThoseOnTheDisk) {
  add("a");
  const Collected collected = must(gc(store_, options_));
  ASSERT_EQ(collected.gone.size(), 2U);
  EXPECT_GE(collected.gone[0].bytes, 10'000U);
  EXPECT_EQ(collected.freed_bytes, collected.gone[0].bytes + collected.gone[1].bytes);
}

TEST_F(StoreGc, ALeaseKeepsItsGeneration) {
  const MadeObject a = add("a");
  const std::string digest = generation('1', {a.id()});
  {
    const Lease lease = must(store_.lease(digest));
    EXPECT_THAT(collect(), IsEmpty());
    EXPECT_THAT(kept_, ElementsAre("1: goldenv run holds it"));
  }
  EXPECT_THAT(collect(), Contains("generation " + digest));
  EXPECT_FALSE(fs::exists(store_.at("leases/" + digest)));
}

TEST_F(StoreGc, AProcessKeepsWhatItRunsMapsOrNames) {
  const MadeObject a = add("a");
  const std::string digest = generation('1', {a.id()});
  const std::string env = store_.generation(digest);
  process(77, env + "/bin/python", "");
  EXPECT_THAT(collect(), IsEmpty());
  EXPECT_THAT(kept_, ElementsAre("1: a process runs in it"));
  process(77, "/usr/bin/python3",
          std::string("A=b\0VIRTUAL_ENV=", 16) + env + std::string("\0", 1));
  EXPECT_THAT(collect(), IsEmpty());
  // In a container the store may lie elsewhere.
  process(77, "/usr/bin/python3", "VIRTUAL_ENV=/mnt/envs/" + digest + "/x");
  EXPECT_THAT(collect(), IsEmpty());
  process(77, "/usr/bin/python3", "",
          "7f00-7f01 r-xp 0 fd:01 12 " + store_.tree(a.id()) + "/site/a.so\n");
  EXPECT_THAT(collect(), ElementsAre("generation " + digest)) << "the object is mapped";
  process(77, "/usr/bin/python3", "");
  EXPECT_THAT(collect(), ElementsAre("object " + a.id(), artifact("a1")));
}

TEST_F(StoreGc, TheYoungStay) {
  const MadeObject a = add("a");
  generation('1', {a.id()});
  options_.min_age = std::chrono::hours(1);
  EXPECT_THAT(collect(), IsEmpty());
  EXPECT_THAT(kept_, ElementsAre("1: it is young"));
}

TEST_F(StoreGc, WhatMayNotBeLookedAtCountsAsInUse) {
  ASSERT_EQ(::chmod(temp_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(temp_.folder("all").c_str(), 01777), 0);
  EXPECT_EQ(test::in_child([&] {
              // Nobody may look at root's processes, of which this one's parent is one.
              constexpr uid_t kNobody = 65534;
              if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
                throw std::runtime_error("cannot become another user");
              }
              const Store store = must(Store::open(temp_.at("all/store"), Access::write));
              MadeObject made("a", "1");
              made.file("site/a.py", "x");
              must(made.publish(store));
              must(store.publish_generation(must(store.begin("env")), std::string(64, '1')));
              options_.proc = "/proc";
              const Collected kept = must(gc(store, options_));
              options_.assume_idle = true;
              const Collected gone = must(gc(store, options_));
              if (kept.unseen == 0 || !kept.gone.empty() || kept.kept.size() != 1 ||
                  !kept.kept[0].why.starts_with("processes that may not be looked at") ||
                  gone.gone.size() != 2) {
                throw std::runtime_error("unseen processes: " + std::to_string(kept.unseen));
              }
            }),
            0);
}

TEST_F(StoreGc, WithoutProcNothingGoes) {
  add("a");
  options_.proc = temp_.folder("empty");
  EXPECT_FALSE(gc(store_, options_));
  options_.proc = temp_.at("none");
  EXPECT_FALSE(gc(store_, options_));
  EXPECT_EQ(must(store_.ids()).size(), 1U);
}

TEST_F(StoreGc, WhileAnotherUsesTheStoreNothingGoes) {
  add("a");
  const Store other = must(Store::open(store_.folder(), Access::read));
  const auto collected = gc(store_, options_);
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code, Errc::timed_out);
  EXPECT_THAT(collected.error().message, HasSubstr("another goldenv uses"));
  // And it still holds its own share of the lock.
  const Descriptor fd(::open(store_.at("lock").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(StoreGc, ForReadingItIsRefused) {
  const Store reader = must(Store::open(store_.folder(), Access::read));
  EXPECT_EQ(gc(reader, options_).error().code, Errc::denied);
}

TEST_F(StoreGc, AnObjectThatCannotBeReadKeepsAllArtifacts) {
  const MadeObject a = add("a");
  add("b");
  must(store_.set_root("r", generation('1', {a.id()})));
  temp_.file("store/objects/" + a.id() + "/object.json", "{}");
  const std::vector<std::string> gone = collect();
  EXPECT_EQ(gone.size(), 1U);
  EXPECT_TRUE(store_.artifact(Sha256::of("a1")));
  EXPECT_TRUE(store_.artifact(Sha256::of("b1")));
}

TEST_F(StoreGc, ARootThatLeadsNowhereItKnowsStopsIt) {
  add("a");
  temp_.link("store/roots/odd", "/elsewhere");
  EXPECT_EQ(gc(store_, options_).error().code, Errc::malformed);
  EXPECT_EQ(must(store_.ids()).size(), 1U);
}

TEST(StoreProcesses, NamesAreTakenOutOfAnyText) {
  const std::string digest(64, 'a');
  const std::string id = std::string(32, 'b') + "-torch-2.2.1+cu121";
  InUse in_use;
  add_names("/x/envs/" + digest, in_use);
  add_names("/x/envs/" + digest.substr(1), in_use);
  add_names("A=/x/objects/" + id + std::string("\0B=", 3), in_use);
  add_names("/x/objects/" + id.substr(1), in_use);
  add_names("/x/objects/", in_use);
  EXPECT_THAT(in_use.generations, ElementsAre(digest));
  EXPECT_THAT(in_use.objects, ElementsAre(id));
}

TEST(StoreProcesses, ARealProcessIsSeen) {
  const test::TempDir temp;
  const std::string digest(64, 'c');
  const std::string folder = temp.folder("envs/" + digest);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(folder.c_str()) == 0) {
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
    }
    ::_exit(127);
  }
  // The child is there from fork on; where it stands, once it has gone there.
  bool seen = false;
  for (int i = 0; i < 10'000 && !seen; ++i) {
    seen = must(used_by_processes("/proc")).generations.contains(digest);
  }
  EXPECT_TRUE(seen);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_FALSE(must(used_by_processes("/proc")).generations.contains(digest));
}

}  // namespace
}  // namespace goldenv::store
