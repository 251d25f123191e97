#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// ssh:HOST through the real ssh and a real sshd on this machine, an ordinary process with keys and
// a port of its own.

namespace goldenv::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// A port that is free, and listened on by nobody.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool open = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return open;
}

class RealSsh : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"}) {
      if (access(program, X_OK) != 0) {
        GTEST_SKIP() << program << " is not installed";
      }
    }
    mkdir("/run/sshd", 0755);  // sshd as root wants it; others need and get none
    for (const char* key : {"host", "other", "me", "stranger"}) {
      ASSERT_EQ(run({.argv = {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                              temp_.at(key)}})
                    .status,
                0);
    }
    port_ = free_port();
    std::filesystem::copy_file(temp_.at("me.pub"), temp_.at("authorized"));
    temp_.file("sshd_config", "Port " + std::to_string(port_) +
                                  "\nListenAddress 127.0.0.1\nHostKey " + temp_.at("host") +
                                  "\nAuthorizedKeysFile " + temp_.at("authorized") +
                                  "\nPidFile none\nStrictModes no\nUsePAM no\n"
                                  "PasswordAuthentication no\nPermitRootLogin yes\nSetEnv TMPDIR=" +
                                  temp_.folder("far") + " SECRET_OF_FAR=hunter2\n");
    server_ = fork();
    if (server_ == 0) {
      execl("/usr/sbin/sshd", "/usr/sbin/sshd", "-D", "-f", temp_.at("sshd_config").c_str(), "-E",
            temp_.at("sshd.log").c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 100 && !answers(port_); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(answers(port_)) << read_file(temp_.at("sshd.log"));
    trust("host");
    configure("me", port_);
  }
  void TearDown() override {
    if (server_ > 0) {
      kill(server_, SIGTERM);
      waitpid(server_, nullptr, 0);
    }
  }
  void trust(const std::string& key) {
    temp_.file("known",
               "[127.0.0.1]:" + std::to_string(port_) + " " + read_file(temp_.at(key + ".pub")));
  }
  /// An ssh on PATH that has a configuration of its own.
  void configure(const std::string& key, int port) {
    temp_.file("ssh_config", "Host gpu17\n  HostName 127.0.0.1\n  Port " + std::to_string(port) +
                                 "\n  IdentityFile " + temp_.at(key) +
                                 "\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
                                 temp_.at("known") + "\n  RemoteCommand false\n");
    const std::string path = temp_.file(
        "bin/ssh", "#!/bin/sh\nexec /usr/bin/ssh -F " + temp_.at("ssh_config") + " \"$@\"\n");
    chmod(path.c_str(), 0755);
  }
  Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    std::map<std::string, std::string> environment = {{"HOME", temp_.folder("home")},
                                                      {"PATH", temp_.at("bin") + ":/usr/bin:/bin"}};
    const std::string built = GOLDENV_BINARY_DIR "/src/goldenv-portable";
    if (!std::filesystem::exists(built)) {
      environment["GOLDENV_PORTABLE"] = GOLDENV_PROGRAM;
    }
    return run({.argv = std::move(words), .environment = environment, .folder = temp_.path()});
  }
  std::string refusal() {
    const Ended ended = goldenv({"scan", "ssh:gpu17"});
    EXPECT_EQ(ended.status, 4) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, MatchesRegex("goldenv: ssh:gpu17: [^\n]+\n"));
    return ended.err;
  }
  TempDir temp_;
  int port_ = 0;
  pid_t server_ = -1;
};

TEST_F(RealSsh, AHostIsLookedAtAndNothingStaysThere) {
  const Ended far = goldenv({"scan", "ssh:gpu17", "--format", "json"});
  ASSERT_EQ(far.status, 0) << far.err << read_file(temp_.at("sshd.log"));
  const Ended here = goldenv({"scan", "--format", "json"});
  const Json there = Json::parse(far.out, nullptr, false)["facts"];
  const Json own = Json::parse(here.out, nullptr, false)["facts"];
  for (const char* key : {"kernel", "os.name", "glibc", "cpu.model", "host.name"}) {
    EXPECT_EQ(there[key], own[key]) << key;
  }
  EXPECT_THAT(far.out, Not(HasSubstr("hunter2")));
  EXPECT_TRUE(std::filesystem::is_empty(temp_.at("far")));
  EXPECT_TRUE(std::filesystem::is_empty(temp_.at("home"))) << "no cache at the far end";
}

TEST_F(RealSsh, AHostIsCheckedAndComparedLikeAnyOther) {
  temp_.file("m.yaml",
             "goldenv: 1\npins:\n  kernel: \">=1.0\"\n  env.SECRET_OF_FAR: absent\n"
             "files:\n  " +
                 temp_.file("pinned", "x") + ": {sha256: " + std::string(64, '0') + "}\n");
  const Ended check = goldenv({"check", "m.yaml", "ssh:gpu17"});
  EXPECT_EQ(check.status, 1) << check.err;
  EXPECT_THAT(check.out, HasSubstr("file@" + temp_.at("pinned")));
  EXPECT_THAT(check.out, HasSubstr("env.SECRET_OF_FAR"));
  EXPECT_THAT(check.out, HasSubstr("not-collected"));
  const Ended diff = goldenv({"diff", "@live", "ssh:gpu17", "--only", "layer:kernel"});
  EXPECT_EQ(diff.status, 0) << diff.out << diff.err;
}

TEST_F(RealSsh, EachWayToFailHasItsWords) {
  trust("other");
  EXPECT_THAT(refusal(), HasSubstr("host key is another than the known one"));
  temp_.file("known", "");
  EXPECT_THAT(refusal(), HasSubstr("host key is not known"));
  trust("host");
  configure("stranger", port_);
  EXPECT_THAT(refusal(), HasSubstr("refuses the login"));
  configure("me", free_port());
  EXPECT_THAT(refusal(), HasSubstr("refuses the connection"));
}

TEST_F(RealSsh, OneHostOfSeveralThatFailsIsFour) {
  temp_.file("s.yaml", "goldenv_snapshot: 0\nsource: \"@live\"\nfacts:\n  glibc: {value: 2.31}\n");
  configure("me", free_port());
  const Ended ended = goldenv({"scan", "s.yaml", "ssh:gpu17"});
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.out, HasSubstr("2.31"));
  EXPECT_THAT(ended.err, HasSubstr("ssh:gpu17: it refuses the connection"));
}

TEST_F(RealSsh, AWordThatNamesAKnownHostIsExplained) {
  temp_.file("home/.ssh/config", "Host gpu17\n  HostName 192.0.2.1\n");
  const Ended known = goldenv({"scan", "gpu17"});
  EXPECT_EQ(known.status, 2);
  EXPECT_EQ(known.err, "goldenv: no such file: gpu17; did you mean ssh:gpu17?\n");
  EXPECT_EQ(goldenv({"scan", "gpu18"}).err, "goldenv: no such file: gpu18\n");
}

TEST_F(RealSsh, WordsThatAreNoHostsAreBadUsage) {
  for (const std::string& word : {std::string("-oProxyCommand=touch made"), std::string(""),
                                  std::string("a;touch made"), std::string("$(touch made)")}) {
    EXPECT_EQ(goldenv({"scan", "ssh:" + word}).status, 2) << word;
  }
  EXPECT_FALSE(std::filesystem::exists(temp_.at("made")));
}

}  // namespace
}  // namespace goldenv::test
