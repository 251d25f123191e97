#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/library_fixture.h"
#include "support/program.h"
#include "support/server.h"
#include "support/temp_dir.h"

// From a manifest to a program that runs in its environment, with wheels that a script makes and
// the system's Python, by the built programs.

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

class Provision : public ::testing::Test {
 protected:
  Provision() {
    temp_.folder("home");
    temp_.folder("wheels");
    wheel({"alpha", "1.0", "--file", "alpha.py=VALUE = 1\n"});
    wheel({"alpha", "1.1", "--file", "alpha.py=VALUE = 2\n"});
    wheel({"beta", "2.0", "--requires", "alpha>=1.0", "--file",
           "beta/__init__.py=import alpha\ndef main():\n    print('beta', alpha.VALUE)\n",
           "--script", "beta=beta:main"});
    for (const std::string version : {"2.18.1", "2.19.3"}) {
      std::string fixture = "nccl_" + version;
      std::ranges::replace(fixture, '.', '_');
      wheel({"nvidia-nccl-cu12", version, "--copy",
             "nvidia/nccl/lib/libnccl.so.2=" + temp_.file(fixture, test::library_fixture(fixture)),
             "--file", "nvidia/__init__.py="});
    }
  }

  std::string wheel(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/python3", GOLDENV_SOURCE_DIR "/tests/cli/make_wheel.py",
                                 temp_.at("wheels")});
    const test::Ended made = test::run({std::move(words), std::nullopt, temp_.path()});
    EXPECT_EQ(made.status, 0) << made.err;
    return made.out.substr(0, made.out.find('\n'));
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.at("home")},
                                                            {"LANG", "C.UTF-8"},
                                                            {"GOLDENV_STORE", temp_.at("store")}};
    return test::run({std::move(words), environment, temp_.path()});
  }

  /// `goldenv provision MANIFEST` with the wheels of the folder and no index.
  test::Ended provision(const std::string& pins, std::vector<std::string> more = {}) {
    temp_.file("golden.yaml", "goldenv: 1\nname: train\npins:\n" + pins);
    std::vector<std::string> words = {"provision",        "golden.yaml", "--python",
                                      "/usr/bin/python3", "--no-index",  "--find-links",
                                      temp_.at("wheels"), "--no-check"};
    words.insert(words.end(), more.begin(), more.end());
    return goldenv(std::move(words));
  }

  std::string in_environment(const std::string& code) {
    const test::Ended ended =
        goldenv({"run", "--env", "train", "--quiet", "--", "python", "-c", code});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.out;
  }

  std::size_t objects() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(temp_.at("store/objects"))) {
      ++count;
    }
    return count;
  }

  test::TempDir temp_;
};

TEST_F(Provision, WhatIsPinnedRuns) {
  const test::Ended done =
      provision("  python.package.alpha: \"1.0\"\n  python.package.beta: \"2.0\"\n");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("environment train: " + temp_.at("store/envs/")));
  EXPECT_EQ(in_environment("import beta; beta.main()"), "beta 1\n");
  const test::Ended script = goldenv({"run", "--env", "train", "--quiet", "--", "beta"});
  EXPECT_EQ(script.out, "beta 1\n") << script.err;
  EXPECT_EQ(goldenv({"store", "verify"}).status, 0);
}

