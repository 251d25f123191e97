#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

/// Runs goldenv in a folder of its own with a small environment.
class CommandLine : public ::testing::Test {
 protected:
  test::Ended goldenv(std::vector<std::string> words, std::string input = {},
                      std::map<std::string, std::string> more = {}) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    std::map<std::string, std::string> environment = {
        {"PATH", "/usr/bin:/bin"}, {"HOME", temp_.folder("home")}, {"LANG", "C.UTF-8"}};
    environment.merge(more);
    return test::run({std::move(words), environment, temp_.path(), std::move(input)});
  }

  std::string snapshot(const std::string& name, const std::string& facts) {
    return temp_.file(name, "goldenv_snapshot: 0\nsource: x\nlisted: []\nfacts:\n" + facts);
  }

  test::TempDir temp_;
};

TEST_F(CommandLine, HelpAndVersionGoToStandardOutput) {
  EXPECT_EQ(goldenv({"--version"}).status, 0);
  const test::Ended help = goldenv({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"scan", "lock", "check", "diff", "explain", "root:DIR"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  for (const char* command : {"scan", "lock", "check", "diff", "explain"}) {
    const test::Ended one = goldenv({command, "--help"});
    EXPECT_EQ(one.status, 0);
    EXPECT_NE(one.out.find("Example: goldenv "), std::string::npos) << command;
  }
}

TEST_F(CommandLine, HelpShowsOnlyWhatIsBuilt) {
  const std::string help = goldenv({"--help"}).out;
  for (const char* word : {"bisect", "provision", "ssh:", "git:", "doctor"}) {
    EXPECT_EQ(help.find(word), std::string::npos) << word;
  }
}

TEST_F(CommandLine, BadUsageIsTwoAndOneLineOnStandardError) {
  const std::vector<std::vector<std::string>> all = {{"scna"},
                                                     {"scan", "--onyl", "x"},
                                                     {"scan", "ssh:gpu17"},
                                                     {"diff"},
                                                     {"explain"},
                                                     {"explain", "drivr"},
                                                     {"scan", "none.yaml"},
                                                     {"check"},
                                                     {"lock", "a", "b"},
                                                     {"scan", "--only", "nonsense.key"},
                                                     {"diff", "-", "-"},
                                                     {"check", "--fail-on", "never"},
                                                     {"scan", "--format", "xml"},
                                                     {"scan", "root:/none"},
                                                     {"scan", "--report", "json"}};
  for (const auto& words : all) {
    const test::Ended ended = goldenv(words);
    EXPECT_EQ(ended.status, 2) << words[0] << ": " << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(CommandLine, NearMissesAreNamed) {
  EXPECT_NE(goldenv({"scna"}).err.find("did you mean scan?"), std::string::npos);
  EXPECT_NE(goldenv({"scan", "--onyl", "x"}).err.find("did you mean --only?"), std::string::npos);
  EXPECT_NE(goldenv({"explain", "drivr"}).err.find("did you mean driver?"), std::string::npos);
}

TEST_F(CommandLine, DiffOfTwoSnapshotsHasTheStatusOfItsFindings) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  snapshot("b.yaml", "  driver: {value: 535.129.03}\n");
  snapshot("c.yaml", "  nccl: {value: 2.18.1}\n");
  const test::Ended differs = goldenv({"diff", "a.yaml", "b.yaml"});
  EXPECT_EQ(differs.status, 1);
  EXPECT_NE(differs.out.find("535.129.01 -> 535.129.03  patch, newer"), std::string::npos);
  EXPECT_EQ(differs.err, "");
  EXPECT_EQ(goldenv({"diff", "a.yaml", "a.yaml"}).status, 0);
  EXPECT_EQ(goldenv({"diff", "a.yaml", "c.yaml"}).status, 0);
  EXPECT_EQ(goldenv({"diff", "a.yaml", "c.yaml", "--strict"}).status, 3);
  EXPECT_EQ(goldenv({"diff", "a.yaml", "b.yaml", "c.yaml"}).status, 1);
}

TEST_F(CommandLine, CheckReadsTheManifestAndTheSnapshot) {
  temp_.file("goldenv.yaml",
             "goldenv: 1\npins:\n  driver: 535.129.03\n  nccl: {want: 2.18.1, level: should}\n");
  snapshot("good.yaml", "  driver: {value: 535.129.03}\n  nccl: {value: 2.18.1}\n");
  snapshot("should.yaml", "  driver: {value: 535.129.03}\n  nccl: {value: 2.19.3}\n");
  snapshot("bad.yaml", "  driver: {value: 535.129.01}\n  nccl: {value: 2.18.1}\n");
  snapshot("unknown.yaml", "  driver: {unknown: denied, needs: root}\n  nccl: {value: 2.18.1}\n");
  EXPECT_EQ(goldenv({"check", "good.yaml"}).status, 0);
  EXPECT_EQ(goldenv({"check", "should.yaml"}).status, 0);
  EXPECT_EQ(goldenv({"check", "should.yaml", "--fail-on", "should"}).status, 1);
  EXPECT_EQ(goldenv({"check", "bad.yaml"}).status, 1);
  EXPECT_EQ(goldenv({"check", "unknown.yaml"}).status, 3);
  EXPECT_EQ(goldenv({"check", "unknown.yaml", "--allow-unknown"}).status, 0);
  EXPECT_EQ(goldenv({"check", "goldenv.yaml", "good.yaml", "bad.yaml"}).status, 1);
  const test::Ended input = goldenv({"check", "--manifest", "goldenv.yaml", "-"},
                                    "{\"goldenv_snapshot\": 0, \"facts\": {\"driver\": {\"value\": "
                                    "\"535.129.03\"}, \"nccl\": {\"value\": \"2.18.1\"}}}");
  EXPECT_EQ(input.status, 0) << input.err;
}

TEST_F(CommandLine, BadManifestsAreTwoWithThePlace) {
  temp_.file("m.yaml", "goldenv: 1\npins:\n  sysctl.kernel.watchdog_tresh: 60\n");
  const test::Ended ended = goldenv({"check", "m.yaml"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "m.yaml:3:3: unknown key \"sysctl.kernel.watchdog_tresh\"; did you mean "
            "sysctl.kernel.watchdog_thresh?\n");
}

TEST_F(CommandLine, AResultFileIsThereWholeOrNotAtAll) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  EXPECT_EQ(goldenv({"scan", "a.yaml", "-o", "out.json", "--report", "yaml=out.yaml"}).status, 0);
  EXPECT_TRUE(test::read_file(temp_.at("out.json")).starts_with("{"));
  EXPECT_TRUE(test::read_file(temp_.at("out.yaml")).starts_with("goldenv_snapshot: 0"));
  EXPECT_EQ(goldenv({"diff", "out.json", "out.yaml"}).status, 0);
  const test::Ended nowhere = goldenv({"scan", "a.yaml", "-o", "no/such/folder.yaml"});
  EXPECT_EQ(nowhere.status, 4);
  EXPECT_NE(nowhere.err.find("no/such/folder.yaml"), std::string::npos);
  EXPECT_EQ(goldenv({"scan", "a.yaml", "-o", "/dev/full"}).status, 4);
}

TEST_F(CommandLine, AnOldResultKeepsItsModeAndALinkStaysOne) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  temp_.file("old.yaml", "x");
  ASSERT_EQ(::chmod(temp_.at("old.yaml").c_str(), 0600), 0);
  temp_.link("link.yaml", "old.yaml");
  EXPECT_EQ(goldenv({"scan", "a.yaml", "-o", "link.yaml"}).status, 0);
  struct stat status {};
  ASSERT_EQ(::lstat(temp_.at("link.yaml").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::stat(temp_.at("old.yaml").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_TRUE(test::read_file(temp_.at("old.yaml")).starts_with("goldenv_snapshot"));
}

TEST_F(CommandLine, NoPartOfAPasswordInAPathListReachesAnyOutput) {
  const std::map<std::string, std::string> planted = {
      {"LD_LIBRARY_PATH", "https://user:SECRETpw123@h/x"},
      {"PYTHONPATH", "https://user:SECRETpw456@h/v"}};
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"scan", "--format", "json", "--all"}, {"explain", "nccl"}, {"lock"}, {}}) {
    const test::Ended ended = goldenv(words, "", planted);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ((ended.out + ended.err).find("SECRETpw"), std::string::npos);
  }
}

TEST_F(CommandLine, ColourNeverReachesAPipe) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  snapshot("b.yaml", "  driver: {value: 535.129.03}\n");
  EXPECT_EQ(goldenv({"diff", "a.yaml", "b.yaml"}, "", {{"TERM", "xterm"}}).out.find('\x1b'),
            std::string::npos);
}

TEST_F(CommandLine, ThisVeryHostMatchesItsOwnLock) {
  const test::Ended lock = goldenv({"lock", "-o", "goldenv.yaml"});
  ASSERT_EQ(lock.status, 0) << lock.err;
  const test::Ended check = goldenv({"check", "--fail-on", "info"});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_EQ(goldenv({}).status, 0);
  EXPECT_EQ(goldenv({"diff", "@live"}).status, 0);
}

TEST_F(CommandLine, ASnapshotOfThisHostIsReadBackEqual) {
  ASSERT_EQ(goldenv({"scan", "-o", "me.yaml"}).status, 0);
  ASSERT_EQ(goldenv({"scan", "-o", "me.json"}).status, 0);
  const test::Ended diff = goldenv({"diff", "me.yaml", "me.json"});
  EXPECT_EQ(diff.status, 0) << diff.out;
}

}  // namespace
}  // namespace goldenv
