#include "launch/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string>

#include "support/temp_dir.h"

namespace goldenv::launch {
namespace {

using testing::HasSubstr;

Program shell(const std::string& script) {
  return {{"sh", "-c", script}, {{"PATH", "/usr/bin:/bin"}}};
}

Watched watched(
    const Program& program, const Look& look = [](pid_t, std::string_view) {}) {
  Result<Watched> made = watch(program, look);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : Watched{};
}

Refusal refusal(const Program& program) {
  const Watched ended = watched(program);
  EXPECT_TRUE(ended.refusal);
  EXPECT_EQ(ended.status, ended.refusal.value_or(Refusal{}).status);
  return ended.refusal.value_or(Refusal{});
}

void make_executable(const std::string& file) { ASSERT_EQ(::chmod(file.c_str(), 0755), 0); }

TEST(LaunchWatch, TheStatusIsTheProgramsOwn) {
  EXPECT_EQ(watched(shell("exit 0")).status, 0);
  EXPECT_EQ(watched(shell("exit 7")).status, 7);
  const Watched killed = watched(shell("kill -9 $$"));
  EXPECT_EQ(killed.status, 137);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_FALSE(killed.refusal);
}

TEST(LaunchWatch, WhatIsNotThereIs127AndWhatCannotRunIs126) {
  const test::TempDir temp;
  const Refusal absent = refusal({{"no-such-program"}, {{"PATH", temp.path()}}});
  EXPECT_EQ(absent.status, kNotFound);
  EXPECT_EQ(absent.message, "cannot run no-such-program: it is in no folder of PATH");
  EXPECT_EQ(refusal({{temp.at("absent")}, {}}).status, kNotFound);
  EXPECT_EQ(refusal({{temp.at("absent/below")}, {}}).status, kNotFound);
  EXPECT_EQ(refusal({{""}, {}}).status, kNotFound);

  const Refusal plain = refusal({{temp.file("plain", "x")}, {}});
  EXPECT_EQ(plain.status, kCannotExecute);
  EXPECT_THAT(plain.message, HasSubstr("Permission denied"));
  EXPECT_EQ(refusal({{temp.folder("folder")}, {}}).status, kCannotExecute);
  EXPECT_EQ(refusal({{"plain"}, {{"PATH", temp.path()}}}).status, kCannotExecute);

  make_executable(temp.file("script", "#!/no/such/interpreter\n"));
  const Refusal script = refusal({{"script"}, {{"PATH", temp.path()}}});
  EXPECT_EQ(script.status, kCannotExecute);
  EXPECT_THAT(script.message, HasSubstr("first line"));
}

TEST(LaunchWatch, ItsOwnPathIsSearchedPastWhatCannotRun) {
  const test::TempDir temp;
  temp.file("first/tool", "not executable");
  make_executable(temp.file("second/tool", "#!/bin/sh\nexit 5\n"));
  make_executable(temp.file("third/tool", "#!/bin/sh\nexit 6\n"));
  const std::string path =
      temp.at("first") + ":" + temp.at("none") + ":" + temp.at("second") + ":" + temp.at("third");
  EXPECT_EQ(watched({{"tool"}, {{"PATH", path}}}).status, 5);
}

TEST(LaunchWatch, AScriptWithoutAFirstLineIsRunByTheShell) {
  const test::TempDir temp;
  make_executable(temp.file("script", "[ \"$1\" = 'a b' ] && exit 4\n"));
  EXPECT_EQ(watched({{temp.at("script"), "a b"}, {}}).status, 4);
}

TEST(LaunchWatch, ItGetsItsVariablesAndNoOthers) {
  const test::TempDir temp;
  Program program = shell("env -0 > \"$OUT\"");
  program.variables.push_back({"OUT", temp.at("out")});
  program.variables.push_back({"ODD", "a\n\xff=b"});
  ::setenv("GOLDENV_TEST_LEAK", "1", 1);
  EXPECT_EQ(watched(program).status, 0);
  const std::string out = test::read_file(temp.at("out"));
  EXPECT_THAT(out, HasSubstr(std::string("ODD=a\n\xff=b\0", 10)));
  EXPECT_EQ(out.find("GOLDENV_TEST_LEAK"), std::string::npos);
}

TEST(LaunchWatch, ItsProcessesAreSeenAlsoThoseThatLostTheirParent) {
  std::set<pid_t> seen;
  std::string all;
  const Watched ended = watched(shell("(sleep 0.5 &) ; sleep 0.4 & sleep 0.3; exit 3"),
                                [&](pid_t process, std::string_view maps) {
                                  seen.insert(process);
                                  all += maps;
                                });
  EXPECT_EQ(ended.status, 3);
  EXPECT_GE(ended.looks, 2u);
  EXPECT_GE(ended.processes, 4u);  // the shell and three sleeps
  EXPECT_EQ(ended.processes, seen.size());
  EXPECT_EQ(ended.denied, 0u);
  EXPECT_THAT(all, HasSubstr("sleep"));
  EXPECT_THAT(all, HasSubstr("/libc.so"));
}

TEST(LaunchWatch, MapsThatDidNotChangeAreNotGivenAgain) {
  std::size_t given = 0;
  const Watched ended = watched({{"sleep", "0.5"}, {{"PATH", "/usr/bin:/bin"}}},
                                [&](pid_t, std::string_view) { ++given; });
  EXPECT_GE(ended.looks, 5u);
  EXPECT_LT(given, ended.looks);
}

/// Runs `watch` in a process of its own, which the test can send signals to; its last words come by
/// `ready`, a file that the program makes.
class Apart {
 public:
  explicit Apart(const Program& program) : process_(::fork()) {
    if (process_ == 0) {
      const Result<Watched> ended = watch(program, [](pid_t, std::string_view) {});
      if (!ended) {
        ::_exit(99);
      }
      end_as(*ended);
    }
  }
  void wait_for(const std::string& file) const {
    struct stat status {};
    for (int i = 0; i < 1000 && ::stat(file.c_str(), &status) != 0; ++i) {
      ::usleep(10'000);
    }
  }
  void send(int signal) const { ::kill(process_, signal); }
  /// As waitpid gives it; `options` for one that stops.
  int wait(int options = 0) const {
    int status = 0;
    while (::waitpid(process_, &status, options) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  pid_t process_;
};

TEST(LaunchWatch, SignalsGoOnToTheProgram) {
  const test::TempDir temp;
  Program program = shell("trap 'exit 9' TERM; : > \"$READY\"; while :; do sleep 0.02; done");
  program.variables.push_back({"READY", temp.at("ready")});
  const Apart apart(program);
  apart.wait_for(temp.at("ready"));
  apart.send(SIGTERM);
  const int status = apart.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST(LaunchWatch, ItEndsByTheSignalThatEndedTheProgram) {
  const int status = Apart(shell("kill -USR1 $$")).wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
}

TEST(LaunchWatch, ItStopsAndGoesOnWithTheProgram) {
  const Apart apart(shell("kill -STOP $$; exit 6"));
  int status = apart.wait(WUNTRACED);
  ASSERT_TRUE(WIFSTOPPED(status));
  apart.send(SIGCONT);
  status = apart.wait();
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST(LaunchWatch, TheProgramHasTheMaskAndSignalsOfTheCaller) {
  // A program that began with all signals blocked could not be ended.
  const test::TempDir temp;
  Program program = shell("grep -E '^Sig(Blk|Ign)' /proc/self/status > \"$OUT\"");
  program.variables.push_back({"OUT", temp.at("out")});
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(watched(program).status, 0);
  std::signal(SIGXFSZ, SIG_DFL);
  const std::string out = test::read_file(temp.at("out"));
  EXPECT_THAT(out, HasSubstr("SigBlk:\t0000000000000000"));
  const std::size_t ignored = out.find("SigIgn:\t");
  ASSERT_NE(ignored, std::string::npos);
  const unsigned long mask = std::stoul(out.substr(ignored + 8, 16), nullptr, 16);
  EXPECT_EQ(mask & (1ul << (SIGXFSZ - 1)), 0u);
}

}  // namespace
}  // namespace goldenv::launch
