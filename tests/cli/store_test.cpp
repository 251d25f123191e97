#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compose/compose.h"
#include "store/made_object.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using test::MadeObject;
using test::must;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A store with an environment named "train" of one object, and another object that nothing needs.
class StoreCommand : public ::testing::Test {
 protected:
  StoreCommand() {
    const store::Store store = must(store::Store::open(temp_.at("store"), store::Access::write));
    MadeObject numpy("numpy", "1.26.4");
    numpy.file("site/numpy/__init__.py", "version = 1\n").root("site", "site-packages");
    numpy_ = must(numpy.publish(store)).name;
    MadeObject nccl("nvidia-nccl", "2.18.1");
    nccl.file("site/nvidia/nccl/lib/libnccl.so.2", std::string(20'000, 'x'))
        .root("site", "site-packages");
    nccl_ = must(nccl.publish(store)).name;
    const compose::Plan plan =
        must(compose::plan(store, {must(store.get(numpy_))}, {"/usr/bin/python3", "3.11"}));
    env_ = must(compose::compose(store, plan)).folder;
    must(store.set_root("train", plan.digest));
  }

  [[nodiscard]] test::Ended goldenv(std::vector<std::string> words) const {
    words.insert(words.begin(), {GOLDENV_PROGRAM, "store"});
    return test::run({.argv = words,
                      .environment = {{{"GOLDENV_STORE", temp_.at("store")}, {"NO_COLOR", "1"}}}});
  }

  test::TempDir temp_;
  std::string numpy_;
  std::string nccl_;
  std::string env_;
};

TEST_F(StoreCommand, ListNamesObjectsAndEnvironments) {
  const test::Ended ended = goldenv({"list"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("numpy        1.26.4  12 B     in 1 environment"),
                               HasSubstr("nvidia-nccl  2.18.1  20.0 kB  in 0 environments"),
                               HasSubstr("train"), HasSubstr("2 objects, 20.0 kB; 1 environment")));
  const test::Ended json = goldenv({"list", "--format", "json"});
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"schema_version\": 0"), HasSubstr(numpy_),
                              HasSubstr("\"train\""), HasSubstr("\"size_bytes\": 20000")));
}

TEST_F(StoreCommand, VerifyNamesWhatDiffersAndSaysOne) {
  EXPECT_EQ(goldenv({"verify"}).status, 0);
  const std::string file = temp_.at("store/objects/" + numpy_ + "/tree/site/numpy/__init__.py");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  std::ofstream(file) << "version = 2\n";
  ASSERT_EQ(::chmod(file.c_str(), 0444), 0);
  fs::remove(env_ + "/lib64");
  std::ofstream(env_ + "/lib/python3.11/site-packages/mine.py") << "";
  const test::Ended ended = goldenv({"verify"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("site/numpy/__init__.py"), HasSubstr("sha256 is "),
                               HasSubstr("missing"), HasSubstr("/lib64"), HasSubstr("added"),
                               HasSubstr("mine.py"), HasSubstr(": 2 differences\n")));
  EXPECT_THAT(goldenv({"verify", "--format", "json"}).out, HasSubstr("\"kind\": \"changed\""));
}

TEST_F(StoreCommand, GcFreesWhatNothingNeeds) {
  const test::Ended young = goldenv({"gc"});
  EXPECT_EQ(young.status, 0) << young.err;
  EXPECT_THAT(young.out, HasSubstr("freed 0 B"));
  const std::vector<std::string> gc = {"gc", "--min-age", "0", "--assume-idle"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> words = gc;
    words.push_back(more);
    return words;
  };
  const test::Ended would = goldenv(with("--dry-run"));
  EXPECT_THAT(would.out, AllOf(HasSubstr(nccl_), HasSubstr("would free ")));
  const test::Ended done = goldenv(gc);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr(nccl_), HasSubstr("freed ")));
  EXPECT_FALSE(fs::exists(temp_.at("store/objects/" + nccl_)));
  EXPECT_TRUE(fs::exists(env_));
  EXPECT_EQ(goldenv({"verify"}).status, 0);
}

TEST_F(StoreCommand, OtherWordsAndOptionsAreUsage) {
  EXPECT_EQ(goldenv({}).status, 2);
  EXPECT_THAT(goldenv({"lst"}).err, HasSubstr("store does list, verify, gc and forget"));
  EXPECT_EQ(goldenv({"list", "--dry-run"}).status, 2);
  EXPECT_EQ(goldenv({"gc", "--min-age", "soon"}).status, 2);
}

TEST_F(StoreCommand, WithoutAStoreNothingIsMade) {
  for (const char* what : {"list", "verify", "gc"}) {
    const test::Ended ended = goldenv({what, "--store", temp_.at("none")});
    EXPECT_EQ(ended.status, 4);
    EXPECT_THAT(ended.err, HasSubstr(temp_.at("none")));
    EXPECT_FALSE(fs::exists(temp_.at("none")));
  }
}

TEST_F(StoreCommand, AForgottenEnvironmentIsFreedByGc) {
  const test::Ended forgot = goldenv({"forget", "train"});
  EXPECT_EQ(forgot.status, 0) << forgot.err;
  EXPECT_THAT(forgot.out, HasSubstr("train named "));
  EXPECT_TRUE(fs::exists(env_));
  EXPECT_EQ(goldenv({"gc", "--min-age", "0", "--assume-idle"}).status, 0);
  EXPECT_FALSE(fs::exists(env_));
  const test::Ended again = goldenv({"forget", "train"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("has the name train"));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"forget"},
                                                {"forget", "a", "b"},
                                                {"gc", "train"},
                                                {"forget", "../train"},
                                                {"forget", "train", "--dry-run"}}) {
    EXPECT_EQ(goldenv(words).status, 2);
  }
}

TEST_F(StoreCommand, WhatIsNoNameIsSaidAndPassedOver) {
  std::ofstream(temp_.at("store/roots/.x")) << "";
  fs::create_symlink("nowhere", temp_.at("store/roots/odd"));
  const test::Ended ended = goldenv({"list"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("train"));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("roots/.x: it is no link"), HasSubstr("roots/odd: ")));
  EXPECT_THAT(goldenv({"verify"}).out, AllOf(HasSubstr("roots/.x"), HasSubstr("roots/odd")));
}

}  // namespace
}  // namespace goldenv
