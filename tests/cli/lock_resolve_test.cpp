#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// From what is installed to the files that it came from, and back.

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Installs a wheel as an installer does: unpacked, with lines of its own in RECORD.
constexpr const char* kInstall =
    "import glob, sys, zipfile\n"
    "site = sys.argv[1]\n"
    "z = zipfile.ZipFile(sys.argv[2])\n"
    "z.extractall(site)\n"
    "info = [n for n in z.namelist() if n.endswith('/RECORD')][0][:-len('RECORD')]\n"
    "open(site + '/' + info + 'INSTALLER', 'w').write('pip\\n')\n"
    "open(site + '/' + info + 'RECORD', 'a').write(info + 'INSTALLER,,\\n')\n";

class LockResolve : public ::testing::Test {
 protected:
  LockResolve() {
    temp_.folder("home");
    temp_.folder("wheels");
    const test::Ended made =
        test::run({{"/usr/bin/python3", "-m", "venv", "--without-pip", temp_.at("venv")}});
    EXPECT_EQ(made.status, 0) << made.err;
    for (const auto& entry : fs::directory_iterator(temp_.at("venv/lib"))) {
      site_ = entry.path().string() + "/site-packages";
    }
  }

  std::string wheel(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/python3", GOLDENV_SOURCE_DIR "/tests/cli/make_wheel.py",
                                 temp_.at("wheels")});
    const test::Ended made = test::run({std::move(words), std::nullopt, temp_.path()});
    EXPECT_EQ(made.status, 0) << made.err;
    return made.out.substr(0, made.out.find('\n'));
  }

  void install(const std::string& file) {
    const test::Ended done =
        test::run({{"/usr/bin/python3", "-c", kInstall, site_, file}, std::nullopt, temp_.path()});
    EXPECT_EQ(done.status, 0) << done.err;
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.at("home")},
                                                            {"LANG", "C.UTF-8"},
                                                            {"GOLDENV_STORE", temp_.at("store")}};
    return test::run({std::move(words), environment, temp_.path()});
  }

  std::string sha256(const std::string& file) {
    return test::run({{"/usr/bin/sha256sum", file}}).out.substr(0, 64);
  }

  test::TempDir temp_;
  std::string site_;
};

TEST_F(LockResolve, NamesTheFileOfWhatIsInstalled) {
  const std::string alpha = wheel({"alpha", "1.0", "--file", "alpha.py=VALUE = 1\n"});
  install(alpha);
  install(wheel({"beta", "2.0", "--file", "beta.py=VALUE = 1\n"}));
  wheel({"beta", "2.0", "--file", "beta.py=VALUE = 2\n"});  // built again
  const test::Ended locked = goldenv({"lock", "--resolve", "--python", temp_.at("venv"),
                                      "--no-index", "--find-links", temp_.at("wheels")});
  ASSERT_EQ(locked.status, 0) << locked.err;
  const std::string digest = sha256(alpha);
  EXPECT_THAT(locked.out, AllOf(HasSubstr("artifact: alpha-1.0-py3-none-any.whl"),
                                HasSubstr("sha256: " + digest), Not(HasSubstr("artifact: beta"))));
  EXPECT_THAT(locked.err,
              AllOf(HasSubstr("python.package.beta 2.0: its file is not named: another build of "
                              "the same version: beta.py has other bytes"),
                    HasSubstr("1 of 2 packages are proved")));

  // That file and no other is taken afterwards.
  temp_.file("golden.yaml", "goldenv: 1\npins:\n  python.package.alpha: {want: \"1.0\", sha256: " +
                                digest + ", artifact: alpha-1.0-py3-none-any.whl}\n");
  const std::vector<std::string> words = {"provision",    "golden.yaml",      "--no-check",
                                          "--python",     "/usr/bin/python3", "--no-index",
                                          "--find-links", temp_.at("wheels"), "--refresh"};
  EXPECT_EQ(goldenv(words).status, 0);
  wheel({"alpha", "1.0", "--file", "alpha.py=VALUE = 3\n"});
  const test::Ended other = goldenv(words);
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err, HasSubstr("alpha"));
}

TEST_F(LockResolve, IsOfThisMachineAlone) {
  const test::Ended ended = goldenv({"lock", "--resolve", "root:" + temp_.at("venv")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("with @live alone"));
  const test::Ended alone = goldenv({"lock", "--index", "https://index.example/simple"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--index is of --resolve"));
}

}  // namespace
}  // namespace goldenv
