#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "host/process.h"
#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::host {
namespace {

constexpr char kStat[] =
    "7 (a (b) c) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 18446744073709551615";
constexpr char kMounts[] = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n";

/// A machine with pid 7, whose folder holds the usual files.
std::unique_ptr<test::FakeHost> machine() {
  auto host = std::make_unique<test::FakeHost>();
  host->file("/proc/7/stat", kStat)
      .file("/proc/7/status", "Name:\ta\nTgid:\t7\nUid:\t1000\t1000\t1000\t1000\n")
      .file("/proc/7/environ", std::string("A=1\0B=x=y\0A=2\0=odd\0EMPTY=\0", 25))
      .file("/proc/7/limits", "Max locked memory  1 2 bytes\n")
      .file("/proc/7/cgroup", "0::/system.slice/a.service\n")
      .file("/proc/7/maps", "")
      .file("/proc/7/cmdline", std::string("/usr/bin/prog\0--x\0", 18))
      .file("/proc/7/mountinfo", kMounts)
      .file("/proc/self/mountinfo", kMounts)
      .file("/proc/stat", "cpu 1\nbtime 1700000000\n")
      .file("/usr/bin/prog", "")
      .link("/proc/7/exe", "/usr/bin/prog")
      .set("HOME", "/root");
  return host;
}

Errc code_of(const Result<std::string>& result) {
  return result ? Errc::usage : result.error().code;
}

TEST(ParseMaps, TakesFilesOnceByPath) {
  const auto files = parse_maps(
      "7f01-7f02 r-xp 00000000 fd:01 12    /usr/lib/libb.so.1\n"
      "7f02-7f03 r--p 00001000 fd:01 12    /usr/lib/libb.so.1\n"
      "7f03-7f04 rw-p 00000000 00:00 0 \n"
      "7f04-7f05 rw-p 00000000 00:00 0     [heap]\n"
      "7f05-7f06 rw-s 00000000 00:01 0     /dev/zero (deleted)\n"
      "7f06-7f07 r-xp 00000000 08:10 3     /a b\\012c (deleted)\n"
      "7f07 r-xp 00000000 08:10 3     /no/range\n"
      "7f08-7f09 r-xp 00000000 08 3     /no/device\n"
      "7f0a-7f0b r-xp 0000");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/a b\nc (deleted)");
  EXPECT_EQ(files[1].path, "/usr/lib/libb.so.1");
  EXPECT_EQ(files[1].range, "7f01-7f02");
  EXPECT_EQ(files[1].inode, 12u);
}

TEST(ProcessHost, AnswersAsTheProcess) {
  const auto host = process_host(machine(), 7);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(*(*host)->variable("A"), "1");
  EXPECT_EQ(*(*host)->variable("B"), "x=y");
  EXPECT_EQ(*(*host)->variable("EMPTY"), "");
  EXPECT_EQ(code_of((*host)->variable("HOME")), Errc::absent);
  EXPECT_EQ(*(*host)->variables(), (std::vector<std::string>{"A", "B", "EMPTY"}));
  EXPECT_EQ(*(*host)->read_file("/proc/self/limits"), "Max locked memory  1 2 bytes\n");
  EXPECT_EQ(*(*host)->read_file("/proc//self/./cgroup"), "0::/system.slice/a.service\n");
  EXPECT_EQ(code_of((*host)->read_file("/proc/self/limits", 3)), Errc::too_large);
  EXPECT_TRUE((*host)->exists("/usr/bin/prog"));
  const Process& process = *(*host)->process();
  EXPECT_EQ(process.name, "pid 7 (a (b) c)");
  EXPECT_EQ(*process.program, "/usr/bin/prog");
  EXPECT_EQ(process.arguments, (std::vector<std::string>{"/usr/bin/prog", "--x"}));
  EXPECT_GT(process.since_s, 1700000000);
  EXPECT_FALSE(process.own_root);
  EXPECT_TRUE(confirm_process(**host));
}

TEST(ProcessHost, AThreadMeansItsProcess) {
  auto outer = machine();
  outer->file("/proc/8/stat", kStat).file("/proc/8/status", "Tgid:\t7\n");
  const auto host = process_host(std::move(outer), 8);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ((*host)->process()->pid, 7u);
  ASSERT_EQ((*host)->process()->notes.size(), 1u);
}

TEST(ProcessHost, NoSuchProcessIsAnError) {
  const auto host = process_host(machine(), 9);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, Errc::absent);
  EXPECT_EQ(host.error().message, "pid 9: no such process");
}

TEST(ProcessHost, AnothersProcessIsDeniedAndNeverAbsent) {
  auto outer = machine();
  for (const char* name : {"environ", "maps", "exe", "auxv"}) {
    outer->deny(std::string("/proc/7/") + name);
  }
  const auto host = process_host(std::move(outer), 7);
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(code_of((*host)->variable("A")), Errc::denied);
  EXPECT_NE((*host)->variable("A").error().message.find("by user 1000 and root alone"),
            std::string::npos);
  EXPECT_FALSE((*host)->variables());
  EXPECT_EQ((*host)->process()->program.error().code, Errc::denied);
  EXPECT_EQ((*host)->process()->mapped.error().code, Errc::denied);
  EXPECT_TRUE((*host)->read_file("/proc/self/limits"));
}

