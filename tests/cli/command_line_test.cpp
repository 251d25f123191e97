#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

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
  for (const char* command : {"scan", "lock", "check", "diff", "explain", "run", "shell", "env"}) {
    const test::Ended one = goldenv({command, "--help"});
    EXPECT_EQ(one.status, 0);
    EXPECT_NE(one.out.find("Example: goldenv "), std::string::npos) << command;
  }
}

TEST_F(CommandLine, EveryOptionIsInTheDocuments) {
  std::string documents = test::read_file(GOLDENV_SOURCE_DIR "/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(GOLDENV_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") {
      documents += test::read_file(entry.path());
    }
  }
  std::string help = goldenv({"--help"}).out;
  for (const char* command : {"scan", "lock", "check", "diff", "explain", "run", "shell", "env"}) {
    help += goldenv({command, "--help"}).out;
  }
  std::size_t options = 0;
  for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at)) {
    const std::size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    const std::string option = help.substr(at, end - at);
    EXPECT_NE(documents.find(option), std::string::npos) << option;
    ++options;
    at = end;
  }
  EXPECT_GT(options, 20u);
}

TEST_F(CommandLine, HelpShowsOnlyWhatIsBuilt) {
  const std::string help = goldenv({"--help"}).out;
  for (const char* word : {"bisect", "slurm:", "doctor"}) {
    EXPECT_EQ(help.find(word), std::string::npos) << word;
  }
}

