#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

/// `check` with words that cannot be meant as they stand.
class CheckWords : public ::testing::Test {
 protected:
  CheckWords() {
    temp_.file("machine.yaml",
               "goldenv_snapshot: 0\nsource: x\nlisted: [env]\nfacts:\n"
               "  driver: {value: 535.129.01}\n");
    temp_.file("me.yaml", "goldenv: 1\npins:\n  driver: 535.129.03\n");
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.folder("home")}};
    return test::run({std::move(words), environment, temp_.path(), ""});
  }

  test::TempDir temp_;
};

TEST_F(CheckWords, ASnapshotBeforeItsManifestIsTold) {
  temp_.file("goldenv.yaml", "goldenv: 1\npins:\n  driver: 535.129.01\n");
  const test::Ended swapped = goldenv({"check", "machine.yaml", "me.yaml"});
  EXPECT_EQ(swapped.status, 2);
  EXPECT_NE(swapped.err.find("did you mean goldenv check me.yaml machine.yaml?"), std::string::npos)
      << swapped.err;
  EXPECT_EQ(goldenv({"check", "me.yaml", "machine.yaml"}).status, 1);
  EXPECT_EQ(goldenv({"check", "machine.yaml"}).status, 0);
  // Named outright, a manifest may be what is checked.
  EXPECT_EQ(goldenv({"check", "--manifest", "goldenv.yaml", "machine.yaml", "me.yaml"}).status, 1);
}

TEST_F(CheckWords, AManifestThatPinsNothingMatchesNothing) {
  temp_.file("empty.yaml", "goldenv: 1\nname: empty\n");
  const test::Ended empty = goldenv({"check", "empty.yaml", "machine.yaml"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("nothing is pinned"), std::string::npos) << empty.err;
  temp_.file("closed.yaml", "goldenv: 1\nclosed: [env]\n");
  EXPECT_EQ(goldenv({"check", "closed.yaml", "machine.yaml"}).status, 0);
  temp_.file("more.yaml", "goldenv: 1\nextends: [me.yaml]\n");
  EXPECT_EQ(goldenv({"check", "more.yaml", "machine.yaml"}).status, 1);
}

TEST_F(CheckWords, ASlipInAVariableIsHintedAt) {
  temp_.file("slip.yaml",
             "goldenv: 1\npins:\n  env.NCCL_DBUG: absent\n"
             "  python.package.trnsformers: {want: absent, level: info}\n");
  const test::Ended slip = goldenv({"check", "slip.yaml", "machine.yaml"});
  EXPECT_EQ(slip.err,
            "goldenv: slip.yaml:3: env.NCCL_DBUG is no well-known name; did you mean "
            "env.NCCL_DEBUG?\n");
}

TEST_F(CheckWords, SeveralSnapshotsInOneFileAreEachChecked) {
  ASSERT_EQ(goldenv({"scan", "machine.yaml", "machine.yaml", "-o", "two.yaml"}).status, 0);
  const test::Ended ended = goldenv({"check", "me.yaml", "two.yaml"});
  EXPECT_EQ(ended.status, 1);
  const std::size_t first = ended.out.find("does not match");
  ASSERT_NE(first, std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("does not match", first + 1), std::string::npos) << ended.out;
}

TEST_F(CheckWords, APythonThatIsNotThereIsBadUsage) {
  const test::Ended ended = goldenv({"check", "me.yaml", "@live", "--python", "/nope"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_NE(ended.err.find("--python: "), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace goldenv
