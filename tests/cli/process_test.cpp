// pid:N and unit:NAME on real processes, and records of the very host.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "support/library_fixture.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

/// A real child, ended with the object.
class Child {
 public:
  Child(std::vector<std::string> argv, std::vector<std::string> environment) {
    std::vector<char*> words;
    for (std::string& word : argv) {
      words.push_back(word.data());
    }
    words.push_back(nullptr);
    std::vector<char*> variables;
    for (std::string& variable : environment) {
      variables.push_back(variable.data());
    }
    variables.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int fd : {0, 1, 2}) {
      posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    }
    EXPECT_EQ(posix_spawn(&pid_, argv[0].c_str(), &files, nullptr, words.data(), variables.data()),
              0);
    posix_spawn_file_actions_destroy(&files);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  [[nodiscard]] std::string source() const { return "pid:" + std::to_string(pid_); }
  /// Waits until the loader is done, which it is when the program sleeps.
  void settle() const {
    for (int i = 0; i < 500; ++i) {
      const std::string folder = "/proc/" + std::to_string(pid_);
      if (test::read_file(folder + "/stat").find(") S ") != std::string::npos &&
          test::read_file(folder + "/maps").find("libc.so") != std::string::npos) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "the child never slept";
  }

 private:
  pid_t pid_ = -1;
};

class ProcessSources : public ::testing::Test {
 protected:
  test::Ended goldenv(std::vector<std::string> words,
                      std::map<std::string, std::string> more = {}) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    std::map<std::string, std::string> environment = {
        {"PATH", "/usr/bin:/bin"}, {"HOME", temp_.folder("home")}, {"LANG", "C.UTF-8"}};
    environment.merge(more);
    return test::run({std::move(words), environment, temp_.path()});
  }

  test::TempDir temp_;
};

TEST_F(ProcessSources, AProcessHasItsOwnVariablesAndLimits) {
  const Child child({"/bin/sleep", "600"}, {"NCCL_DEBUG=INFO", "HF_TOKEN=hf_verysecret"});
  child.settle();
  const test::Ended ended = goldenv(
      {"scan", child.source(), "--only", "env.**", "--only", "limits.memlock", "--format", "yaml"},
      {{"NCCL_DEBUG", "WARN"}});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("env.NCCL_DEBUG: {value: INFO, from: /proc/"), std::string::npos)
      << ended.out;
  EXPECT_NE(ended.out.find("limits.memlock:"), std::string::npos);
  EXPECT_EQ(ended.out.find("verysecret"), std::string::npos);
  const test::Ended live = goldenv({"diff", "@live", child.source()}, {{"NCCL_DEBUG", "WARN"}});
  EXPECT_EQ(live.status, 1) << live.err;
  EXPECT_NE(live.out.find("env.NCCL_DEBUG"), std::string::npos) << live.out;
}

TEST_F(ProcessSources, WhatIsMappedIsInForceEvenWhenItIsReplaced) {
  const std::string library = temp_.file("lib/libnccl.so.2", test::library_fixture("nccl_2_18_1"));
  const Child child({"/bin/sleep", "600"}, {"LD_PRELOAD=" + library});
  child.settle();
  const std::vector<std::string> words = {"scan",   child.source(),    "--only",   "nccl",
                                          "--only", "library.path.**", "--format", "yaml"};
  const test::Ended before = goldenv(words);
  EXPECT_EQ(before.status, 0) << before.err;
  EXPECT_NE(before.out.find(
                "\n  nccl:\n    value: 2.18.1\n    basis: mapped\n    from: " + library + "\n"),
            std::string::npos)
      << before.out;
  EXPECT_NE(before.out.find("mapped by pid "), std::string::npos);
  const std::string newer = temp_.file("lib/new", test::library_fixture("nccl_2_28_9"));
  std::filesystem::rename(newer, library);
  const test::Ended after = goldenv(words);
  EXPECT_EQ(after.status, 0) << after.err;
  EXPECT_NE(after.out.find(library + " (deleted)"), std::string::npos) << after.out;
  EXPECT_NE(after.out.find("on disk now: another file"), std::string::npos) << after.out;
  if (geteuid() == 0) {  // only root can open what is no longer there
    EXPECT_NE(after.out.find("\n  nccl:\n    value: 2.18.1\n"), std::string::npos) << after.out;
  } else {
    EXPECT_NE(after.out.find("\n  nccl:\n    unknown: "), std::string::npos) << after.out;
  }
}