TEST_F(Provision, SwitchingOneComponentTakesTheRestFromTheStore) {
  ASSERT_EQ(provision("  python.package.alpha: \"1.0\"\n  python.package.beta: \"2.0\"\n").status,
            0);
  ASSERT_EQ(objects(), 2u);
  const std::string pins = "  python.package.alpha: \"1.1\"\n  python.package.beta: \"2.0\"\n";
  const Json plan = Json::parse(provision(pins, {"--plan", "--format", "json"}).out);
  ASSERT_THAT(plan.at("steps"), SizeIs(2));
  EXPECT_EQ(plan.at("steps")[0].at("key"), "python.package.alpha");
  EXPECT_EQ(plan.at("steps")[0].at("in_store"), false);
  EXPECT_EQ(plan.at("steps")[1].at("in_store"), true);
  EXPECT_EQ(plan.at("composed"), false);
  ASSERT_EQ(objects(), 2u) << "--plan does nothing";

  ASSERT_EQ(provision(pins).status, 0);
  EXPECT_EQ(objects(), 3u);
  EXPECT_EQ(in_environment("import beta; beta.main()"), "beta 2\n");
  // Back again nothing is needed but what is remembered.
  fs::remove_all(temp_.at("wheels"));
  const test::Ended back =
      provision("  python.package.alpha: \"1.0\"\n  python.package.beta: \"2.0\"\n", {"--offline"});
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_THAT(back.out, HasSubstr("(was there)"));
  EXPECT_EQ(in_environment("import beta; beta.main()"), "beta 1\n");
}

TEST_F(Provision, ALibraryOfTheEnvironmentIsTheOneThatIsPinned) {
  for (const std::string version : {"2.18.1", "2.19.3"}) {
    const test::Ended done =
        provision("  nccl: " + version + "\n  cuda: 12.1.1\n" + "  python.package.alpha: \"1.0\"\n",
                  {"--plan", "--source-host", "nvidia=file:///nowhere"});
    EXPECT_THAT(done.out, HasSubstr("nvidia_nccl_cu12-" + version + "-py3-none-any.whl"));
    // libcudart has no wheel here, and that is said.
    EXPECT_EQ(done.status, 4) << done.out;
    EXPECT_THAT(done.out, HasSubstr("cannot be had: cuda 12.1.1: no index has a package "
                                    "nvidia-cuda-runtime-cu12"));
    ASSERT_EQ(provision("  nccl: " + version + "\n  torch: any\n" +
                        "  python.package.nvidia-nccl-cu12: " + version + "\n")
                  .status,
              0);
    EXPECT_THAT(in_environment("import ctypes, nvidia\n"
                               "import os\n"
                               "p = os.path.join(nvidia.__path__[0], 'nccl/lib/libnccl.so.2')\n"
                               "ctypes.CDLL(p)\n"
                               "print([l for l in open('/proc/self/maps') if 'libnccl' in l][0])"),
                HasSubstr("nvidia_nccl_cu12-" + version + "/tree/"));
  }
}

TEST_F(Provision, WhatNothingPinsIsNamedAndNothingIsGuessed) {
  const test::Ended open = provision("  python.package.beta: \"2.0\"\n");
  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("beta 2.0 requires alpha >=1.0, which nothing pins"));
  const test::Ended ranged =
      provision("  python.package.alpha: \">=1.0\"\n  python.package.beta: \"2.0\"\n");
  EXPECT_EQ(ranged.status, 2);
  EXPECT_THAT(ranged.err, HasSubstr("python.package.alpha is left open"));
  EXPECT_FALSE(fs::exists(temp_.at("store/roots/train")));
}

TEST_F(Provision, AVersionThatIsPinnedWinsOverWhatAnotherPackageAsksFor) {
  wheel({"delta", "1.0", "--requires", "alpha==1.0", "--file", "delta.py=import alpha\n"});
  const test::Ended done =
      provision("  python.package.alpha: \"1.1\"\n  python.package.delta: \"1.0\"\n");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("delta 1.0 requires alpha ==1.0; 1.1 is pinned, and taken"));
  EXPECT_EQ(in_environment("import delta; print(delta.alpha.VALUE)"), "2\n");
}

TEST_F(Provision, AVersionThatNobodyHasIsRefusedWithTheNearest) {
  const test::Ended none = provision("  python.package.alpha: \"3.0\"\n");
  EXPECT_EQ(none.status, 4);
  EXPECT_THAT(none.err, AllOf(HasSubstr("python.package.alpha 3.0"), HasSubstr("1.1")));
}

