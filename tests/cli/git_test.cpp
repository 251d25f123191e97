#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/program.h"
#include "support/temp_dir.h"

// Files of git repositories as sources, manifests and what manifests extend.

namespace goldenv::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class GitSource : public testing::Test {
 protected:
  void SetUp() override {
    git({"init", "-q", "-b", "main", "."});
    write("base.yaml", "goldenv: 1\npins:\n  kernel: \">=5.5\"\n  torch: 2.2.1\n");
    write("site/m.yaml", "goldenv: 1\nextends: [net/extra.yaml]\npins:\n  os.name: Test Linux\n");
    write("site/net/extra.yaml", "goldenv: 1\npins:\n  glibc: 2.31\n");
    write("snap.yaml", "goldenv_snapshot: 0\nsource: \"@live\"\nfacts:\n  glibc: {value: 2.31}\n");
    commit("first");
    first_ = trim_end(git({"rev-parse", "HEAD"}));
    git({"tag", "-a", "v1", "-m", "one"});
    write("snap.yaml", "goldenv_snapshot: 0\nsource: \"@live\"\nfacts:\n  glibc: {value: 2.35}\n");
    commit("second");
  }
  static std::string trim_end(const std::string& text) { return std::string(trim(text)); }
  void write(const std::string& name, const std::string& text) { temp_.file("repo/" + name, text); }
  void commit(const std::string& words) {
    git({"add", "-A"});
    git({"commit", "-q", "-m", words});
  }
  std::string git(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/git", "-c", "user.name=t", "-c", "user.email=t@t"});
    const Ended ended = run({.argv = std::move(words),
                             .environment = {{{"HOME", temp_.folder("home")},
                                              {"PATH", "/usr/bin:/bin"},
                                              {"GIT_CONFIG_NOSYSTEM", "1"}}},
                             .folder = temp_.folder("repo")});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.out;
  }
  Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    return run({.argv = std::move(words),
                .environment = {{{"HOME", temp_.folder("home")}, {"PATH", "/nowhere"}}},
                .folder = temp_.path()});
  }
  /// The one line of a refusal.
  std::string refusal(const std::string& word, int status = 2) {
    const Ended ended = goldenv({"scan", word});
    EXPECT_EQ(ended.status, status) << word << ": " << ended.err;
    EXPECT_EQ(ended.out, "") << word;
    EXPECT_THAT(ended.err, MatchesRegex("goldenv: [^\n]+\n")) << word;
    return ended.err;
  }
  TempDir temp_;
  std::string first_;
};

TEST_F(GitSource, AFileIsReadAtAnyRevision) {
  for (const std::string& revision : {first_, first_.substr(0, 9), std::string("v1"),
                                      std::string("main~1"), std::string("HEAD@{1}")}) {
    EXPECT_THAT(goldenv({"scan", "git:repo@" + revision + ":snap.yaml"}).out, HasSubstr("2.31"))
        << revision;
  }
  EXPECT_THAT(goldenv({"scan", "git:repo@main:snap.yaml"}).out, HasSubstr("2.35"));
  // What lies in the work tree and was never committed does not count.
  write("snap.yaml", "goldenv_snapshot: 0\nsource: \"@live\"\nfacts:\n  glibc: {value: 2.39}\n");
  const Ended diff = goldenv({"diff", "git:repo@v1:snap.yaml", "git:repo@main:snap.yaml"});
  EXPECT_EQ(diff.status, 1);
  EXPECT_THAT(diff.out, HasSubstr("git:repo@v1:snap.yaml -> git:repo@main:snap.yaml"));
  EXPECT_THAT(diff.out, HasSubstr("2.31 -> 2.35"));
}