TEST_F(ProcessSources, TheInterpreterThatRunsIsTheTarget) {
  const std::string python = "/usr/bin/python3";
  if (!std::filesystem::exists(python)) {
    GTEST_SKIP() << "no " << python;
  }
  temp_.file("venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  const std::string linked = temp_.link("venv/bin/python", python);
  const Child child({linked, "-S", "-c", "import time; time.sleep(600)"}, {"PATH=/usr/bin"});
  child.settle();
  const test::Ended ended =
      goldenv({"scan", child.source(), "--only", "python.prefix", "--format", "yaml"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("python.prefix:\n    value: " + temp_.at("venv")), std::string::npos)
      << ended.out;
  EXPECT_NE(ended.out.find("runs " + linked), std::string::npos) << ended.out;
}

TEST_F(ProcessSources, NoSuchProcessOrUnitIsTwoAndOneLine) {
  for (const char* word : {"pid:4194304", "pid:x", "pid:0", "pid:", "pid:-1", "unit:", "unit:a/b",
                           "unit:no-such-unit-anywhere"}) {
    const test::Ended ended = goldenv({"scan", word});
    EXPECT_EQ(ended.status, 2) << word;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << word << ": " << ended.err;
    EXPECT_TRUE(ended.out.empty());
  }
  EXPECT_NE(goldenv({"scan", "pid:4194304"}).err.find("no such process"), std::string::npos);
}

TEST_F(ProcessSources, AKernelThreadHasNoVariables) {
  if (!std::filesystem::exists("/proc/2/stat") ||
      test::read_file("/proc/2/stat").find("(kthreadd)") == std::string::npos) {
    GTEST_SKIP() << "no kernel threads in this pid namespace";
  }
  const test::Ended ended = goldenv({"scan", "pid:2", "--only", "env.PATH", "--format", "yaml"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("env.PATH:\n    unknown: not-live"), std::string::npos) << ended.out;
}

/// Without the lines that tell what was scanned.
std::string without_source(const std::string& text) {
  const std::size_t at = text.find("\nsource:");
  return at == std::string::npos ? text : text.substr(0, at) + text.substr(text.find('\n', at + 1));
}

TEST_F(ProcessSources, ARecordOfThisHostGivesTheVerySnapshot) {
  const std::map<std::string, std::string> more = {{"NCCL_DEBUG", "WARN"},
                                                   {"MY_TOKEN", "verysecret"}};
  for (const bool all : {false, true}) {
    const std::string folder = temp_.at(all ? "all" : "some");
    std::vector<std::string> words = {"scan", "--record", folder, "-o", "live.yaml"};
    std::vector<std::string> again = {"scan", "root:" + folder, "-o", "record.yaml"};
    if (all) {
      words.emplace_back("--all");
      again.emplace_back("--all");
    }
    const test::Ended live = goldenv(words, more);
    ASSERT_EQ(live.status, 0) << live.err;
    const test::Ended record = goldenv(again);
    ASSERT_EQ(record.status, 0) << record.err;
    EXPECT_EQ(without_source(test::read_file(temp_.at("live.yaml"))),
              without_source(test::read_file(temp_.at("record.yaml"))));
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) {
        bytes += entry.file_size();
        EXPECT_EQ(test::read_file(entry.path().string()).find("verysecret"), std::string::npos);
      }
    }
    EXPECT_LT(bytes, 20u << 20);
  }
}

TEST_F(ProcessSources, ARecordIsOfThisHostAndGoesToANewFolder) {
  temp_.file("full/x", "");
  temp_.file("tree/etc/os-release", "ID=debian\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"scan", "--record", "full"},
                                             {"scan", "--record", "full/x"},
                                             {"scan", "--record", "none/below"},
                                             {"scan", "--record", ""},
                                             {"scan", "--record", "new", "root:tree"},
                                             {"scan", "--record", "new", "@live", "@live"}}) {
    const test::Ended ended = goldenv(words);
    EXPECT_EQ(ended.status, 2) << words.back() << ended.err;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  }
  EXPECT_FALSE(std::filesystem::exists(temp_.at("new")));
}

}  // namespace
}  // namespace goldenv
