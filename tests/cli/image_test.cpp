#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/made_image.h"
#include "support/program.h"
#include "support/temp_dir.h"

// Images in archives, as tests/images/generate writes them: the same torch on two distributions.

namespace goldenv::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ImageSource : public testing::Test {
 protected:
  Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    return run({.argv = std::move(words),
                .environment = {{{"HOME", temp_.path()}, {"PATH", "/usr/bin:/bin"}}},
                .folder = temp_.path()});
  }
  void make() {
    const Ended made = run({.argv = {GOLDENV_SOURCE_DIR "/tests/images/generate", temp_.path()}});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Json facts(const std::string& source) {
    const Ended ended = goldenv({"scan", source, "--format", "json"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    const Json all = Json::parse(ended.out, nullptr, false);
    return all.contains("facts") ? all["facts"] : Json::object();
  }
  TempDir temp_;
};

TEST_F(ImageSource, ThePairDiffersInItsDistributionAndInNothingElse) {
  make();
  const Ended ended = goldenv({"diff", "image:focal.tar", "image:jammy.tar", "--format", "json"});
  EXPECT_EQ(ended.status, 1) << ended.err;
  const Json found = Json::parse(ended.out, nullptr, false);
  std::set<std::string> keys;
  for (const Json& difference : found["differences"]) {
    keys.insert(difference["key"].get<std::string>());
    for (const Json& inner : difference.value("with", Json::array())) {
      keys.insert(inner.is_string() ? inner.get<std::string>() : inner["key"].get<std::string>());
    }
  }
  const std::set<std::string> expected = {"dpkg.package.gcc",
                                          "dpkg.package.gcc-11",
                                          "dpkg.package.gcc-9",
                                          "dpkg.package.libc6",
                                          "dpkg.package.libstdc++6",
                                          "dpkg.package.python3",
                                          "dpkg.package.python3.10",
                                          "dpkg.package.python3.8",
                                          "gcc",
                                          "glibc",
                                          "glibc.build_id",
                                          "glibc.package",
                                          "libstdcxx",
                                          "os.name",
                                          "os.release",
                                          "python",
                                          "python.copies"};
  EXPECT_EQ(keys, expected) << ended.out;
}

TEST_F(ImageSource, WhatItSaysIsOfTheImageAndNotOfThisMachine) {
  make();
  const Json here = facts("image:focal.tar");
  EXPECT_EQ(here["glibc"]["value"], "2.31");
  EXPECT_EQ(here["torch"]["value"], "2.1.2+cu121");
  EXPECT_EQ(here["nccl"]["value"], "2.18.1");
  EXPECT_EQ(here["env.CUDA_VERSION"]["value"], "12.1.1");
  EXPECT_EQ(here["kernel"]["unknown"], "not-live");
  EXPECT_EQ(here["driver"]["unknown"], "not-live");
  EXPECT_EQ(here["image.id"]["value"].get<std::string>().size(), 71u);
  EXPECT_THAT(here.dump(), AllOf(HasSubstr("docker.io/library/ubuntu:20.04"),
                                 Not(HasSubstr("hunter2")), Not(HasSubstr("NCCL_DEBUG"))));
  // One key alone, and the id alone.
  EXPECT_THAT(goldenv({"scan", "image:jammy.tar#train:jammy", "--only", "image.id"}).out,
              HasSubstr("sha256:"));
  EXPECT_THAT(goldenv({"explain", "image.id", "image:jammy.tar"}).out,
              HasSubstr("org.opencontainers.image.base.name docker.io/library/ubuntu:22.04"));
}

TEST_F(ImageSource, ALockOfOneIsMetByItself) {
  make();
  ASSERT_EQ(goldenv({"lock", "image:focal.tar", "-o", "m.yaml"}).status, 0);
  const Ended same = goldenv({"check", "m.yaml", "image:focal.tar"});
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_EQ(goldenv({"check", "m.yaml", "image:jammy.tar"}).status, 1);
}

TEST_F(ImageSource, TheNameOfTheHostThatBuiltItIsNotItsOwn) {
  MadeTar tar;
  tar.file("etc/hostname", "buildkitsandbox\n").file("etc/os-release", "ID=debian\n");
  MadeImage::of({MadeImage::zipped(tar)}).write(temp_);
  EXPECT_EQ(facts("image:app.tar")["host.name"]["unknown"], "not-live");
  const Ended locked = goldenv({"lock", "image:app.tar"});
  EXPECT_THAT(locked.out,
              AllOf(HasSubstr("name: image:app.tar"), Not(HasSubstr("buildkitsandbox"))))
      << locked.err;
}

TEST_F(ImageSource, WhatIsNoImageIsBadInput) {
  temp_.file("text", "hello\n");
  MadeTar out;
  out.file("../../etc/passwd", "x");
  MadeImage::of({MadeImage::zipped(out)}).write(temp_, "out.tar");
  for (const char* word : {"image:", "image:none.tar", "image:text", "image:out.tar", "image:.",
                           "image:none.tar#x", "image:/proc/version", "image:/dev/null"}) {
    const Ended ended = goldenv({"scan", word});
    EXPECT_EQ(ended.status, 2) << word << ended.err;
    EXPECT_EQ(ended.out, "") << word;
    EXPECT_THAT(ended.err, testing::MatchesRegex("[^\n]+\n")) << word;
  }
}

}  // namespace
}  // namespace goldenv::test