TEST(ProcessHost, KernelThreadsAndZombiesHaveNoEnvironment) {
  for (const auto& [stat, word] : {std::pair{"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 "
                                             "20 0 1 0 3 0 0 0",
                                             "kernel thread"},
                                   {"7 (x) Z 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 "
                                    "0",
                                    "zombie"}}) {
    auto outer = machine();
    outer->file("/proc/7/stat", stat).file("/proc/7/environ", "");
    const auto host = process_host(std::move(outer), 7);
    ASSERT_TRUE(host) << host.error().message;
    EXPECT_EQ(code_of((*host)->variable("A")), Errc::not_live);
    EXPECT_NE((*host)->variable("A").error().message.find(word), std::string::npos);
    EXPECT_EQ((*host)->process()->mapped.error().code, Errc::not_live);
    EXPECT_EQ((*host)->process()->program.error().code, Errc::not_live);
  }
}

TEST(ProcessHost, ADamagedStatIsAnError) {
  for (const char* stat : {"", "7", "7 (x", "7 (x) S 1 2", "7 )x( S"}) {
    auto outer = machine();
    outer->file("/proc/7/stat", stat);
    const auto host = process_host(std::move(outer), 7);
    ASSERT_FALSE(host) << stat;
    EXPECT_EQ(host.error().code, Errc::unreadable);
  }
}

TEST(ProcessHost, AUnitThatIsNotRunningHasNoProcess) {
  Process about;
  about.name = "a.service";
  const auto host = host_without_process(machine(), about, "is not running");
  EXPECT_EQ(code_of(host->variable("A")), Errc::not_live);
  EXPECT_EQ(host->variable("A").error().message, "a.service: is not running");
  EXPECT_EQ(code_of(host->read_file("/proc/self/limits")), Errc::not_live);
  EXPECT_EQ(code_of(host->read_link("/proc/self/exe")), Errc::not_live);
  EXPECT_TRUE(host->exists("/usr/bin/prog"));
}

/// A real child, ended with the object.
class Sleeper {
 public:
  explicit Sleeper(std::vector<std::string> argv, std::vector<std::string> environment) {
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> out;
      for (std::string& text : texts) {
        out.push_back(text.data());
      }
      out.push_back(nullptr);
      return out;
    };
    EXPECT_EQ(posix_spawn(&pid_, argv[0].c_str(), nullptr, nullptr, pointers(argv).data(),
                          pointers(environment).data()),
              0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() { end(); }
  void end() {
    kill_it();
    if (pid_ > 0) {
      waitpid(std::exchange(pid_, -1), nullptr, 0);
    }
  }
  void kill_it() const {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
    }
  }
  [[nodiscard]] std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

 private:
  pid_t pid_ = -1;
};

template <typename Until>
bool comes_true(const Until& until) {
  for (int i = 0; i < 500 && !until(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return until();
}

bool maps_libc(const Host& host) {
  return host.process()->mapped && std::ranges::any_of(*host.process()->mapped, [](const auto& f) {
           return f.path.find("/libc.so.6") != std::string::npos;
         });
}

TEST(ProcessHost, ARealChildIsSeenAsItIs) {
  const Sleeper child({"/bin/sleep", "600"}, {"GOLDENV_TEST=1", "EMPTY="});
  std::unique_ptr<Host> host;
  ASSERT_TRUE(comes_true([&] {
    auto opened = process_host(live_host(), child.pid());
    host = opened ? *std::move(opened) : nullptr;
    return host && maps_libc(*host);
  }));
  EXPECT_EQ(*host->variable("GOLDENV_TEST"), "1");
  EXPECT_EQ(*host->variables(), (std::vector<std::string>{"EMPTY", "GOLDENV_TEST"}));
  EXPECT_FALSE(host->process()->own_root);
  EXPECT_TRUE(host->process()->program->ends_with("/sleep"));
  EXPECT_NE(host->read_file("/proc/self/limits")->find("Max locked memory"), std::string::npos);
  EXPECT_EQ(*host->read_link("/proc/self/cwd"), *live_host()->read_link("/proc/self/cwd"));
}

TEST(ProcessHost, AZombieAndAnEndedChildAreTold) {
  Sleeper child({"/bin/sleep", "600"}, {"A=1"});
  child.kill_it();
  ASSERT_TRUE(comes_true([&] {
    const auto host = process_host(live_host(), child.pid());
    return host && code_of((*host)->variable("A")) == Errc::not_live;
  }));
  const auto host = process_host(live_host(), child.pid());
  EXPECT_NE((*host)->variable("A").error().message.find("zombie"), std::string::npos);
  const std::uint32_t pid = child.pid();
  child.end();
  EXPECT_EQ(process_host(live_host(), pid).error().code, Errc::absent);
  // What was read once stays; what is asked for now is not taken for absent.
  EXPECT_EQ(code_of((*host)->read_link("/proc/self/cwd")), Errc::not_live);
}

}  // namespace
}  // namespace goldenv::host
