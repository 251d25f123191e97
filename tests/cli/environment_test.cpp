#include "cli/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "compose/compose.h"
#include "manifest/manifest.h"
#include "store/gc.h"
#include "store/made_object.h"
#include "store/store.h"
#include "support/library_fixture.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

using test::MadeObject;
using test::must;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A store with one environment, named "train": a Python, a libnccl.so.2, a tool in bin/.
class InEnvironment : public ::testing::Test {
 protected:
  InEnvironment() : store_(must(store::Store::open(temp_.at("store"), store::Access::write))) {
    MadeObject nccl("nvidia-nccl-cu12", "2.19.3");
    nccl.file("lib/libnccl.so.2", test::library_fixture("nccl_2_19_3"))
        .file("bin/tool", "#!/bin/sh\necho \"tool $1\"\nexit 7\n", true)
        .file("bin/broken", "#!/no/such/interpreter\n", true)
        .root("lib", "lib")
        .root("bin", "bin");
    nccl.object.environment = {{"NCCL_HOME", "${prefix}"}};
    nccl.object.shape.listing = {
        {"", {"bin/", "lib/"}}, {"lib", {"libnccl.so.2"}}, {"bin", {"broken", "tool"}}};
    nccl.object.shape.elf = {{"lib/libnccl.so.2", "libnccl.so.2", {}, {}, {}}};
    nccl_ = must(nccl.publish(store_)).name;
    const compose::Plan plan =
        must(compose::plan(store_, {must(store_.get(nccl_))}, {"/usr/bin/python3", "3.11"}));
    prefix_ = must(compose::compose(store_, plan)).folder;
    digest_ = plan.digest;
    must(store_.set_root("train", digest_));
  }

  test::Ended goldenv(std::vector<std::string> words, std::map<std::string, std::string> more = {},
                      std::string input = {}) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    more.merge(std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"},
                                                  {"HOME", temp_.folder("home")},
                                                  {"LANG", "C.UTF-8"},
                                                  {"GOLDENV_STORE", temp_.at("store")}});
    return test::run({std::move(words), std::move(more), temp_.path(), std::move(input)});
  }

  /// `goldenv run --env train [options] -- sh -c SCRIPT`.
  test::Ended sh(const std::string& script, std::vector<std::string> options = {},
                 std::map<std::string, std::string> more = {}) {
    std::vector<std::string> words = {"run", "--env", "train"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return goldenv(std::move(words), std::move(more));
  }

  test::TempDir temp_;
  store::Store store_;
  std::string nccl_;
  std::string prefix_;
  std::string digest_;
};

TEST_F(InEnvironment, AProgramRunsInTheGenerationItselfAndItsStatusIsOurs) {
  const test::Ended ended = sh("echo \"$VIRTUAL_ENV $NCCL_HOME\"; command -v tool; exit 3");
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.out, prefix_ + " " + prefix_ + "\n" + prefix_ + "/bin/tool\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(prefix_, HasSubstr("/envs/" + digest_));
  const test::Ended tool = goldenv({"run", "--env", "train", "--", "tool", "--prove"});
  EXPECT_EQ(tool.status, 7);
  EXPECT_EQ(tool.out, "tool --prove\n");
  EXPECT_EQ(sh("kill -TERM $$").status, 128 + SIGTERM);
}

TEST_F(InEnvironment, WhatCannotRunIs126Or127) {
  test::Ended ended = goldenv({"run", "--env", "train", "--", "no-such-tool"});
  EXPECT_EQ(ended.status, 127);
  EXPECT_EQ(ended.err, "goldenv: cannot run no-such-tool: it is in no folder of PATH\n");
  EXPECT_EQ(goldenv({"run", "--env", "train", "--prove", "--", "no-such-tool"}).status, 127);
  for (const std::vector<std::string>& prove :
       {std::vector<std::string>{}, std::vector<std::string>{"--prove"}}) {
    std::vector<std::string> words = {"run", "--env", "train"};
    words.insert(words.end(), prove.begin(), prove.end());
    words.insert(words.end(), {"--", "broken"});
    ended = goldenv(words);
    EXPECT_EQ(ended.status, 126);
    EXPECT_THAT(ended.err, HasSubstr("first line"));
  }
}

