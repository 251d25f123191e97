#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// What check and its kin say in their first line, and of many machines at once.
class Verdict : public ::testing::Test {
 protected:
  void snapshot(const std::string& name, const std::string& facts) {
    temp_.file(name, "goldenv_snapshot: 0\nsource: " + name + "\nlisted: [env]\nfacts:\n" + facts);
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.folder("home")}};
    return test::run({std::move(words), environment, temp_.path(), ""});
  }

  test::TempDir temp_;
};

TEST_F(Verdict, AMustThatIsUnknownIsNoMatch) {
  temp_.file("goldenv.yaml", "goldenv: 1\npins:\n  file@/nowhere/x: " + std::string(64, 'a') +
                                 "\n  driver: 535.129.03\n");
  snapshot("open.yaml",
           "  driver: {value: 535.129.03}\n"
           "  file@/nowhere/x: {unknown: denied, needs: root}\n");
  const test::Ended open = goldenv({"check", "open.yaml"});
  EXPECT_EQ(open.status, 3);
  EXPECT_THAT(open.out, StartsWith("open.yaml cannot be told to match goldenv.yaml: 1 must of 2 "
                                   "pins unknown\n"));
  EXPECT_THAT(open.out, EndsWith("next: goldenv explain file@/nowhere/x open.yaml\n"));
}

TEST_F(Verdict, BareGoldenvAnswersAsCheckDoes) {
  // A file that nobody can read from its start, root neither.
  temp_.file("goldenv.yaml",
             "goldenv: 1\nfiles:\n  /proc/self/mem: {sha256: " + std::string(64, 'a') + "}\n");
  const test::Ended check = goldenv({"check"});
  EXPECT_EQ(check.status, 3) << check.err;
  const test::Ended bare = goldenv({});
  EXPECT_THAT(bare.out, HasSubstr("cannot be told to match goldenv.yaml"));
  // A contradiction at must on this very machine weighs more.
  EXPECT_TRUE(bare.status == 3 || bare.status == 1) << bare.status;
  temp_.file("goldenv.yaml", "goldenv: 1\n");
  EXPECT_EQ(goldenv({}).status, 2);
}

TEST_F(Verdict, WhatOneReasonHidesIsOneLine) {
  std::string pins = "goldenv: 1\npins:\n";
  std::string facts;
  for (const char* name : {"driver", "nccl", "cudnn", "torch", "python"}) {
    pins += "  " + std::string(name) + ": {want: \"1.2\", level: should}\n";
    facts += "  " + std::string(name) + ": {unknown: denied, detail: no way in}\n";
  }
  temp_.file("goldenv.yaml", pins);
  snapshot("a.yaml", facts);
  EXPECT_THAT(goldenv({"check", "a.yaml"}).out,
              HasSubstr("unknown (should), 5 pins: denied: no way in: driver, cudnn, nccl, "));
}

TEST_F(Verdict, AValueThatReadsLikeAStateIsQuoted) {
  snapshot("a.yaml", "  env.NCCL_DEBUG: {value: absent}\n");
  snapshot("b.yaml", "  env.NCCL_DEBUG: {value: unknown (denied)}\n");
  snapshot("c.yaml", "  driver: {absent: no module}\n");
  EXPECT_THAT(goldenv({"diff", "a.yaml", "b.yaml"}).out,
              HasSubstr("\"absent\" -> \"unknown (denied)\""));
  EXPECT_THAT(goldenv({"diff", "a.yaml", "c.yaml"}).out, HasSubstr("\"absent\" -> absent"));
}

