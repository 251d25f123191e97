#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "support/program.h"
#include "support/temp_dir.h"

// What `goldenv provision` says of what takes root. What it does as root: tests/privileged_system.

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

// A pin that every Linux misses, whatever machine runs the tests.
constexpr std::string_view kPins = "  sysctl.kernel.ostype: Golden\n";

class Apply : public ::testing::Test {
 protected:
  Apply() {
    temp_.folder("home");
    manifest(kPins);
  }

  void manifest(std::string_view pins) {
    temp_.file("golden.yaml", "goldenv: 1\nname: train\npins:\n" + std::string(pins));
  }

  test::Ended provision(std::vector<std::string> words, std::vector<std::string> before = {}) {
    before.insert(before.end(), {GOLDENV_PROGRAM, "provision"});
    before.insert(before.end(), words.begin(), words.end());
    before.push_back("golden.yaml");
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.at("home")},
                                                            {"LANG", "C.UTF-8"},
                                                            {"GOLDENV_STORE", temp_.at("store")}};
    return test::run({std::move(before), environment, temp_.path()});
  }

  test::TempDir temp_;
};

TEST_F(Apply, ThePlanShowsTheScriptToTheLetter) {
  const test::Ended json = provision({"--plan", "--format", "json", "--script", "apply.sh"});
  ASSERT_EQ(json.status, 0) << json.err;
  const Json plan = Json::parse(json.out).at("privileged");
  ASSERT_THAT(plan.at("steps"), SizeIs(1));
  EXPECT_EQ(plan.at("steps")[0].at("keys")[0], "sysctl.kernel.ostype");
  EXPECT_EQ(plan.at("steps")[0].at("have"), "Linux");
  const std::string script = test::read_file(temp_.at("apply.sh"));
  EXPECT_EQ(plan.at("script"), script);
  EXPECT_EQ(plan.at("script_sha256"), Sha256::of(script).hex());
  EXPECT_EQ(fs::status(temp_.at("apply.sh")).permissions(), fs::perms::owner_all);
  const test::Ended text = provision({"--plan"});
  EXPECT_THAT(text.out, AllOf(HasSubstr(script), HasSubstr(Sha256::of(script).hex())));
}

TEST_F(Apply, TheScriptAloneNeedsNoStoreAndNoIndex) {
  const test::Ended done = provision({"--script", "apply.sh"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(test::read_file(temp_.at("apply.sh")),
              HasSubstr("set_value '/proc/sys/kernel/ostype' 'Golden'"));
  EXPECT_FALSE(fs::exists(temp_.at("store")));
}

TEST_F(Apply, WhatIsSoNeedsNoScript) {
  manifest("  sysctl.kernel.ostype: Linux\n");
  const test::Ended done = provision({"--script", "apply.sh"});
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err, HasSubstr("no script was written"));
  EXPECT_FALSE(fs::exists(temp_.at("apply.sh")));
}

TEST_F(Apply, WhatNoStepBringsAboutIsNamed) {
  manifest("  glibc: \"9.9\"\n  sysctl.kernel.ostype: [A, B]\n");
  const test::Ended plan = provision({"--plan"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("not by goldenv: glibc 9.9"),
                              HasSubstr("not by goldenv: sysctl.kernel.ostype A or B"),
                              Not(HasSubstr("#!/bin/sh"))));
}

TEST_F(Apply, WithoutRootItNamesTheCommand) {
  ASSERT_EQ(provision({"--script", "apply.sh"}).status, 0);
  std::vector<std::string> nobody;
  if (geteuid() == 0) {
    nobody = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    fs::permissions(temp_.path(), fs::perms(0755));
  }
  const test::Ended apply = provision({"--apply", "--script", "apply.sh"}, nobody);
  EXPECT_EQ(apply.status, 2);
  EXPECT_EQ(apply.err, "goldenv: this takes root: sudo sh apply.sh\n");
  const test::Ended rollback = provision({"--rollback"}, nobody);
  EXPECT_EQ(rollback.status, 2);
  EXPECT_THAT(rollback.err, HasSubstr("takes root"));
}

TEST_F(Apply, PlanApplyAndRollbackAreThreeThings) {
  EXPECT_EQ(provision({"--plan", "--apply"}).status, 2);
  EXPECT_EQ(provision({"--apply", "--rollback"}).status, 2);
}

TEST_F(Apply, AScriptThatCannotBeWrittenIsAFailure) {
  const test::Ended done = provision({"--script", "nowhere/apply.sh"});
  EXPECT_EQ(done.status, 4);
  EXPECT_THAT(done.err, HasSubstr("nowhere/apply.sh"));
}

}  // namespace
}  // namespace goldenv