TEST_F(Provision, AWheelWhoseRecordLiesIsRefusedAndNothingOfItStays) {
  wheel({"gamma", "1.0", "--lie", "--file", "gamma.py=VALUE = 1\n"});
  const test::Ended refused = provision("  python.package.gamma: \"1.0\"\n");
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("gamma-1.0-py3-none-any.whl"), HasSubstr("gamma.py")));
  EXPECT_EQ(objects(), 0u);
  EXPECT_FALSE(fs::exists(temp_.at("store/roots/train")));
}

TEST_F(Provision, APlanLeavesNothingBehind) {
  const test::Ended plan = provision("  python.package.alpha: \"1.0\"\n", {"--plan"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_FALSE(fs::exists(temp_.at("store")));
}

TEST_F(Provision, AWheelThatWasMadeAnewIsTakenAnew) {
  ASSERT_EQ(provision("  python.package.alpha: \"1.0\"\n").status, 0);
  EXPECT_EQ(in_environment("import alpha; print(alpha.VALUE)"), "1\n");
  wheel({"alpha", "1.0", "--file", "alpha.py=VALUE = 7\n"});
  ASSERT_EQ(provision("  python.package.alpha: \"1.0\"\n").status, 0);
  EXPECT_EQ(in_environment("import alpha; print(alpha.VALUE)"), "7\n");
}

TEST_F(Provision, ADamagedEnvironmentIsMended) {
  const std::string pins = "  python.package.alpha: \"1.0\"\n";
  const test::Ended first = provision(pins);
  ASSERT_EQ(first.status, 0);
  const std::string prefix = first.out.substr(first.out.find('/'));
  const std::string folder = prefix.substr(0, prefix.find_first_of(" \n"));
  std::size_t gone = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/lib")) {
    if (entry.path().filename() == "alpha.py") {
      fs::remove(entry.path());
      ++gone;
      break;
    }
  }
  ASSERT_EQ(gone, 1u);
  const test::Ended again = provision(pins);
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("(mended)"));
  EXPECT_EQ(in_environment("import alpha; print(alpha.VALUE)"), "1\n");
}

TEST_F(Provision, WordsThatMeanNothingAreRefused) {
  const std::string pins = "  python.package.alpha: \"1.0\"\n";
  EXPECT_THAT(provision(pins, {"--source-host", "nosuch=https://mirror.example"}).err,
              HasSubstr("--source-host nosuch: no recipe has such a host; there are nvidia"));
  const test::Ended python = goldenv({"provision", "golden.yaml", "--python", temp_.at("python3"),
                                      "--no-index", "--find-links", temp_.at("wheels")});
  EXPECT_EQ(python.status, 2);
  EXPECT_THAT(python.err, HasSubstr("--python " + temp_.at("python3")));
  EXPECT_EQ(goldenv({"provision", "-"}).status, 2);
  for (const std::string name : {"a/b", "manifest-0123", "0f32ae1e222a", "", "x\x1by"}) {
    EXPECT_EQ(provision(pins, {"--name", name}).status, 2) << name;
  }
  const test::Ended nowhere = provision(pins, {"--find-links", temp_.at("nowhere")});
  EXPECT_EQ(nowhere.status, 0) << "the other folder has it: " << nowhere.err;
  const test::Ended missing =
      provision("  python.package.omega: \"1.0\"\n", {"--find-links", temp_.at("nowhere")});
  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.err, HasSubstr(temp_.at("nowhere")));
}