TEST_F(InEnvironment, WhateverKeepsAProgramFromBeingRunIs125) {
  const std::string manifest =
      temp_.file("train.yaml", "goldenv: 1\nname: t\npins:\n  nccl: 2.19.3\n");
  const std::vector<std::vector<std::string>> all = {
      {"run"},
      {"run", "--env", "train"},
      {"run", "--env", "train", "--"},
      {"run", "--env", "train", "sh"},
      {"run", "--env", "train", "--onyl", "--", "sh"},
      {"run", "--env", "other", "--", "sh"},
      {"run", "--env", "$(id)", "--", "sh"},
      {"run", "--env", "a\nb\x1b[31m", "--", "sh"},
      {"run", "--env", "../../etc", "--", "sh"},
      {"run", "--env", temp_.path(), "--", "sh"},
      {"run", "--env", prefix_ + "/bin", "--", "sh"},
      {"run", "--env", "train", "train.yaml", "--", "sh"},
      {"run", "train.yaml", "--", "sh"},
      {"run", "absent.yaml", "--", "sh"},
      {"run", "--env", "train", "--set", "A", "--", "sh"},
      {"run", "--env", "train", "--set", "A=1", "--keep", "A", "--", "sh"},
      {"run", "--env", "train", "--format", "json", "--", "sh"},
      {"shell", "--env", "other"},
      {"shell", "--onyl"}};
  for (const std::vector<std::string>& words : all) {
    const test::Ended ended = goldenv(words);
    const std::string last = join(words, " ");
    EXPECT_EQ(ended.status, 125) << last;
    EXPECT_EQ(ended.out, "") << last;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_EQ(ended.err.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(goldenv({"run", "--env", "other", "--", "sh"}).err, HasSubstr("there are train"));
  EXPECT_THAT(goldenv({"run", "train.yaml", "--", "sh"}).err, HasSubstr("goldenv provision"));
  const test::Ended none =
      goldenv({"run", "--env", "train", "--", "sh"}, {{"GOLDENV_STORE", temp_.at("nothing")}});
  EXPECT_EQ(none.status, 125);
  EXPECT_THAT(none.err, HasSubstr("no store"));
  EXPECT_FALSE(std::filesystem::exists(temp_.at("nothing")));
}

TEST_F(InEnvironment, AnEnvironmentIsFoundByNameDigestFolderAndLink) {
  for (const std::string& word :
       {std::string("train"), digest_, digest_.substr(0, 6), prefix_, prefix_ + "/",
        temp_.link("link", prefix_), temp_.at("store") + "/roots/train",
        std::string("./store/envs/") + digest_}) {
    const test::Ended ended =
        goldenv({"run", "--env", word, "--", "sh", "-c", "echo $VIRTUAL_ENV"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, prefix_ + "\n") << word;
  }
  EXPECT_EQ(goldenv({"run", "--env", digest_.substr(0, 5), "--", "sh"}).status, 125);
}

TEST_F(InEnvironment, TheEnvironmentOfAManifestIsTheOneThatWasMadeForIt) {
  const std::string text = "goldenv: 1\nname: nightly\npins:\n  nccl: 2.19.3\n";
  const manifest::Manifest manifest = must(manifest::load(text, "x", {}));
  must(store_.set_root(cli::root_of(manifest), digest_));
  temp_.file("goldenv.yaml", text);
  const std::vector<std::string> script = {"--", "sh", "-c", "echo $VIRTUAL_ENV_PROMPT"};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run"}, {"run", "goldenv.yaml"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), script.begin(), script.end());
    const test::Ended ended = goldenv(all);
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "nightly\n");
  }
  // Another manifest of the same name has another environment.
  temp_.file("goldenv.yaml", "goldenv: 1\nname: nightly\npins:\n  nccl: 2.20.5\n");
  EXPECT_EQ(goldenv({"run", "--", "true"}).status, 125);
  // What bears its name is told and not taken: it may be of an earlier state.
  temp_.file("goldenv.yaml", "goldenv: 1\nname: train\npins:\n  nccl: 2.20.5\n");
  const test::Ended changed = goldenv({"run", "--", "true"});
  EXPECT_EQ(changed.status, 125);
  EXPECT_THAT(changed.err, HasSubstr("--env train is the one of that name"));
}

TEST_F(InEnvironment, WhatLeaksInIsDroppedAndToldWithoutItsValue) {
  const std::map<std::string, std::string> caller = {{"LD_LIBRARY_PATH", "/hidden/value"},
                                                     {"PYTHONPATH", "/hidden/value"},
                                                     {"NCCL_DEBUG", "hidden-value"},
                                                     {"VIRTUAL_ENV", "/venv"},
                                                     {"PATH", "/venv/bin:/usr/bin:/bin"}};
  const std::string script = "echo \"[$LD_LIBRARY_PATH$PYTHONPATH][$NCCL_DEBUG][$PATH]\"";
  const test::Ended ended = sh(script, {}, caller);
  EXPECT_EQ(ended.out, "[][hidden-value][" + prefix_ + "/bin:/usr/bin:/bin]\n");
  EXPECT_THAT(ended.err, HasSubstr("goldenv: dropped LD_LIBRARY_PATH, which "));
  EXPECT_THAT(ended.err, HasSubstr("goldenv: dropped PYTHONPATH, which "));
  EXPECT_THAT(ended.err, HasSubstr("NCCL_DEBUG"));
  EXPECT_THAT(ended.err, Not(HasSubstr("hidden")));
  EXPECT_EQ(sh(script, {"--quiet"}, caller).err, "");
  const test::Ended chosen =
      sh(script, {"--keep", "LD_LIBRARY_PATH", "--drop", "NCCL_*", "--set", "PYTHONPATH=/mine"},
         caller);
  EXPECT_THAT(chosen.out, StartsWith("[/hidden/value/mine][]["));
  EXPECT_EQ(chosen.err, "");
  const test::Ended clean = sh("env", {"--clean-env", "--quiet"}, {{"SECRET", "x"}});
  EXPECT_THAT(clean.out, Not(HasSubstr("SECRET")));
  EXPECT_THAT(clean.out, HasSubstr("HOME="));
}

TEST_F(InEnvironment, WhatRunsKeepsItsEnvironmentFromBeingCollected) {
  must(store_.remove_root("train"));
  store::GcOptions options;
  options.min_age = std::chrono::seconds(0);
  // Of processes it sees one only: what keeps the environment is the lease.
  options.proc = temp_.folder("proc");
  for (const char* name : {"exe", "cwd", "root"}) {
    temp_.link(std::string("proc/1/") + name, "/");
  }
  temp_.file("proc/1/environ", "");
  temp_.file("proc/1/maps", "");
  temp_.file("proc/1/stat", "1 (init) S 0 1 1 0 -1 4194560 0 0");
  for (const std::string prove : {"--quiet", "--prove"}) {
    std::filesystem::remove(temp_.at("ready"));
    std::filesystem::remove(temp_.at("done"));
    std::future<test::Ended> running = std::async(std::launch::async, [&] {
      return goldenv({"run", "--env", digest_, prove, "--", "sh", "-c",
                      ": > ready; until [ -e done ]; do sleep 0.02; done"});
    });
    for (int i = 0; i < 1000 && !std::filesystem::exists(temp_.at("ready")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const Result<store::Collected> collected = store::gc(store_, options);
    EXPECT_TRUE(store_.has_generation(digest_));
    temp_.file("done", "");
    const test::Ended ended = running.get();
    EXPECT_EQ(ended.status, 0) << ended.err;
    ASSERT_TRUE(collected) << collected.error().message;
    EXPECT_TRUE(collected->gone.empty());
    EXPECT_EQ(collected->kept.size(), 1u);
  }
  EXPECT_FALSE(must(store::gc(store_, options)).gone.empty());
  EXPECT_FALSE(store_.has_generation(digest_));
  EXPECT_EQ(goldenv({"run", "--env", prefix_, "--", "true"}).status, 125);
}

TEST_F(InEnvironment, AProofNamesALibraryFromElsewhere) {
  const std::string script = "sleep 0.3; exit 3";
  const test::Ended own =
      sh(script, {"--prove", "--set", "LD_PRELOAD=" + prefix_ + "/lib/libnccl.so.2"});
  EXPECT_EQ(own.status, 3) << own.err;
  EXPECT_THAT(own.err, HasSubstr("goldenv: proved as far as "));
  EXPECT_THAT(own.err, HasSubstr("1 file of the environment"));

  // Under another file name, as a system has it; loaded by a child only.
  const std::string other =
      temp_.file("system/libnccl.so.2.18.1", test::library_fixture("nccl_2_18_1"));
  const test::Ended foreign = sh("LD_PRELOAD=" + other + " sleep 0.3; exit 0", {"--prove"});
  EXPECT_EQ(foreign.status, 125);
  EXPECT_THAT(foreign.err, HasSubstr("not proved: libnccl.so.2 was loaded from " + other +
                                     ", not from " + nccl_ + "\n"));
  EXPECT_THAT(foreign.err, Not(HasSubstr("proved as far")));
}

TEST_F(InEnvironment, AShellHasTheVariablesAndEndsWithItsOwnStatus) {
  const test::Ended ended = goldenv({"shell", "--env", "train"}, {{"SHELL", "/bin/sh"}},
                                    "echo \"$VIRTUAL_ENV\"\nexit 5\n");
  EXPECT_EQ(ended.status, 5) << ended.err;
  EXPECT_EQ(ended.out, prefix_ + "\n");
  EXPECT_EQ(goldenv({"shell", "--env", "train", "--shell", "bash", "--", "-c", "exit 6"}).status,
            6);
  EXPECT_EQ(goldenv({"shell", "--env", "train", "--shell", "/no/shell"}).status, 127);
}

TEST_F(InEnvironment, TheVariablesCanBeReadByOthers) {
  const test::Ended lines = goldenv({"env", "--env", "train", "--set", "ODD=it's\n$HOME"});
  ASSERT_EQ(lines.status, 0) << lines.err;
  const test::Ended read = test::run({{"/bin/sh", "-c", lines.out + "echo \"$VIRTUAL_ENV$ODD\""}});
  EXPECT_EQ(read.out, prefix_ + "it's\n$HOME\n") << read.err;

  const test::Ended unit = goldenv({"env", "--env", "train", "--format", "systemd"},
                                   {{"PATH", "/odd/place:/usr/bin"}, {"LD_PRELOAD", ""}});
  EXPECT_EQ(unit.status, 0);
  EXPECT_THAT(unit.out, HasSubstr("\n[Service]\nEnvironment=\"NCCL_HOME=" + prefix_ + "\"\n"));
  EXPECT_THAT(unit.out, HasSubstr("UnsetEnvironment=LD_LIBRARY_PATH\n"));
  EXPECT_THAT(unit.out, Not(HasSubstr("/odd/place")));

  const test::Ended job = goldenv({"env", "--env", "train", "--format", "slurm", "-o", "job.sh"});
  EXPECT_EQ(job.status, 0);
  EXPECT_EQ(job.out, "");
  EXPECT_THAT(test::read_file(temp_.at("job.sh")),
              HasSubstr("export VIRTUAL_ENV='" + prefix_ + "'"));
  EXPECT_THAT(goldenv({"env", "--env", "train", "--format", "json"}).out,
              HasSubstr("\"prefix\": \"" + prefix_ + "\""));
}

TEST_F(InEnvironment, WhatAFormatCannotCarryIsTwo) {
  const test::Ended file =
      goldenv({"env", "--env", "train", "--format", "docker", "--set", "ODD=a\nb"});
  EXPECT_EQ(file.status, 2);
  EXPECT_EQ(file.out, "");
  EXPECT_THAT(file.err, HasSubstr("ODD (a line end)"));
  EXPECT_EQ(goldenv({"env", "--env", "train", "--set", "A-B=x"}).status, 2);
  EXPECT_EQ(goldenv({"env", "--env", "train", "--format", "yaml"}).status, 2);
  EXPECT_EQ(goldenv({"env", "--env", "other"}).status, 2);
  EXPECT_EQ(goldenv({"env", "--env", "train", "--", "sh"}).status, 2);
}

TEST_F(InEnvironment, WhatHasLostItsPythonIsNotRunWithTheSystems) {
  const std::string python = temp_.file("base/bin/python3.11", "#!/bin/sh\necho its own\n");
  ASSERT_EQ(::chmod(python.c_str(), 0755), 0);
  const compose::Plan plan =
      must(compose::plan(store_, {must(store_.get(nccl_))}, {python, "3.11"}));
  const std::string prefix = must(compose::compose(store_, plan)).folder;
  must(store_.set_root("own", plan.digest));
  const std::vector<std::string> words = {"run", "--env", "own", "--", "python3", "-V"};
  EXPECT_EQ(goldenv(words).out, "its own\n");
  std::filesystem::rename(python, temp_.at("base/away"));
  const test::Ended gone = goldenv(words);
  EXPECT_EQ(gone.status, 125);
  EXPECT_EQ(gone.out, "");
  EXPECT_THAT(gone.err, HasSubstr("has lost its Python"));
  EXPECT_THAT(gone.err, HasSubstr("goldenv provision"));
  EXPECT_EQ(goldenv({"run", "--env", "own", "--prove", "--", "python3", "-V"}).status, 125);
  EXPECT_EQ(goldenv({"shell", "--env", "own", "--", "-c", "true"}).status, 125);
  EXPECT_EQ(goldenv({"env", "--env", "own"}).status, 4);
  std::filesystem::rename(temp_.at("base/away"), python);
  EXPECT_EQ(goldenv(words).out, "its own\n");
  std::filesystem::remove_all(prefix + "/bin");
  EXPECT_EQ(goldenv(words).status, 125);
  for (const auto& entry : std::filesystem::directory_iterator(prefix)) {
    std::filesystem::remove_all(entry.path());
  }
  const test::Ended empty = goldenv(words);
  EXPECT_EQ(empty.status, 125);
  EXPECT_THAT(empty.err, HasSubstr("goldenv provision"));
}

TEST_F(InEnvironment, WhatIsNoNameDoesNotStopARun) {
  temp_.file("store/roots/.x", "");
  temp_.link("store/roots/odd", "nowhere");
  const test::Ended ended = sh("exit 3");
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.err, "goldenv: passed over " + temp_.at("store") + "/roots/.x: it is no link\n" +
                           "goldenv: passed over " + temp_.at("store") +
                           "/roots/odd: it leads to no generation of this store\n");
  EXPECT_EQ(sh("exit 3", {"--quiet"}).err, "");
}

}  // namespace
}  // namespace goldenv
