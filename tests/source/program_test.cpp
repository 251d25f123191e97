#include "source/program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "base/text.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv::source {
namespace {

Ended shell(const std::string& script, std::chrono::milliseconds deadline) {
  Program program;
  program.words = {"/bin/sh", "-c", script};
  program.environment = {"PATH=/usr/bin:/bin"};
  program.deadline = deadline;
  return run(program);
}

/// Whether a process is there and no zombie, some moments after it was killed.
bool is_alive(const std::string& pid) {
  std::string state;
  for (int i = 0; i < 100; ++i) {
    const std::string text = test::read_file("/proc/" + pid + "/stat");
    const std::size_t close = text.rfind(')');
    state = close == std::string::npos ? "" : text.substr(close + 2, 1);
    if (state.empty() || state == "Z" || state == "X") {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// The number that a script wrote to a file; ends what is still there.
class Grandchild {
 public:
  [[nodiscard]] std::string file() const { return dir_.at("pid"); }
  [[nodiscard]] bool lives() const {
    const std::string pid(trim(test::read_file(file())));
    EXPECT_NE(pid, "") << "it was never started";
    const bool lives = is_alive(pid);
    if (lives) {
      kill(static_cast<pid_t>(to_number(pid).value_or(0)), SIGKILL);
    }
    return lives;
  }

 private:
  test::TempDir dir_;
};

constexpr std::chrono::milliseconds kShort{700};
constexpr std::chrono::milliseconds kLong{60'000};

TEST(Run, TellsHowItWent) {
  const Ended ended = shell("echo out; echo err >&2; exit 3", kLong);
  EXPECT_EQ(ended.how, Ended::How::by_itself);
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.output, "out\n");
  EXPECT_EQ(ended.error, "err\n");
  EXPECT_EQ(shell("kill -9 $$", kLong).how, Ended::How::by_signal);
}

TEST(Run, AtTheDeadlineAllOfItsGroupEnds) {
  const Grandchild one;
  const Ended ended = shell("sleep 300 & echo $! > " + one.file() + "; wait", kShort);
  EXPECT_EQ(ended.how, Ended::How::timed_out);
  EXPECT_FALSE(one.lives());
}

TEST(Run, AtTheDeadlineWhatIsInAnotherSessionEndsToo) {
  const Grandchild one;
  const Ended ended = shell(
      "setsid sh -c 'echo $$ > " + one.file() + "; exec sleep 300 >/dev/null 2>&1' & wait", kShort);
  EXPECT_EQ(ended.how, Ended::How::timed_out);
  EXPECT_FALSE(one.lives());
}

TEST(Run, AtTheDeadlineAnOrphanThatHoldsThePipeEnds) {
  const Grandchild one;
  const Ended ended = shell("(setsid sh -c 'echo $$ > " + one.file() +
                                "; exec sleep 300' &) ; exec sleep 300 >/dev/null 2>&1",
                            kShort);
  EXPECT_EQ(ended.how, Ended::How::timed_out);
  EXPECT_FALSE(one.lives());
}

TEST(Run, AChildThatHoldsThePipeIsNotWaitedFor) {
  const Grandchild one;
  const auto begun = std::chrono::steady_clock::now();
  const Ended ended = shell("sleep 300 & echo $! > " + one.file() + "; echo done", kLong);
  EXPECT_EQ(ended.how, Ended::How::by_itself);
  EXPECT_EQ(ended.output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kLong / 2);
  EXPECT_FALSE(one.lives());
}

}  // namespace
}  // namespace goldenv::source