TEST_F(Provision, AnIndexIsAskedByHttp) {
  // The simple pages of the wheels' folder, as files.
  for (const auto& entry : fs::directory_iterator(temp_.at("wheels"))) {
    const std::string file = entry.path().filename().string();
    std::string project = file.substr(0, file.find('-'));
    std::ranges::replace(project, '_', '-');
    const test::Ended digest = test::run({{"/usr/bin/sha256sum", entry.path().string()}});
    const std::string page = temp_.at("web/simple/" + project + "/index.html");
    const std::string before = fs::exists(page) ? test::read_file(page) : "";
    temp_.file("web/simple/" + project + "/index.html", before + "<a href=\"../../files/" + file +
                                                            "#sha256=" + digest.out.substr(0, 64) +
                                                            "\">" + file + "</a>\n");
  }
  temp_.folder("web/files");
  fs::copy(temp_.at("wheels"), temp_.at("web/files"), fs::copy_options::recursive);
  const test::Server server({"/usr/bin/python3", "-u", "-c",
                             "import functools, http.server as h\n"
                             "class Q(h.SimpleHTTPRequestHandler):\n"
                             "    def log_message(self, *a): pass\n"
                             "s = h.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Q, "
                             "directory='" +
                                 temp_.at("web") +
                                 "'))\n"
                                 "print(s.server_port)\n"
                                 "s.serve_forever()\n"});
  temp_.file(
      "golden.yaml",
      "goldenv: 1\npins:\n  python.package.alpha: \"1.0\"\n  python.package.beta: \"2.0\"\n");
  const test::Ended done =
      goldenv({"provision", "--python", "/usr/bin/python3", "--index",
               "http://127.0.0.1:" + server.port() + "/simple", "--no-check", "golden.yaml"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("environment golden: "));

  temp_.file("golden.yaml", "goldenv: 1\npins:\n  python.package.delta: \"1.0\"\n");
  const test::Ended none =
      goldenv({"provision", "--python", "/usr/bin/python3", "--index",
               "http://127.0.0.1:" + server.port() + "/simple", "--no-check", "golden.yaml"});
  EXPECT_EQ(none.status, 4);
  EXPECT_THAT(none.err, HasSubstr("no index has a package delta"));
}

TEST_F(Provision, ALockFileOfAnotherToolIsAnExactSet) {
  std::string text;
  for (const std::string name : {"alpha-1.0", "beta-2.0"}) {
    const test::Ended digest =
        test::run({{"/usr/bin/sha256sum", temp_.at("wheels/" + name + "-py3-none-any.whl")}});
    text += name.substr(0, name.find('-')) + "==" + name.substr(name.find('-') + 1) +
            " --hash=sha256:" + digest.out.substr(0, 64) + "\n";
  }
  temp_.file("requirements.txt", text);
  const std::vector<std::string> words = {"provision",        "requirements.txt", "--python",
                                          "/usr/bin/python3", "--no-index",       "--find-links",
                                          temp_.at("wheels")};
  const test::Ended done = goldenv(words);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("environment requirements: "));

  // Another digest is another file.
  temp_.file("requirements.txt", "alpha==1.0 --hash=sha256:" + std::string(64, 'a') + "\n");
  const test::Ended other = goldenv(words);
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err, HasSubstr("alpha"));
  temp_.file("requirements.txt", "alpha>=1.0\n");
  const test::Ended open = goldenv(words);
  EXPECT_EQ(open.status, 2);
  EXPECT_THAT(open.err, HasSubstr("requirements.txt:1"));
}

TEST_F(Provision, AfterwardsTheMachineIsCheckedAgainstTheManifest) {
  temp_.file("golden.yaml",
             "goldenv: 1\npins:\n  python.package.alpha: \"1.0\"\n  host.platform: windows\n");
  const test::Ended differs = goldenv({"provision", "--python", "/usr/bin/python3", "--no-index",
                                       "--find-links", temp_.at("wheels"), "golden.yaml"});
  EXPECT_EQ(differs.status, 1) << differs.err;
  EXPECT_THAT(differs.out, AllOf(HasSubstr("environment golden: "), HasSubstr("host.platform"),
                                 Not(HasSubstr("python.package.alpha"))));
}

}  // namespace
}  // namespace goldenv
