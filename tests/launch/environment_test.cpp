#include "launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace goldenv::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LaunchPython : public ::testing::Test {
 protected:
  LaunchPython() {
    temp_.file("base/python3.11", "");
    fs::permissions(temp_.at("base/python3.11"), fs::perms::owner_all);
    temp_.link("env/bin/python", temp_.at("base/python3.11"));
    temp_.link("env/bin/python3", "python");
    temp_.link("env/bin/python3.11", "python");
    temp_.file("env/pyvenv.cfg", "home = x\n");
    environment_.prefix = temp_.at("env");
    environment_.name = "train";
    environment_.python = "3.11";
  }

  [[nodiscard]] std::string refusal() const {
    const Result<void> checked = check_python(environment_);
    return checked ? "" : checked.error().message;
  }

  test::TempDir temp_;
  Environment environment_;
};

TEST_F(LaunchPython, OneThatIsThereIsWell) { EXPECT_EQ(refusal(), ""); }

TEST_F(LaunchPython, WhereTheInterpreterIsGoneItIsSaid) {
  fs::rename(temp_.at("base/python3.11"), temp_.at("base/away"));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("train has lost its Python"),
                               HasSubstr("a link to " + temp_.at("base/python3.11")),
                               HasSubstr("goldenv provision")));
  environment_.python = "";
  EXPECT_EQ(refusal(), "") << "one without Python has none to lose";
}

TEST_F(LaunchPython, AnythingElseThanAProgramIsNone) {
  fs::permissions(temp_.at("base/python3.11"), fs::perms::owner_read);
  EXPECT_THAT(refusal(), HasSubstr("Permission denied"));
  fs::remove(temp_.at("base/python3.11"));
  fs::create_directory(temp_.at("base/python3.11"));
  EXPECT_THAT(refusal(), HasSubstr("no regular file"));
}

TEST_F(LaunchPython, EachOfItsNamesMustBeThere) {
  for (const char* name : {"bin/python", "bin/python3", "bin/python3.11", "pyvenv.cfg"}) {
    const std::string path = temp_.at("env/" + std::string(name));
    fs::rename(path, temp_.at("aside"));
    EXPECT_THAT(refusal(), HasSubstr(name));
    fs::rename(temp_.at("aside"), path);
  }
  EXPECT_EQ(refusal(), "");
}

std::string refused(const std::string& prefix, const std::vector<Brought>& brought) {
  Environment environment;
  environment.prefix = prefix;
  environment.python = "3.11";
  const Result<void> checked = check_brought(environment, brought);
  if (!checked) {
    EXPECT_EQ(checked.error().code, Errc::usage);
  }
  return checked ? "" : checked.error().message;
}

TEST(LaunchBrought, WhatRunWouldRefuseIsRefusedBefore) {
  EXPECT_EQ(refused("/s/envs/a", {{"nccl", {"NCCL_HOME", "${prefix}"}}}), "");
  for (const char* name : {"LD_PRELOAD", "PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "A-B", ""}) {
    EXPECT_THAT(refused("/s/envs/a", {{"nccl", {name, "x"}}}), HasSubstr(name)) << name;
    EXPECT_NE(refused("/s/envs/a", {{"nccl", {name, "x"}}}), "") << name;
  }
  EXPECT_THAT(refused("/s:t/envs/a", {}), HasSubstr("cannot be used"));
  EXPECT_EQ(refused("/s/envs/a", {{"nccl", {"A", "1"}}, {"cuda", {"A", "1"}}}), "");
  EXPECT_EQ(refused("/s/envs/a", {{"nccl", {"A", "1"}}, {"cuda", {"A", "2"}}}),
            "nccl and cuda set A to different values");
}

}  // namespace
}  // namespace goldenv::launch
