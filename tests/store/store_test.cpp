#include "store/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "store/folder.h"
#include "store/made_object.h"
#include "store/verify.h"
#include "support/temp_dir.h"

namespace goldenv::store {
namespace {

namespace fs = std::filesystem;
using test::MadeObject;
using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MadeObject numpy(const std::string& version = "1.26.4") {
  MadeObject made("numpy", version);
  made.file("site/numpy/__init__.py", "version = '" + version + "'\n")
      .file("bin/f2py", "#!python\n", true)
      .link("site/numpy/alias.py", "__init__.py")
      .root("site", "site-packages")
      .root("bin", "bin");
  return made;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(Store, IsMadeForWritingOnly) {
  const test::TempDir temp;
  const std::string folder = temp.at("a/b/store");
  const auto missing = Store::open(folder, Access::read);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::absent);
  EXPECT_FALSE(fs::exists(folder));

  ASSERT_TRUE(Store::open(folder, Access::write));
  EXPECT_EQ(mode_of(folder), 0700U);
  EXPECT_EQ(test::read_file(folder + "/version"), "goldenv store 1\n");
  const auto store = Store::open(folder, Access::read);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT(must(store->list()), IsEmpty());
}

TEST(Store, AFolderOfSomethingElseIsLeftAlone) {
  const test::TempDir temp;
  temp.file("store/holiday.jpg", "x");
  fs::permissions(temp.at("store"), fs::perms::owner_all);
  const auto store = Store::open(temp.at("store"), Access::write);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::malformed);
  EXPECT_THAT(store.error().message, HasSubstr("holiday.jpg"));
  EXPECT_THAT(names_in(temp.at("store")), ElementsAre("holiday.jpg"));
}

TEST(Store, AStoreOfANewerGoldenvIsRefused) {
  const test::TempDir temp;
  ASSERT_TRUE(Store::open(temp.at("store"), Access::write));
  temp.file("store/version", "goldenv store 2\n");
  for (const Access access : {Access::read, Access::write}) {
    const auto store = Store::open(temp.at("store"), access);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::malformed);
    EXPECT_THAT(store.error().message, HasSubstr("goldenv store 2"));
  }
}

TEST(Store, WhatOthersMayWriteIsNotTrusted) {
  const test::TempDir temp;
  const std::string folder = temp.at("store");
  ASSERT_TRUE(Store::open(folder, Access::write));
  for (const mode_t mode : {0770U, 0702U}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    const auto store = Store::open(folder, Access::read);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::denied);
    EXPECT_THAT(store.error().message, HasSubstr("written by others"));
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_TRUE(Store::open(folder, Access::read));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
    const auto store = Store::open(folder, Access::read);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::denied);
    EXPECT_THAT(store.error().message, HasSubstr("another user"));
  }
}

TEST(Store, LinksAreFollowedButNotInFoldersOpenToAll) {
  const test::TempDir temp;
  ASSERT_TRUE(Store::open(temp.at("real/store"), Access::write));
  temp.link("mine/store", "../real/store");
  const auto store = Store::open(temp.at("mine/store"), Access::read);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->folder(), temp.at("real/store"));

  temp.link("all/store", "../real/store");
  ASSERT_EQ(::chmod(temp.at("all").c_str(), 01777), 0);
  const auto planted = Store::open(temp.at("all/store"), Access::read);
  ASSERT_FALSE(planted);
  EXPECT_EQ(planted.error().code, Errc::denied);

  temp.folder("open");
  ASSERT_EQ(::chmod(temp.at("open").c_str(), 0777), 0);
  const auto replaceable = Store::open(temp.at("open/store"), Access::write);
  ASSERT_FALSE(replaceable);
  EXPECT_EQ(replaceable.error().code, Errc::denied);

  temp.link("loop", "loop");
  EXPECT_FALSE(Store::open(temp.at("loop"), Access::read));
  EXPECT_EQ(Store::open("relative", Access::read).error().code, Errc::usage);
}

