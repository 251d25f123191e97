#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "support/program.h"
#include "support/temp_dir.h"

// `goldenv provision --apply` and --rollback as root, with the kernel's own sysctls and with dpkg
// and apt. /etc, /usr and /var are laid over with a file system in memory, and the network is one
// of its own, so that of this machine only vm.swappiness is changed, and put back.

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSwappiness = "/proc/sys/vm/swappiness";
constexpr const char* kBacklog = "/proc/sys/net/core/somaxconn";

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  ASSERT_TRUE(file) << path;
}

class ApplyAsRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "not root";
    }
    static const bool apart = [] {
      return unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 &&
             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }();
    ASSERT_TRUE(apart) << std::strerror(errno);
    swappiness_ = test::read_file(kSwappiness);
    temp_.folder("home");
    const std::string layer = temp_.folder("layer");
    ASSERT_EQ(mount("test", layer.c_str(), "tmpfs", 0, ""), 0) << std::strerror(errno);
    mounted_.push_back(layer);
    for (const std::string name : {"etc", "usr", "var"}) {
      fs::create_directories(layer + "/upper/" + name);
      fs::create_directories(layer + "/work/" + name);
      const std::string options = "lowerdir=/" + name + ",upperdir=" + layer + "/upper/" + name +
                                  ",workdir=" + layer + "/work/" + name;
      ASSERT_EQ(mount("test", ("/" + name).c_str(), "overlay", 0, options.c_str()), 0)
          << std::strerror(errno);
      mounted_.push_back("/" + name);
    }
    fs::remove_all("/var/lib/goldenv");
    // Without a distribution's lists apt takes a moment, and asks no network.
    fs::remove_all("/var/lib/apt/lists");
    fs::create_directories("/var/lib/apt/lists/partial");
  }

  void TearDown() override {
    while (!mounted_.empty()) {
      umount2(mounted_.back().c_str(), MNT_DETACH);
      mounted_.pop_back();
    }
    if (!swappiness_.empty() && test::read_file(kSwappiness) != swappiness_) {
      write_file(kSwappiness, swappiness_);
    }
  }

  void manifest(const std::string& pins) {
    temp_.file("golden.yaml", "goldenv: 1\nname: train\npins:\n" + pins);
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {
        {"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"},
        {"HOME", temp_.at("home")},
        {"LANG", "C.UTF-8"},
        {"GOLDENV_STORE", temp_.at("store")}};
    return test::run({std::move(words), environment, temp_.path()});
  }
  test::Ended provision(std::vector<std::string> words) {
    words.insert(words.begin(), "provision");
    if (fs::exists(temp_.at("recipes"))) {
      words.insert(words.end(), {"--recipes", temp_.at("recipes")});
    }
    words.push_back("golden.yaml");
    return goldenv(std::move(words));
  }

  /// A Debian package goldenv-trial of a version, and what its postinst does.
  std::string package(const std::string& version, const std::string& script = ":") {
    const std::string folder = temp_.folder("package" + version);
    temp_.file("package" + version + "/DEBIAN/control",
               "Package: goldenv-trial\nVersion: " + version +
                   "\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: a "
                   "trial\n");
    temp_.file("package" + version + "/usr/share/goldenv-trial/version", version + "\n");
    const std::string postinst =
        temp_.file("package" + version + "/DEBIAN/postinst", "#!/bin/sh\nset -e\n" + script + "\n");
    fs::permissions(postinst, fs::perms(0755));
    const std::string file = temp_.at("goldenv-trial_" + version + "_all.deb");
    const test::Ended built =
        test::run({{"/usr/bin/dpkg-deb", "--root-owner-group", "-b", folder, file}});
    EXPECT_EQ(built.status, 0) << built.err;
    return Sha256::of(test::read_file(file)).hex();
  }

  void recipe(const std::map<std::string, std::string>& digests) {
    std::string text =
        "goldenv_recipe: 1\ncomponent: dpkg.package.goldenv-trial\nabout: a trial\n"
        "sources:\n  - deb: goldenv-trial\n    url: \"file://" +
        temp_.at("goldenv-trial_") + "{version}_all.deb\"\n    sha256:\n";
    for (const auto& [version, digest] : digests) {
      text += "      \"" + version + "\": \"" + digest + "\"\n";
    }
    temp_.file("recipes/trial.yaml", text + "needs: [root]\n");
  }

  /// "2.0", or "" where it is not installed.
  static std::string installed() {
    const test::Ended asked = test::run(
        {{"/usr/bin/dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "goldenv-trial"}});
    return asked.out.starts_with("installed ") ? asked.out.substr(10) : "";
  }
  void install(const std::string& version) {
    const test::Ended done =
        test::run({{"/usr/bin/dpkg", "-i", temp_.at("goldenv-trial_" + version + "_all.deb")}});
    ASSERT_EQ(done.status, 0) << done.err;
  }

  test::TempDir temp_;
  std::string swappiness_;
  std::vector<std::string> mounted_;
};

TEST_F(ApplyAsRoot, SysctlsAreChangedInTheKernelAndPutBack) {
  const std::string other = swappiness_ == "10\n" ? "11" : "10";
  write_file(kBacklog, "4096");
  manifest("  sysctl.vm.swappiness: \"" + other +
           "\"\n  sysctl.net.core.somaxconn: \"777\"\n  next_boot.sysctl.vm.swappiness: \"" +
           other + "\"\n");
  ASSERT_EQ(provision({"--script", "apply.sh"}).status, 0);
  const test::Ended applied = provision({"--apply", "--script", "apply.sh"});
  ASSERT_EQ(applied.status, 0) << applied.err;
  EXPECT_THAT(applied.err,
              HasSubstr("sha256 " + Sha256::of(test::read_file(temp_.at("apply.sh"))).hex()));
  EXPECT_EQ(test::read_file(kSwappiness), other + "\n");
  EXPECT_EQ(test::read_file(kBacklog), "777\n");
  EXPECT_EQ(goldenv({"check", "golden.yaml", "--fail-on", "info"}).status, 0);
  EXPECT_THAT(provision({"--apply"}).err, HasSubstr("nothing to do"));

  const test::Ended back = goldenv({"provision", "--rollback"});
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(test::read_file(kSwappiness), swappiness_);
  EXPECT_EQ(test::read_file(kBacklog), "4096\n");
  EXPECT_FALSE(fs::exists("/etc/sysctl.d/90-goldenv-vm.swappiness.conf"));
  EXPECT_EQ(goldenv({"provision", "--rollback"}).status, 2);
}

TEST_F(ApplyAsRoot, AnotherScriptThanTheOneThatWasReadIsRefused) {
  const std::string other = swappiness_ == "10\n" ? "11" : "10";
  manifest("  sysctl.vm.swappiness: \"" + other + "\"\n");
  ASSERT_EQ(provision({"--script", "apply.sh"}).status, 0);
  temp_.file("apply.sh", test::read_file(temp_.at("apply.sh")) + "# read, and changed\n");
  const test::Ended refused = provision({"--apply", "--script", "apply.sh"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("is not what would be made now"));
  EXPECT_EQ(provision({"--apply", "--sha256", std::string(64, '0')}).status, 4);
  EXPECT_EQ(test::read_file(kSwappiness), swappiness_);
  EXPECT_FALSE(fs::exists("/var/lib/goldenv/apply/1"));
}

TEST_F(ApplyAsRoot, APackageIsReplacedAndComesBack) {
  recipe({{"1.0", package("1.0")}, {"2.0", package("2.0")}});
  install("1.0");
  manifest("  dpkg.package.goldenv-trial: \"2.0\"\n");
  const test::Ended applied = provision({"--apply"});
  ASSERT_EQ(applied.status, 0) << applied.err;
  EXPECT_THAT(applied.err, HasSubstr("goldenv: apt installs goldenv-trial [1.0] (2.0 "));
  EXPECT_EQ(installed(), "2.0");
  EXPECT_EQ(goldenv({"check", "golden.yaml"}).status, 0);
  const test::Ended back = goldenv({"provision", "--rollback"});
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(installed(), "1.0");
  // Downwards, too.
  install("2.0");
  manifest("  dpkg.package.goldenv-trial: \"1.0\"\n");
  ASSERT_EQ(provision({"--apply"}).status, 0);
  EXPECT_EQ(installed(), "1.0");
  ASSERT_EQ(goldenv({"provision", "--rollback"}).status, 0);
  EXPECT_EQ(installed(), "2.0");
}

TEST_F(ApplyAsRoot, APackageThatWasNotThereIsRemovedAgain) {
  recipe({{"2.0", package("2.0")}});
  manifest("  dpkg.package.goldenv-trial: \"2.0\"\n");
  ASSERT_EQ(provision({"--apply"}).status, 0);
  EXPECT_EQ(installed(), "2.0");
  ASSERT_EQ(goldenv({"provision", "--rollback"}).status, 0);
  EXPECT_EQ(installed(), "");
}

TEST_F(ApplyAsRoot, WithoutAWayBackNothingIsReplaced) {
  package("1.0");
  recipe({{"2.0", package("2.0")}});
  install("1.0");
  manifest("  dpkg.package.goldenv-trial: \"2.0\"\n");
  const test::Ended refused = provision({"--apply"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("there would be no way back"), HasSubstr("nothing was changed")));
  EXPECT_EQ(installed(), "1.0");
}

TEST_F(ApplyAsRoot, AFileWithAnotherDigestIsNotInstalled) {
  package("2.0");
  recipe({{"2.0", std::string(64, '0')}});
  manifest("  dpkg.package.goldenv-trial: \"2.0\"\n");
  const test::Ended refused = provision({"--apply"});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("nothing was changed"));
  EXPECT_EQ(installed(), "");
}

TEST_F(ApplyAsRoot, KilledInItsMidstItIsUndoneAndDoneAnew) {
  // While dpkg works, all of goldenv, the script, apt and dpkg are killed at once, the first time.
  recipe({{"1.0", package("1.0")},
          {"2.0", package("2.0",
                          "if [ ! -e /var/tmp/goldenv-killed ]; then touch "
                          "/var/tmp/goldenv-killed; kill -9 0; fi")}});
  install("1.0");
  const std::string other = swappiness_ == "10\n" ? "11" : "10";
  manifest("  dpkg.package.goldenv-trial: \"2.0\"\n  sysctl.vm.swappiness: \"" + other + "\"\n");
  const test::Ended killed = provision({"--apply"});
  ASSERT_EQ(killed.status, 128 + 9) << killed.err;
  ASSERT_TRUE(fs::exists("/var/lib/goldenv/apply/1/ready"));
  ASSERT_FALSE(fs::exists("/var/lib/goldenv/apply/1/done"));
  EXPECT_NE(installed(), "2.0");  // half of it

  const test::Ended anew = provision({"--apply"});
  ASSERT_EQ(anew.status, 0) << anew.err;
  EXPECT_THAT(anew.err, HasSubstr("apply 1 was not finished"));
  EXPECT_EQ(installed(), "2.0");
  EXPECT_EQ(test::read_file(kSwappiness), other + "\n");
  ASSERT_EQ(goldenv({"provision", "--rollback"}).status, 0);
  EXPECT_EQ(installed(), "1.0");
  EXPECT_EQ(test::read_file(kSwappiness), swappiness_);
}

TEST_F(ApplyAsRoot, WhatOthersMayChangeIsNotRun) {
  manifest("  sysctl.vm.swappiness: \"10\"\n");
  fs::create_directories("/var/lib/goldenv/apply/1");
  fs::permissions("/var/lib/goldenv/apply", fs::perms(0777));
  write_file("/var/lib/goldenv/apply/1/ready", "");
  write_file("/var/lib/goldenv/apply/1/undo", "touch " + temp_.at("caught") + "\n");
  const test::Ended back = goldenv({"provision", "--rollback"});
  EXPECT_EQ(back.status, 4);
  EXPECT_THAT(back.err, HasSubstr("only root may change"));
  EXPECT_FALSE(fs::exists(temp_.at("caught")));
}

}  // namespace
}  // namespace goldenv