TEST_F(CommandLine, BadUsageIsTwoAndOneLineOnStandardError) {
  const std::vector<std::vector<std::string>> all = {{"scna"},
                                                     {"scan", "--onyl", "x"},
                                                     {"scan", "slurm:gpu17"},
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
                                                     {"scan", "--report", "json"},
                                                     {"scan", "--report", "json="},
                                                     {"scan", "-o", ""},
                                                     {"scan", "--output="},
                                                     {"check", "--manifest", ""},
                                                     {"--help=3"},
                                                     {"scan", "--help=3"},
                                                     {"scan", "--all=3"},
                                                     {"check", "--fast="},
                                                     {"--version=3"},
                                                     {"explain", "sysctl.x..y"},
                                                     {"explain", "sysctl.kernel."},
                                                     {"explain", "sysctl.kernel/../../etc"}};
  for (const auto& words : all) {
    const test::Ended ended = goldenv(words);
    EXPECT_EQ(ended.status, 2) << words[0] << ": " << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(CommandLine, BadValuesOfOptionsAreNamed) {
  EXPECT_EQ(goldenv({"scan", "-o", ""}).err, "goldenv: --output needs FILE, not an empty word\n");
  EXPECT_EQ(goldenv({"scan", "--all=3"}).err, "goldenv: --all takes no value; it is given \"3\"\n");
  EXPECT_EQ(goldenv({"scan", "--report", "json="}).err,
            "goldenv: --report is FORMAT=FILE with text, json or yaml, not \"json=\"\n");
  EXPECT_EQ(goldenv({"explain", "sysctl.x..y"}).err,
            "goldenv: \"sysctl.x..y\" can name no file below /proc/sys: a part between its dots is "
            "empty; expected a name such as sysctl.kernel.watchdog_thresh\n");
}

TEST_F(CommandLine, NoPasswordInAWordIsEchoed) {
  const std::string url = "https://u:SECRETpw@host/x";
  temp_.file("m.yaml", "goldenv: 1\nextends: git:" + url + "@abc:m.yaml\n");
  temp_.file("n.yaml", "goldenv: 1\nextends: [\"" + url + "/" + std::string(60, 'x') + "\"]\n");
  temp_.file("o.yaml", "goldenv: 1\nname: *https://uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu:SECRETpw@h\n");
  const std::string long_user = "https://u:SECRETpw" + std::string(100, 'x') + "@host/x";
  temp_.file("p.yaml", "goldenv: 1\n\"" + long_user + "\": 1\n\"" + long_user + "\": 2\n");
  temp_.file("q.yaml", "goldenv: 1\npins: {\"" + long_user + "\": 1}\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"check", "m.yaml"},
                                             {"check", "n.yaml"},
                                             {"check", "o.yaml"},
                                             {"check", "p.yaml"},
                                             {"check", "q.yaml"},
                                             {"scan", url},
                                             {"scan", "ssh:u:SECRETpw@host"},
                                             {"scan", "@" + url},
                                             {"scan", "./" + url},
                                             {"scan", "root:" + url},
                                             {url},
                                             {"lock", "@live", url},
                                             {"scan", "--" + url},
                                             {"scan", "--format", url},
                                             {"scan", "--report", url},
                                             {"scan", "--only", url},
                                             {"scan", "--all=" + url},
                                             {"explain", url},
                                             {"check", "--manifest", url}}) {
    const test::Ended ended = goldenv(words);
    EXPECT_EQ(ended.status, 2) << words.back();
    EXPECT_EQ((ended.out + ended.err).find("SECRETpw"), std::string::npos) << ended.err;
  }
  const test::Ended named = goldenv({"check"}, "", {{"GOLDENV_MANIFEST", url}});
  EXPECT_EQ(named.status, 2);
  EXPECT_EQ(named.err.find("SECRETpw"), std::string::npos) << named.err;
  EXPECT_NE(named.err.find("https://***@host"), std::string::npos) << named.err;
  const test::Ended unwritten = goldenv({"scan", "m.yaml", "-o", "./" + url});
  EXPECT_EQ(unwritten.err.find("SECRETpw"), std::string::npos) << unwritten.err;
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

TEST_F(CommandLine, EveryBadInputBeginsWithItsFile) {
  std::string bomb = "goldenv: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int n = 0; n < 10; ++n) {
      bomb += (n == 0 ? "" : ", ") + last;
    }
    bomb += "]\n";
  }
  temp_.file("bomb.yaml", bomb);
  temp_.file("deep.yaml", "goldenv: 1\nname: " + std::string(100, '[') + "\n");
  temp_.file("junk.yaml", std::string("\x1f\x8b\x08\x00\xff\xfe", 6));
  temp_.file("wide.yaml", std::string("\xff\xfeg\0o\0", 6));
  temp_.file("large.yaml", std::string((16u << 20) + 1, 'x'));
  snapshot("snapshot.yaml", "  driver: {value: 535.129.01}\n");
  const std::pair<const char*, const char*> cases[] = {
      {"bomb.yaml", "bomb.yaml:7:"},
      {"deep.yaml", "deep.yaml:2:"},
      {"junk.yaml", "junk.yaml:1:1: "},
      {"wide.yaml", "wide.yaml:1:1: "},
      {"large.yaml", "large.yaml: larger than 16 MiB; expected "},
      {"snapshot.yaml", "snapshot.yaml:1:1: a snapshot; expected a manifest"}};
  for (const auto& [file, begins] : cases) {
    const test::Ended ended = goldenv({"check", "--manifest", file});
    EXPECT_EQ(ended.status, 2) << file;
    EXPECT_TRUE(ended.err.starts_with(begins)) << ended.err;
    EXPECT_NE(ended.err.find("expected"), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(CommandLine, BytesThatAreNoUtf8ComeBackFromAFile) {
  const std::string one = "tree/proc/sys/kernel/core_pattern";
  temp_.file(one, "/cores/caf\xE9\n");
  temp_.file("tree/data/caf\xE9", "x");
  const std::vector<std::string> only = {"--only", "sysctl.kernel.core_pattern", "--only",
                                         "file@/data/caf\xE9"};
  const auto scan = [&](const std::string& file) {
    std::vector<std::string> words = {"scan", "root:tree", "-o", file};
    words.insert(words.end(), only.begin(), only.end());
    const test::Ended ended = goldenv(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return test::read_file(temp_.at(file));
  };
  EXPECT_NE(scan("a.yaml").find("caf\\U0010FEE9"), std::string::npos);
  EXPECT_NE(scan("a.json").find("caf\\udbff\\udee9"), std::string::npos);
  const auto diff = [&](const std::string& a, const std::string& b) {
    return goldenv(
        {"diff", a, b, "--all", "--only", "sysctl.kernel.core_pattern", "--only", "file@**"});
  };
  for (const char* file : {"a.yaml", "a.json"}) {
    const test::Ended same = diff("root:tree", file);
    EXPECT_EQ(same.status, 0) << same.out << same.err;
  }
  temp_.file(one, "/cores/caf\xE8\n");
  scan("b.yaml");
  for (const char* other : {"root:tree", "b.yaml"}) {
    const test::Ended differs = diff("a.json", other);
    EXPECT_EQ(differs.status, 1) << differs.out << differs.err;
    EXPECT_NE(differs.out.find("caf\\xe9 -> /cores/caf\\xe8"), std::string::npos) << differs.out;
  }
}

TEST_F(CommandLine, AFolderWhereNothingIsWantedIsADifference) {
  temp_.file("tree/etc/old/x", "");
  temp_.file("m.yaml", "goldenv: 1\nfiles: {/etc/old: absent, /etc/none: absent}\n");
  const test::Ended ended = goldenv({"check", "m.yaml", "root:tree"});
  EXPECT_EQ(ended.status, 1) << ended.out;
  EXPECT_NE(ended.out.find("absent -> folder"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("/etc/none"), std::string::npos) << ended.out;
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

TEST_F(CommandLine, APythonThatIsNotThereIsBadUsage) {
  for (const std::string python : {"/nope", "./nope", "nope"}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"scan"}, {"lock"}, {"scan", "--only", "driver"}, {"diff", "@live", "@live"}}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--python", python});
      const test::Ended ended = goldenv(all);
      EXPECT_EQ(ended.status, 2) << words.front() << " " << python << ended.err;
      EXPECT_TRUE(ended.err.starts_with("goldenv: --python: the Python asked for, ")) << ended.err;
      EXPECT_EQ(ended.out, "");
    }
  }
}

TEST_F(CommandLine, ARelativePythonIsTakenFromTheCurrentFolder) {
  temp_.file("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
  temp_.file("venv/bin/python3", "");
  temp_.folder("venv/lib/python3.11/site-packages");
  for (const char* python : {"venv", "./venv", "venv/bin/python3"}) {
    const test::Ended ended = goldenv({"scan", "--python", python, "--only", "python.prefix"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find("/venv"), std::string::npos) << python << ended.out;
  }
}

TEST_F(CommandLine, AScanOfSeveralSourcesIsReadBackAsSeveral) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  snapshot("b.yaml", "  driver: {value: 535.129.03}\n");
  snapshot("c.yaml", "  driver: {value: 535.129.03}\n");
  temp_.file("m.yaml", "goldenv: 1\npins:\n  driver: 535.129.03\n");
  for (const std::string two : {"two.yaml", "two.json"}) {
    ASSERT_EQ(goldenv({"scan", "a.yaml", "b.yaml", "-o", two}).status, 0);
    const test::Ended within = goldenv({"diff", two});
    EXPECT_EQ(within.status, 1) << within.err;
    EXPECT_NE(within.out.find("535.129.01 -> 535.129.03"), std::string::npos) << within.out;
    EXPECT_EQ(goldenv({"diff", two, "c.yaml"}).status, 1);
    EXPECT_NE(goldenv({"scan", two}).out.find("535.129.01"), std::string::npos);
    const test::Ended lock = goldenv({"lock", two});
    EXPECT_EQ(lock.status, 2);
    EXPECT_NE(lock.err.find("not pinned, other on b.yaml: driver"), std::string::npos) << lock.err;
    EXPECT_EQ(goldenv({"explain", "driver", two}).status, 2);
  }
  temp_.file("none.yaml", "schema_version: 0\nsnapshots: []\n");
  EXPECT_EQ(goldenv({"scan", "none.yaml"}).status, 2);
}

TEST_F(CommandLine, WhatIsNoSnapshotIsNamed) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  const test::Ended text = goldenv({"diff", "a.yaml", "-"}, goldenv({"scan", "a.yaml"}).out);
  EXPECT_EQ(text.status, 2);
  EXPECT_NE(text.err.find("--format yaml"), std::string::npos) << text.err;
  const test::Ended empty = goldenv({"diff", "a.yaml", "-"}, "\n");
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("standard input:1:1: it is empty"), std::string::npos) << empty.err;
  for (const char* bare :
       {"goldenv: 1\npins:\n  driver: >=535\n  nccl: 2.18.1\n",
        "goldenv: 1\npins:\n  driver: [>=535, 530.1]\n", "goldenv: 1\npins: {driver: >=535}\n"}) {
    temp_.file("m.yaml", bare);
    const test::Ended ended = goldenv({"check", "m.yaml", "a.yaml"});
    EXPECT_EQ(ended.status, 2);
    EXPECT_NE(ended.err.find("put the constraint in quotes: \">=535"), std::string::npos)
        << ended.err;
  }
}

TEST_F(CommandLine, AVariableThatIsPassedOverIsSaid) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n");
  const std::string pins = "goldenv: 1\npins:\n  driver: 535.129.01\n";
  temp_.file("goldenv.yaml", pins);
  const std::string other = temp_.file("other.yaml", pins);
  const test::Ended passed = goldenv({"check", "a.yaml"}, "", {{"GOLDENV_MANIFEST", other}});
  EXPECT_EQ(passed.status, 0);
  EXPECT_NE(passed.err.find("is passed over"), std::string::npos) << passed.err;
  const test::Ended same =
      goldenv({"check", "a.yaml"}, "", {{"GOLDENV_MANIFEST", temp_.at("goldenv.yaml")}});
  EXPECT_EQ(same.err, "");
}

TEST_F(CommandLine, PinsThatDoNotApplyAreCounted) {
  snapshot("a.yaml", "  driver: {value: 535.129.01}\n  cpu.vendor: {value: GenuineIntel}\n");
  temp_.file("m.yaml",
             "goldenv: 1\npins:\n  driver: 535.129.01\n"
             "  nccl: {want: 2.18.1, when: cpu.vendor == AuthenticAMD}\n");
  EXPECT_NE(goldenv({"check", "m.yaml", "a.yaml"}).out.find("(1 pin, 1 more does not apply here)"),
            std::string::npos);
  temp_.file("m.yaml", "goldenv: 1\npins:\n  nccl: {want: 2.18.1, when: cpu.vendor == AMD}\n");
  const test::Ended slip = goldenv({"check", "m.yaml", "a.yaml"});
  EXPECT_EQ(slip.status, 2);
  EXPECT_NE(slip.err.find("did you mean AuthenticAMD?"), std::string::npos) << slip.err;
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