TEST(Store, AnObjectIsThereOnceItIsPublished) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  const MadeObject made = numpy();
  EXPECT_FALSE(store.has(made.object.key));
  const Published published = must(made.publish(store));
  EXPECT_EQ(published.name, made.id());
  EXPECT_FALSE(published.raced);
  EXPECT_TRUE(store.has(made.object.key));

  const auto found = must(store.find(made.object.key));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "numpy");
  EXPECT_EQ(found->roots, made.object.roots);
  auto files = made.files;
  std::ranges::sort(files, {}, &File::path);
  EXPECT_EQ(found->content, content_digest(files));
  EXPECT_EQ(must(store.files(made.id())), files);
  EXPECT_EQ(must(store.list()).size(), 1U);
  EXPECT_FALSE(must(store.find(std::string(64, '0'))));

  const std::string tree = store.tree(made.id());
  EXPECT_EQ(mode_of(tree), 0555U);
  EXPECT_EQ(mode_of(tree + "/site/numpy"), 0555U);
  EXPECT_EQ(mode_of(tree + "/site/numpy/__init__.py"), 0444U);
  EXPECT_EQ(mode_of(tree + "/bin/f2py"), 0555U);
  EXPECT_THAT(names_in(store.at("tmp")), IsEmpty());
}

TEST(Store, TheSecondOfTwoIsDropped) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  const Published second = must(numpy().publish(store));
  EXPECT_TRUE(second.raced);
  EXPECT_THAT(names_in(store.at("tmp")), IsEmpty());
  EXPECT_THAT(must(store.ids()), ElementsAre(numpy().id()));
}

TEST(Store, ATreeThatIsNotItsListIsRefused) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  {
    Building building = must(store.begin("more"));
    fs::create_directories(building.folder() + "/tree/site");
    std::ofstream(building.folder() + "/tree/site/stray.py") << "x";
    const auto refused = store.publish(std::move(building), numpy().object, {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("site/stray.py"));
  }
  {
    Building building = must(store.begin("fewer"));
    fs::create_directories(building.folder() + "/tree");
    EXPECT_FALSE(store.publish(std::move(building), numpy().object, numpy().files));
  }
  MadeObject longer = numpy();
  longer.files[0].size_bytes = 1;
  EXPECT_FALSE(longer.publish(store));
  MadeObject twice = numpy();
  twice.files.push_back(twice.files[0]);
  twice.contents.push_back(twice.contents[0]);
  EXPECT_EQ(twice.publish(store).error().code, Errc::usage);
  EXPECT_THAT(must(store.ids()), IsEmpty());
  EXPECT_THAT(names_in(store.at("tmp")), IsEmpty());
}

TEST(Store, ABuildingVanishesUnlessItIsPublished) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  std::string folder;
  {
    const Building building = must(store.begin("half"));
    folder = building.folder();
    fs::create_directories(folder + "/tree/deep");
    ASSERT_EQ(::chmod((folder + "/tree").c_str(), 0555), 0);
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Store, OpenForReadingWritesNothing) {
  const test::TempDir temp;
  ASSERT_TRUE(Store::open(temp.at("store"), Access::write));
  const Store store = must(Store::open(temp.at("store"), Access::read));
  EXPECT_EQ(store.begin("x").error().code, Errc::denied);
  temp.file("a", "x");
  EXPECT_EQ(store.put_artifact(temp.at("a"), Sha256::of("x"), Checked::no).error().code,
            Errc::denied);
  EXPECT_EQ(store.set_root("a", std::string(64, 'a')).error().code, Errc::denied);
}

TEST(Store, WhatTheDeadLeftGoesAndTheLivingStays) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  const Building alive = must(store.begin("alive"));
  const pid_t child = ::fork();
  if (child == 0) {
    // Ends without a chance to clean up.
    Result<Building> half = store.begin("dead");
    ::mkdir((half->folder() + "/tree").c_str(), 0555);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(names_in(store.at("tmp")).size(), 2U);
  // As a crash of this machine and one of another program leave them.
  temp.folder("store/tmp/old-1-0123456789abcdef0123456789abcdef-0011223344556677/tree");
  temp.folder("store/tmp/what is this");
  ASSERT_TRUE(Store::open(temp.at("store"), Access::write));
  EXPECT_THAT(names_in(store.at("tmp")),
              ElementsAre(fs::path(alive.folder()).filename().string(), "what is this"));
}