TEST_F(GitSource, BareRepositoriesAndOddNamesAreRead) {
  git({"clone", "-q", "--bare", ".", temp_.at("a@b:c.git")});
  git({"clone", "-q", "--bare", ".", temp_.at("bare.git")});
  EXPECT_THAT(goldenv({"scan", "git:bare.git@main:snap.yaml"}).out, HasSubstr("2.35"));
  EXPECT_THAT(goldenv({"scan", "git:" + temp_.at("a@b:c.git") + "@main:snap.yaml"}).out,
              HasSubstr("2.35"));
  git({"gc", "-q", "--aggressive"});  // packed now
  EXPECT_THAT(goldenv({"scan", "git:repo@v1:snap.yaml"}).out, HasSubstr("2.31"));
}

TEST_F(GitSource, AManifestIsReadWithWhatItExtends) {
  const Ended check = goldenv({"check", "git:repo@main:site/m.yaml", "git:repo@v1:snap.yaml"});
  EXPECT_EQ(check.status, 3) << check.err;
  EXPECT_THAT(check.out, HasSubstr("1 must of 2 pins unknown"));
  EXPECT_THAT(check.out, HasSubstr("os.name"));
  temp_.file("own.yaml", "goldenv: 1\nextends: [\"git:repo@" + first_ + ":base.yaml\"]\n");
  const Ended own = goldenv({"check", "own.yaml", "git:repo@v1:snap.yaml"});
  EXPECT_THAT(own.out, HasSubstr("kernel")) << own.err;
  temp_.file("moving.yaml", "goldenv: 1\nextends: [\"git:repo@main:base.yaml\"]\n");
  EXPECT_THAT(goldenv({"check", "moving.yaml"}).err, HasSubstr("names no full commit"));
  // A relative repository is beside the manifest, wherever the command is given.
  temp_.file("sub/beside.yaml",
             "goldenv: 1\nextends: [\"git:../repo@" + first_ + ":base.yaml\"]\n");
  EXPECT_THAT(goldenv({"check", "sub/beside.yaml", "git:repo@v1:snap.yaml"}).out,
              HasSubstr("kernel"));
  write("site/far.yaml", "goldenv: 1\nextends: [\"git:../../repo@" + first_ + ":base.yaml\"]\n");
  commit("far");
  EXPECT_THAT(goldenv({"check", "git:repo@main:site/far.yaml", "git:repo@v1:snap.yaml"}).out,
              HasSubstr("kernel"));
  // A commit elsewhere in the word is none.
  temp_.file("sly.yaml", "goldenv: 1\nextends: [\"git:repo@main:x@" + first_ + ":base.yaml\"]\n");
  EXPECT_THAT(goldenv({"check", "sly.yaml"}).err, HasSubstr("is no full commit"));
  write("out.yaml", "goldenv: 1\nextends: [../../etc/passwd]\n");
  commit("out");
  EXPECT_THAT(goldenv({"check", "git:repo@main:out.yaml"}).err,
              HasSubstr("git:repo@main:out.yaml:2:11: "));
}

TEST_F(GitSource, WhatIsNotThereIsSaidInALine) {
  std::filesystem::create_symlink("/etc/passwd", temp_.at("repo/link.yaml"));
  write("large.yaml", std::string(17u << 20, '#'));
  write("-odd", "goldenv: 1\n");
  commit("third");
  git({"update-index", "--add", "--cacheinfo", "160000," + first_ + ",module"});
  git({"commit", "-q", "-m", "module"});
  EXPECT_THAT(refusal("git:repo@main:none.yaml"), HasSubstr("has no none.yaml"));
  EXPECT_THAT(refusal("git:repo@nothing:snap.yaml"), HasSubstr("no revision nothing"));
  EXPECT_THAT(refusal("git:repo@--help:snap.yaml"), HasSubstr("no revision --help"));
  EXPECT_THAT(refusal("git:repo@main:link.yaml"), HasSubstr("is a link"));
  EXPECT_THAT(refusal("git:repo@main:module"), HasSubstr("is a submodule"));
  EXPECT_THAT(refusal("git:repo@main:site"), HasSubstr("is a folder"));
  EXPECT_THAT(refusal("git:repo@main:large.yaml"), HasSubstr("larger than 16 MiB"));
  refusal("git:repo@main:../repo/snap.yaml");
  refusal("git:repo@main:/snap.yaml");
  refusal("git:repo@main:snap.yaml/x");
  EXPECT_THAT(refusal("git:none@main:snap.yaml"), HasSubstr("no repository"));
  EXPECT_THAT(refusal("git:repo/site@main:m.yaml"), HasSubstr("no repository"))
      << "none above the folder is meant";
  EXPECT_THAT(refusal("git:https://host/r.git@main:a.yaml"), HasSubstr("not on this machine"));
  // What is masked in the word is in no part of the message.
  for (const char* word : {"git:me:SECRET@host/x@HEAD:t.yaml", "git:me:SECRET@host@HEAD:t.yaml"}) {
    EXPECT_THAT(refusal(word), Not(HasSubstr("SECRET"))) << word;
  }
  for (const char* word : {"git:", "git:repo", "git:repo@main", "git:repo@:a", "git:@main:a",
                           "git:repo@main:", "git:repo:a.yaml"}) {
    EXPECT_THAT(refusal(word), HasSubstr("git:REPO@REV:PATH")) << word;
  }
}