TEST_F(Verdict, TheNextCommandCanBePasted) {
  temp_.file("m.yaml", "goldenv: 1\nfiles:\n  \"/data/$(touch pwned) x; y\": absent\n");
  snapshot("sp ace.yaml",
           "  \"file@/data/$(touch pwned) x; y\": {value: " + std::string(64, 'a') + "}\n");
  const test::Ended ended = goldenv({"check", "m.yaml", "sp ace.yaml"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out,
              EndsWith("next: goldenv explain 'file@/data/$(touch pwned) x; y' 'sp ace.yaml'\n"));
}

TEST_F(Verdict, OfThreeMachinesThoseAlikeAreToldTogether) {
  temp_.file("m.yaml", "goldenv: 1\npins:\n  driver: 535.129.03\n");
  for (const char* name : {"a", "b", "c"}) {
    snapshot(std::string(name) + ".yaml",
             "  driver: {value: 535.129.03}\n  host.name: {value: " + std::string(name) + "}\n");
  }
  snapshot("odd.yaml", "  driver: {value: 535.129.01}\n  host.name: {value: odd}\n");
  const test::Ended ended = goldenv({"check", "m.yaml", "odd.yaml", "a.yaml", "b.yaml", "c.yaml"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, StartsWith("each of 3 machines matches m.yaml (1 pin)\n  a, b, c\n"
                                    "odd does not match m.yaml: 1 must of 1 pin"));
  const test::Ended scan = goldenv({"scan", "odd.yaml", "a.yaml", "b.yaml", "c.yaml"});
  EXPECT_THAT(scan.out, HasSubstr("group 1, 3 machines: a, b, c"));
  EXPECT_THAT(scan.out, HasSubstr("535.129.03 -> 535.129.01"));
}

TEST_F(Verdict, SourcesThatCouldNotBeReachedAreCounted) {
  temp_.file("m.yaml", "goldenv: 1\npins:\n  driver: 535.129.03\n");
  snapshot("a.yaml", "  driver: {value: 535.129.03}\n");
  // The kernel's own files of it are not for reading, for root neither.
  const std::vector<std::string> words = {"check", "m.yaml", "a.yaml", "/proc/self/mem"};
  const test::Ended text = goldenv(words);
  EXPECT_EQ(text.status, 4);
  EXPECT_THAT(text.out, EndsWith("1 of 2 sources could not be reached\n"));
  std::vector<std::string> as_json = words;
  as_json.insert(as_json.end(), {"--format", "json"});
  const auto node = nlohmann::json::parse(goldenv(as_json).out);
  EXPECT_EQ(node.at("unreached"), 1);
  EXPECT_EQ(node.at("checks").size(), 1u);
}

TEST_F(Verdict, ALinkOfAStrangerIsNotFollowed) {
  if (geteuid() != 0) {
    // Only root can lay a link as somebody else; of one's own user it is followed.
    temp_.file("target.yaml", "goldenv: 1\npins:\n  driver: 1.2\n");
    std::filesystem::create_symlink("target.yaml", temp_.at("own.yaml"));
    snapshot("a.yaml", "  driver: {value: \"1.2\"}\n");
    EXPECT_EQ(goldenv({"check", "own.yaml", "a.yaml"}).status, 0);
    return;
  }
  const std::string open = temp_.folder("open");
  ASSERT_EQ(chmod(open.c_str(), 01777), 0);
  temp_.file("target.yaml", "goldenv: 1\npins:\n  driver: 1.2\n");
  std::filesystem::create_symlink("../target.yaml", open + "/m.yaml");
  ASSERT_EQ(lchown((open + "/m.yaml").c_str(), 65534, 65534), 0);
  snapshot("a.yaml", "  driver: {value: \"1.2\"}\n");
  const test::Ended ended = goldenv({"check", "open/m.yaml", "a.yaml"});
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.err, HasSubstr("a link of another user in a folder open to all"));
}

TEST_F(Verdict, AClosedFamilyLeavesThePackageThatIsPinned) {
  temp_.file("m.yaml",
             "goldenv: 1\npins:\n  python.package.numpy: 1.26.4\nclosed: [python.package]\n");
  temp_.file("a.yaml",
             "goldenv_snapshot: 0\nsource: a\nlisted: [python.package]\nfacts:\n"
             "  python.package.numpy: {value: 1.26.4}\n"
             "  python.package.numpy.origin: {value: wheel}\n");
  EXPECT_THAT(goldenv({"check", "m.yaml", "a.yaml"}).out, HasSubstr(" matches m.yaml (1 pin)"));
  temp_.file("b.yaml",
             "goldenv_snapshot: 0\nsource: b\nlisted: [python.package]\nfacts:\n"
             "  python.package.numpy: {value: 1.26.4}\n"
             "  python.package.scipy: {value: 1.11.4}\n");
  EXPECT_THAT(goldenv({"check", "m.yaml", "b.yaml"}).out,
              HasSubstr("does not match m.yaml: 1 not pinned where the manifest is closed"));
}

TEST_F(Verdict, AnotherBuildOfThePinnedVersionIsCalledSo) {
  temp_.file("m.yaml",
             "goldenv: 1\npins:\n  nccl: 2.18.1\n  nccl.build_id: " + std::string(40, 'a') + "\n");
  snapshot("a.yaml",
           "  nccl: {value: 2.18.1}\n  nccl.build_id: {value: " + std::string(40, 'b') + "}\n");
  EXPECT_THAT(goldenv({"check", "m.yaml", "a.yaml"}).out, HasSubstr("same version, another build"));
}

TEST_F(Verdict, TheCodeOfALibraryIsNoVersion) {
  temp_.file("m.yaml", "goldenv: 1\npins:\n  nccl: 21903\n");
  snapshot("a.yaml", "  nccl: {value: 2.19.3}\n");
  const test::Ended ended = goldenv({"check", "m.yaml", "a.yaml"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "m.yaml:3:9: 21903 is a code for 2.19.3; expected 2.19.3\n");
}

TEST_F(Verdict, ALockThatFloatsLetsGoOfWhatNamesABuild) {
  snapshot("a.yaml",
           "  module.nvidia.loaded: {value: 535.129.03}\n"
           "  module.nvidia.loaded.srcversion: {value: C1A58FB0B940E30F6900BD62}\n"
           "  cuda.toolkit: {value: 12.1.1}\n"
           "  cuda.toolkit.link: {value: [/usr/local/cuda, /usr/local/cuda-12.1]}\n");
  EXPECT_THAT(goldenv({"lock", "a.yaml"}).out, HasSubstr("srcversion"));
  const std::string floats = goldenv({"lock", "a.yaml", "--float", "minor"}).out;
  EXPECT_THAT(floats, HasSubstr("535.*"));
  EXPECT_THAT(floats, Not(HasSubstr("srcversion")));
  EXPECT_THAT(floats, Not(HasSubstr("cuda-12.1")));
}

TEST_F(Verdict, ADifferenceWeighsWhatTheManifestSays) {
  snapshot("a.yaml", "  clocksource: {value: tsc}\n  nccl: {value: 2.18.1}\n");
  snapshot("b.yaml", "  clocksource: {value: hpet}\n  nccl: {unknown: denied}\n");
  const std::string without = goldenv({"diff", "a.yaml", "b.yaml"}).out;
  EXPECT_THAT(without, HasSubstr("should  tuning  clocksource  tsc -> hpet"));
  EXPECT_THAT(without, HasSubstr("in part only: 1\n"));
  temp_.file("goldenv.yaml", "goldenv: 1\npins:\n  clocksource: tsc\n  nccl: 2.18.1\n");
  const std::string with = goldenv({"diff", "a.yaml", "b.yaml"}).out;
  EXPECT_THAT(with, HasSubstr("must  tuning  clocksource  tsc -> hpet"));
  EXPECT_THAT(with, HasSubstr("in part only: 1 (pinned: nccl)\n"));
  temp_.file("goldenv.yaml", "goldenv: 2\n");
  EXPECT_EQ(goldenv({"diff", "a.yaml", "b.yaml"}).status, 2);
}

TEST_F(Verdict, ALockOfSeveralPinsWhatTheyShare) {
  snapshot("a.yaml", "  driver: {value: 535.129.03}\n  nccl: {value: 2.18.1}\n");
  snapshot("b.yaml", "  driver: {value: 535.129.03}\n  nccl: {value: 2.19.3}\n");
  const test::Ended ended = goldenv({"lock", "a.yaml", "b.yaml"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("535.129.03"));
  EXPECT_THAT(ended.out, Not(HasSubstr("nccl")));
  EXPECT_EQ(ended.err, "goldenv: not pinned, other on b.yaml: nccl\n");
}

TEST_F(Verdict, ALockOfSeveralIsMetByEachOfThem) {
  snapshot("a.yaml", "  driver: {value: 535.129.03}\n  env.NCCL_DEBUG: {value: WARN}\n");
  snapshot("b.yaml",
           "  driver: {unknown: denied}\n  env.NCCL_DEBUG: {value: INFO}\n"
           "  env.NCCL_P2P_DISABLE: {value: \"1\"}\n  nccl: {value: 2.18.1}\n");
  temp_.file("both.yaml", "goldenv: 1\n");
  snapshot("c.yaml", "  clocksource: {value: tsc}\n");
  const test::Ended none = goldenv({"lock", "a.yaml", "b.yaml"});
  EXPECT_EQ(none.status, 2);  // they share nothing
  EXPECT_THAT(none.err, HasSubstr("not pinned, other on b.yaml: env.NCCL_DEBUG\n"));
  EXPECT_THAT(none.err, HasSubstr("not pinned, unknown on b.yaml: driver\n"));
  snapshot("a.yaml", "  nccl: {value: 2.18.1}\n  env.NCCL_DEBUG: {value: WARN}\n");
  ASSERT_EQ(goldenv({"lock", "a.yaml", "b.yaml", "-o", "both.yaml"}).status, 0);
  for (const char* one : {"a.yaml", "b.yaml"}) {
    EXPECT_EQ(goldenv({"check", "both.yaml", one, "--fail-on", "should"}).status, 0) << one;
  }
}

TEST_F(Verdict, ASecretThatIsWantedIsShownNowhereAndDecidesNothing) {
  temp_.file("m.yaml",
             "goldenv: 1\npins:\n"
             "  env.NCCL_NET: {want: \"https://u:S3CRET@h\", why: \"token=S3CRET\"}\n"
             "  kernel.cmdline: [quiet, \"password=S3CRET\"]\n"
             "  kernel.cmdline.password: S3CRET\n");
  snapshot("a.yaml",
           "  env.NCCL_NET: {value: \"https://u:S3CRET@h\"}\n"
           "  kernel.cmdline: {value: [quiet, \"password=S3CRET\"]}\n"
           "  kernel.cmdline.password: {value: \"***\"}\n");
  for (const char* format : {"text", "json", "yaml"}) {
    const test::Ended ended = goldenv({"check", "m.yaml", "a.yaml", "--format", format});
    EXPECT_EQ(ended.status, 3) << ended.out;
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("S3CRET")));
  }
  EXPECT_THAT(goldenv({"explain", "env.NCCL_NET", "a.yaml"}).out, Not(HasSubstr("S3CRET")));
}

TEST_F(Verdict, ASecretInAVariableOffTheListIsComparedByItsDigest) {
  temp_.file("m.yaml", "goldenv: 1\npins:\n  env.MY_SITE: \"https://u:S3CRET@h\"\n");
  snapshot("a.yaml", "  env.MY_SITE: {value: \"https://u:S3CRET@h\"}\n");
  snapshot("b.yaml", "  env.MY_SITE: {value: \"https://u:other@h\"}\n");
  EXPECT_EQ(goldenv({"check", "m.yaml", "a.yaml"}).status, 0);
  const test::Ended ended = goldenv({"check", "m.yaml", "b.yaml"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("S3CRET")));
}

TEST_F(Verdict, AScanThatReachesOneOfTwoStillGivesAList) {
  snapshot("a.yaml", "  driver: {value: 535.129.03}\n");
  const test::Ended ended = goldenv({"scan", "a.yaml", "/proc/self/mem", "--format", "json"});
  EXPECT_EQ(ended.status, 4);
  const auto node = nlohmann::json::parse(ended.out);
  EXPECT_EQ(node.at("snapshots").size(), 1u);
  EXPECT_EQ(node.at("unreached"), 1);
  EXPECT_EQ(goldenv({"scan", "a.yaml", "--all", "--only", "driver"}).out.find("host.name"),
            std::string::npos);
}

TEST_F(Verdict, AFileThatMayNotGrowIsAStepThatFailed) {
  const test::Ended ended = test::run(
      {{"/bin/sh", "-c", "ulimit -f 1; exec \"$0\" scan --all -o z.yaml", GOLDENV_PROGRAM},
       std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}},
       temp_.path(),
       ""});
  EXPECT_EQ(ended.status, 4) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("too large"));
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path()));
}

TEST_F(Verdict, AnOptionWithoutItsValueIsNamed) {
  EXPECT_EQ(goldenv({"scan", "--output"}).err, "goldenv: --output needs FILE behind it\n");
  EXPECT_EQ(goldenv({"check", "--fast", "-o"}).err, "goldenv: --output needs FILE behind it\n");
}

TEST_F(Verdict, AReportMayGoToStandardOutput) {
  snapshot("a.yaml", "  driver: {value: 535.129.03}\n");
  const test::Ended ended = goldenv({"scan", "a.yaml", "-o", "x.json", "--report", "yaml=-"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("goldenv_snapshot: 0"));
  EXPECT_FALSE(std::filesystem::exists(temp_.at("-")));
}

}  // namespace
}  // namespace goldenv