TEST(Store, ArtifactsAreKnownByTheirDigest) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  const Sha256 digest = Sha256::of("wheel");
  EXPECT_FALSE(store.artifact(digest));
  temp.file("store/tmp/part", "whale");
  const auto refused = store.put_artifact(store.at("tmp/part"), digest, Checked::no);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::malformed);
  EXPECT_THAT(refused.error().message, HasSubstr(digest.hex()));
  EXPECT_FALSE(store.artifact(digest));
  temp.file("store/tmp/part", "wheel");
  const std::string path = must(store.put_artifact(store.at("tmp/part"), digest, Checked::no));
  EXPECT_EQ(store.artifact(digest), path);
  EXPECT_EQ(test::read_file(path), "wheel");
  EXPECT_EQ(mode_of(path), 0444U);
}

std::string add_generation(const Store& store, char digit, const std::string& object_id) {
  Building building = must(store.begin("env"));
  fs::create_directories(building.folder() + "/.o");
  fs::create_symlink(store.tree(object_id), building.folder() + "/.o/0");
  const std::string digest(64, digit);
  must(store.publish_generation(std::move(building), digest));
  return digest;
}

TEST(Store, GenerationsAreNamedByRoots) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  const std::string a = add_generation(store, 'a', numpy().id());
  const std::string b = add_generation(store, 'b', numpy().id());
  EXPECT_THAT(must(store.generations()), ElementsAre(a, b));
  EXPECT_THAT(must(store.objects_of(a)), ElementsAre(numpy().id()));
  must(store.set_root("train", a));
  must(store.set_root("eval", b));
  must(store.set_root("train", b));
  EXPECT_THAT(must(store.roots()), ElementsAre(NamedRoot{"eval", b}, NamedRoot{"train", b}));
  EXPECT_EQ(fs::canonical(store.at("roots/train")), store.generation(b));
  must(store.remove_root("eval"));
  EXPECT_THAT(must(store.roots()), ElementsAre(NamedRoot{"train", b}));
  EXPECT_EQ(store.remove_root("eval").error().code, Errc::absent);
  EXPECT_EQ(store.set_root("new", std::string(64, 'c')).error().code, Errc::absent);
  for (const std::string& name : {std::string(), std::string(".."), std::string("a/b"),
                                  std::string(".a"), std::string("a b"), std::string(61, 'a')}) {
    EXPECT_EQ(store.set_root(name, a).error().code, Errc::usage) << name;
  }
}