TEST_F(GitSource, DamagedObjectsAreNeverTaken) {
  const std::string id = trim_end(git({"rev-parse", "main:snap.yaml"}));
  const std::string other = trim_end(git({"rev-parse", "v1:snap.yaml"}));
  const auto object = [&](const std::string& name) {
    return temp_.at("repo/.git/objects/" + name.substr(0, 2) + "/" + name.substr(2));
  };
  // Another object under this one's name.
  std::filesystem::remove(object(id));
  std::filesystem::copy_file(object(other), object(id));
  EXPECT_THAT(refusal("git:repo@main:snap.yaml", 4), HasSubstr("hash mismatch"));
  std::filesystem::remove(object(id));
  refusal("git:repo@main:snap.yaml", 4);
  temp_.file("repo/.git/objects/" + id.substr(0, 2) + "/" + id.substr(2), "no zlib stream");
  refusal("git:repo@main:snap.yaml", 4);
  temp_.file("repo/.git/HEAD", std::string(100'000, 'x'));
  refusal("git:repo@HEAD:snap.yaml", 4);
  temp_.file("repo/.git/config", "[core\n");
  refusal("git:repo@main:snap.yaml", 4);
}

TEST_F(GitSource, NothingOfTheRepositorysIsRun) {
  const std::string made = temp_.at("made");
  write(".gitattributes", "*.yaml filter=evil\n");
  commit("filter");
  std::ofstream(temp_.at("repo/.git/config"), std::ios::app)
      << "[filter \"evil\"]\n\tsmudge = touch " << made << "\n\tclean = touch " << made
      << "\n[core]\n\tfsmonitor = touch " << made << "\n\tsshCommand = touch " << made << "\n";
  EXPECT_THAT(goldenv({"scan", "git:repo@main:snap.yaml"}).out, HasSubstr("2.35"));
  EXPECT_FALSE(std::filesystem::exists(made));
}

TEST_F(GitSource, ARepositoryOfAnotherUserNeedsSafeDirectory) {
  EXPECT_THAT(goldenv({"scan", "git:repo@main:snap.yaml"}).out, HasSubstr("2.35"));
  if (geteuid() != 0) {
    return;  // only root can give a folder away
  }
  ASSERT_EQ(run({.argv = {"/bin/chown", "-R", "12345:12345", temp_.at("repo")}}).status, 0);
  EXPECT_THAT(refusal("git:repo@main:snap.yaml"),
              AllOf(HasSubstr("belongs to user 12345"),
                    HasSubstr("git config --global --add "
                              "safe.directory "),
                    HasSubstr("repo"), Not(HasSubstr("was not found"))));
  temp_.file("home/.gitconfig", "[safe]\n\tdirectory = " + temp_.at("repo") + "\n");
  EXPECT_THAT(goldenv({"scan", "git:repo@main:snap.yaml"}).out, HasSubstr("2.35"));
}

}  // namespace
}  // namespace goldenv::test