TEST(Store, ALeaseIsHeldByWhoInheritsIt) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  const std::string digest = add_generation(store, 'a', numpy().id());
  EXPECT_EQ(store.lease(std::string(64, 'b')).error().code, Errc::absent);
  const std::string file = store.at("leases/" + digest);
  const auto is_held = [&] {
    const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    return ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0;
  };
  pid_t child = 0;
  {
    const Lease lease = must(store.lease(digest));
    EXPECT_EQ(lease.folder, store.generation(digest));
    EXPECT_EQ(::fcntl(lease.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_TRUE(is_held());
    child = ::fork();
    if (child == 0) {
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
  }
  EXPECT_TRUE(is_held()) << "by the child";
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_FALSE(is_held());
}

TEST(Store, ItsPlaceIsTakenFromTheEnvironment) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  set("GOLDENV_STORE", "/s");
  set("XDG_DATA_HOME", "/x");
  set("HOME", "/h");
  EXPECT_EQ(must(Store::default_folder()), "/s");
  set("GOLDENV_STORE", "s");
  EXPECT_EQ(Store::default_folder().error().code, Errc::usage);
  set("GOLDENV_STORE", "");
  EXPECT_EQ(must(Store::default_folder()), "/x/goldenv/store");
  set("XDG_DATA_HOME", "relative");
  EXPECT_EQ(must(Store::default_folder()), "/h/.local/share/goldenv/store");
  set("HOME", nullptr);
  EXPECT_EQ(Store::default_folder().error().code, Errc::usage);
}

TEST(Store, TemporaryNamesTellWhoMayLive) {
  EXPECT_NE(temporary_name("a"), temporary_name("a"));
  EXPECT_TRUE(may_live(temporary_name("a-b-1")));
  EXPECT_TRUE(may_live("no name of ours"));
  const std::string mine = "x-" + std::to_string(::getpid()) + "-" + boot_id() + "-0";
  EXPECT_TRUE(may_live(mine));
  EXPECT_FALSE(may_live("x-" + std::to_string(::getpid()) + "-" + std::string(32, '0') + "-0"));
}

TEST(Store, NamesOfGoldenvAndBeginningsOfDigestsAreNoUsersNames) {
  const std::string of_manifest = "manifest-df630123456789abcdef0123456789ab";
  EXPECT_TRUE(is_manifest_root(of_manifest));
  for (const std::string& name :
       {of_manifest, std::string("manifest-train"), std::string("manifest-"), std::string("abcdef"),
        std::string("20240131"), std::string(60, '0')}) {
    const auto refused = check_name(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Errc::usage);
    EXPECT_THAT(refused.error().message, HasSubstr(name));
  }
  for (const char* name : {"train", "abcde", "abcdef-1", "manifest", "my-manifest-1", "ABCDEF"}) {
    EXPECT_TRUE(check_name(name)) << name;
    EXPECT_FALSE(is_manifest_root(name)) << name;
  }
  EXPECT_FALSE(is_manifest_root(of_manifest + "0"));
  EXPECT_FALSE(is_manifest_root("manifest-" + std::string(32, 'g')));

  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  const std::string digest = add_generation(store, 'a', numpy().id());
  must(store.set_root(of_manifest, digest));
  EXPECT_EQ(store.set_root("manifest-train", digest).error().code, Errc::usage);
  EXPECT_EQ(store.set_root("aaaaaa", digest).error().code, Errc::usage);
}

TEST(Store, WhatIsNoNameAmongTheRootsIsPassedOver) {
  const test::TempDir temp;
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  const std::string digest = add_generation(store, 'a', numpy().id());
  must(store.set_root("train", digest));
  temp.file("store/roots/.x", "");
  temp.folder("store/roots/folder");
  temp.link("store/roots/odd", "nowhere");
  temp.link("store/roots/.hidden", "../envs/" + digest);
  EXPECT_THAT(must(store.roots()), ElementsAre(NamedRoot{"train", digest}));
  std::vector<std::string> strays;
  for (const StrayRoot& stray : must(store.root_folder()).strays) {
    strays.push_back(stray.name + (stray.is_link ? " ->" : ""));
    EXPECT_FALSE(stray.says.empty());
  }
  EXPECT_THAT(strays, ElementsAre(".hidden ->", ".x", "folder", "odd ->"));
}

TEST(Store, FoldersThatAreGoneAreMadeAgain) {
  const test::TempDir temp;
  ASSERT_TRUE(Store::open(temp.at("store"), Access::write));
  for (const char* name : kFolders) {
    fs::remove_all(temp.at("store/" + std::string(name)));
  }
  {
    const Store reader = must(Store::open(temp.at("store"), Access::read));
    EXPECT_THAT(must(reader.generations()), IsEmpty());
    EXPECT_THAT(must(reader.roots()), IsEmpty());
  }
  const Store store = must(Store::open(temp.at("store"), Access::write));
  must(numpy().publish(store));
  must(store.set_root("train", add_generation(store, 'a', numpy().id())));
  EXPECT_EQ(must(verify(store, [](const Difference&) {})).differences, 0U);
}

TEST(Store, WhereNoEnvironmentCouldBeUsedNoneIsMade) {
  const test::TempDir temp;
  for (const char* name : {"a:b", "a\nb", "a\x1b[31m", "a\xff"}) {
    const std::string folder = temp.at(name);
    const auto refused = Store::open(folder, Access::write);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Errc::usage);
    EXPECT_FALSE(fs::exists(folder));
  }
  fs::create_directories(temp.at("real:one"));
  fs::permissions(temp.at("real:one"), fs::perms::owner_all);
  temp.link("plain", "real:one");
  EXPECT_EQ(Store::open(temp.at("plain"), Access::write).error().code, Errc::usage);
  EXPECT_TRUE(fs::is_empty(temp.at("real:one")));
  EXPECT_TRUE(Store::open(temp.at("\u00fcber space"), Access::write));
}

}  // namespace
}  // namespace goldenv::store
