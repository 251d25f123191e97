#include "source/ssh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "source/far_look.h"
#include "source/ssh_hosts.h"
#include "source/ssh_script.h"
#include "support/temp_dir.h"

namespace goldenv::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SshHost, IsANameAndNeitherOptionNorShellText) {
  for (const char* word :
       {"gpu17", "me@gpu17", "gpu17.example.org", "10.0.0.1", "fe80::1%eth0", "DOM.user_1@a-b"}) {
    EXPECT_EQ(parse_ssh_host(word).value_or("-"), word);
  }
  for (const char* word : {"",
                           "-oProxyCommand=touch x",
                           "--",
                           "@gpu17",
                           "me@",
                           "-l@gpu17",
                           "me@-x",
                           "a b",
                           "a;b",
                           "$(touch x)",
                           "`x`",
                           "a'b",
                           "a\"b",
                           "a\nb",
                           "a/b",
                           "me:pw@gpu17",
                           "ssh://gpu17",
                           "a\\b",
                           "a|b",
                           "a&b",
                           "a>b",
                           "~",
                           "*",
                           "a@b@c",
                           "a\x7f"}) {
    const auto host = parse_ssh_host(word);
    EXPECT_FALSE(host) << word;
    EXPECT_EQ(host ? Errc::failed : host.error().code, Errc::usage) << word;
  }
  EXPECT_THAT(parse_ssh_host("me:hunter2@gpu17").error().message, Not(HasSubstr("hunter2")));
}

TEST(SshHosts, AreReadFromConfigurationAndKnownKeys) {
  EXPECT_THAT(
      hosts_in_config("# Host no\nHost gpu17 gpu18\n  HostName x\nhost=a !b *.lan c?\nHost\n"),
      ElementsAre("gpu17", "gpu18", "a"));
  EXPECT_THAT(
      hosts_in_known("gpu17,10.0.0.1 ssh-ed25519 AAAA\n|1|aaa|bbb ssh-rsa A\n[gpu19]:2222 k A\n"
                     "@revoked gpu20 k A\n# gpu21 k A\n*.lan k A\ngpu22\n[gpu23 k A\n"),
      ElementsAre("gpu17", "10.0.0.1", "gpu19", "[gpu23"));
}

TEST(SshScript, AnyLoginShellTakesItAsItIs) {
  const std::string script =
      ssh_script("ab12", "x86_64", std::string(64, 'a'), std::chrono::seconds(9));
  const std::string start = "exec /bin/sh -c '";
  ASSERT_TRUE(script.starts_with(start) && script.ends_with("'"));
  const std::string inner = script.substr(start.size(), script.size() - start.size() - 1);
  EXPECT_EQ(inner.find_first_of("'\\!\n"), std::string::npos);
  EXPECT_EQ(inner.find("%N"), std::string::npos);
  EXPECT_THAT(inner, HasSubstr(" @answer \"$d/request\" 9 "));
}

TEST(FarLook, RequestsGoThereAndBack) {
  probe::Request request;
  request.named = {{"file", "/a b\"c\n"}, {"kernel", ""}};
  request.families = {"env"};
  request.only_named = true;
  request.target_python = "/opt/v\xc3\xa4nv";
  const std::string text = render_request(request);
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one line";
  const auto back = parse_request(text, "r");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->named, request.named);
  EXPECT_EQ(back->families, request.families);
  EXPECT_TRUE(back->only_named);
  EXPECT_FALSE(back->all);
  EXPECT_EQ(back->target_python, request.target_python);
  for (const char* bad : {"", "{}", "[]", "{\"goldenv_request\":1}", "{\"goldenv_request\":0}"}) {
    EXPECT_EQ(parse_request(bad, "r").error().code, Errc::malformed) << bad;
  }
}

TEST(SshAnswer, StandsBetweenItsTwoLines) {
  const std::string head = "Welcome!\ngoldenv other Linux\n\ngoldenv ab12 Linux x86_64\n";
  const std::string body =
      R"({"goldenv_snapshot":0,"source":"@live","listed":["env","dpkg.package"],"facts":{
    "glibc":{"value":"2.31"},"env.PATH":{"value":"/bin"},"env.A":{"absent":"no"}}})";
  const std::string tail = "\ngoldenv ab12 end 0\n";
  const auto snapshot = parse_ssh_answer(head + body + tail, "ab12", "ssh:a");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->source, "ssh:a");
  EXPECT_EQ(facts::describe(snapshot->read({"glibc", ""}).reading), "2.31");
  for (const char* key : {"env.PATH", "env.A", "env.NOT_ASKED"}) {
    EXPECT_TRUE(std::holds_alternative<facts::Unknown>(snapshot->read({key, ""}).reading)) << key;
  }
  const auto error = [&](const std::string& output) {
    const auto read = parse_ssh_answer(output, "ab12", "ssh:a");
    EXPECT_FALSE(read) << output;
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("answers with nothing"));
  EXPECT_THAT(error("This account is not available.\n"), HasSubstr("something else: This account"));
  EXPECT_THAT(error(head + body), HasSubstr("stopped in the middle"));
  EXPECT_THAT(error(head + body + "\ngoldenv ab12 end 14"), HasSubstr("stopped in the middle"));
  EXPECT_THAT(error(head + body + "\ngoldenv ab12 end 142\n"), HasSubstr("end 142"));
  EXPECT_THAT(error(head + body.substr(0, 100) + tail), HasSubstr("is no snapshot"));
  EXPECT_THAT(error(head + std::string(1000, '\0') + tail), HasSubstr("is no snapshot"));
}

/// A stand-in for ssh: whatever it is told, it is the far end itself.
class StandIn : public testing::Test {
 protected:
  /// `body` stands behind the options: $host, $command.
  Result<facts::Snapshot> look(const std::string& body,
                               std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const std::string path = temp_.file(
        "bin/ssh", "#!/bin/sh\nwhile test \"$1\" != --; do echo \"$1\" >> " + temp_.at("options") +
                       "; shift; done\nhost=$2; command=$3\nexport TMPDIR=" + temp_.folder("tmp") +
                       "\nnonce=$(printf %s \"$command\" | sed -n "
                       "'s/.*\"goldenv \\([0-9a-f]*\\) end .*/\\1/p')\n" +
                       body + "\n");
    chmod(path.c_str(), 0755);
    const std::string built = GOLDENV_BINARY_DIR "/src/goldenv-portable";
    SshOptions options;
    options.ssh = path;
    options.portable = std::filesystem::exists(built) ? built : GOLDENV_PROGRAM;
    options.deadline = deadline;
    return look_at_ssh("gpu17", request_, "ssh:gpu17", options);
  }
  std::string error(const std::string& body,
                    std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const auto snapshot = look(body, deadline);
    EXPECT_FALSE(snapshot);
    if (snapshot) {
      return {};
    }
    EXPECT_EQ(snapshot.error().code, Errc::failed);
    EXPECT_THAT(snapshot.error().message, testing::StartsWith("ssh:gpu17: "));
    return snapshot.error().message;
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(temp_.at("tmp"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  test::TempDir temp_;
  probe::Request request_;
};

TEST_F(StandIn, TheFarEndAnswersAndKeepsNothing) {
  setenv("GOLDENV_TEST_SECRET", "hunter2", 1);
  request_.named = {{"file", "/etc/passwd"}, {"kernel", ""}, {"env.GOLDENV_TEST_SECRET", ""}};
  request_.only_named = true;
  const auto snapshot = look("test \"$host\" = gpu17 && echo noise && exec sh -c \"$command\"");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_TRUE(std::holds_alternative<facts::Value>(snapshot->read({"kernel", ""}).reading));
  EXPECT_TRUE(
      std::holds_alternative<facts::Value>(snapshot->read({"file", "/etc/passwd"}).reading));
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(
      snapshot->read({"env.GOLDENV_TEST_SECRET", ""}).reading));
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(StandIn, WhySshFailedIsTold) {
  const auto fails = [&](const std::string& words) {
    return error("echo '" + words + "' >&2; exit 255");
  };
  EXPECT_THAT(fails("ssh: connect to host gpu17 port 22: Connection refused"),
              HasSubstr("refuses the connection (ssh: connect"));
  EXPECT_THAT(fails("ssh: connect to host gpu17 port 22: Connection timed out"),
              HasSubstr("cannot be reached"));
  EXPECT_THAT(fails("ssh: Could not resolve hostname gpu17: Name or service not known"),
              HasSubstr("there is no such host"));
  EXPECT_THAT(
      fails("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed."),
      HasSubstr("host key is another than the known one"));
  EXPECT_THAT(fails("Host key verification failed."), HasSubstr("host key is not known"));
  EXPECT_THAT(fails("me@gpu17: Permission denied (publickey)."), HasSubstr("refuses the login"));
  EXPECT_THAT(fails(""), HasSubstr("ssh failed"));
  EXPECT_THAT(error("kill -9 $$"), HasSubstr("signal 9"));
}

TEST_F(StandIn, NoSecretIsRepeated) {
  const std::string line = "login hook: password=SECRET, Authorization: Bearer SECRET";
  const std::string key = "-----BEGIN PRIVATE KEY-----\nSECRET\nSECRET";
  for (const std::string& words : {line, key}) {
    const std::string said = "echo '" + words + "'";
    for (const std::string& body :
         {said + " >&2; exit 255", said + " >&2; exit 1", said + "; exit 1", said,
          "echo \"goldenv $nonce Linux x86_64\"; " + said + " >&2; exit 255",
          "echo \"goldenv $nonce Linux x86_64\"; " + said + " >&2; exit 41"}) {
      EXPECT_THAT(error(body), testing::Not(HasSubstr("SECRET"))) << body;
    }
  }
}

TEST_F(StandIn, OfASelectionNothingElseComesBack) {
  request_.selection = *facts::Selection::parse({"os"});
  request_.named = {{"host.name", ""}};
  const auto snapshot = look(
      "echo \"goldenv $nonce Linux x86_64\"; echo '"
      R"({"goldenv_snapshot":0,"source":"@live","listed":["dpkg.package"],"facts":{)"
      R"("os.name":{"value":"T"},"host.name":{"value":"h"},"libcuda":{"value":"550.90.12"},)"
      R"("driver":{"value":"550.90.07"},"dpkg.package.a":{"value":"1"}}})"
      "'; echo \"goldenv $nonce end 0\"");
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  std::vector<std::string> keys;
  for (const facts::Fact& fact : snapshot->facts) {
    keys.push_back(fact.key.text());
  }
  EXPECT_THAT(keys, ElementsAre("host.name", "os.name"));
  EXPECT_THAT(snapshot->listed, ElementsAre());
}

TEST_F(StandIn, AnotherMachineIsTold) {
  const auto with = [&](const std::string& what, const std::string& other) {
    return error("exec sh -c \"$(printf %s \"$command\" | sed 's/uname " + what + "/echo " + other +
                 "/g')\"");
  };
  EXPECT_THAT(with("-m", "riscv64"), HasSubstr("another architecture, riscv64"));
  EXPECT_THAT(with("-s", "Darwin"), HasSubstr("it runs Darwin"));
  EXPECT_THAT(left(), ElementsAre());
}

TEST_F(StandIn, StallsEndAtTheDeadline) {
  const std::chrono::seconds short_one(1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error("sleep 300", short_one), HasSubstr("no answer within 1 s"));
  EXPECT_THAT(error("echo \"goldenv $nonce Linux x86_64\"; echo {; sleep 300", short_one),
              HasSubstr("stalled in its answer"));
  // It ends, and what it started holds its output open.
  EXPECT_THAT(error("sleep 300 & exit 255", short_one), HasSubstr("ssh failed"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(StandIn, GarbageIsNoAnswer) {
  EXPECT_THAT(error("head -c 100000 /dev/urandom"), HasSubstr("it answers with"));
  EXPECT_THAT(error("echo \"goldenv $nonce Linux x86_64\"; head -c 5000 /dev/urandom; echo; "
                    "echo \"goldenv $nonce end 0\""),
              HasSubstr("is no snapshot"));
  EXPECT_THAT(error("echo This account is not available.; exit 1"),
              HasSubstr("login shell ended with status 1 (This account is not available.)"));
  EXPECT_THAT(error("yes"), HasSubstr("larger than 32 MiB"));
  EXPECT_THAT(error("echo \"goldenv $nonce Linux x86_64\"; echo '{'; echo closed >&2; exit 255"),
              HasSubstr("lost in its answer (closed)"));
}

TEST_F(StandIn, WhatDoesNotArriveWholeIsNotRun) {
  EXPECT_THAT(error("head -c 200000 | sh -c \"$command\""), HasSubstr("another digest"));
  EXPECT_THAT(left(), ElementsAre());
  EXPECT_THAT(error("exec sh -c \"$command\" < /dev/null"), HasSubstr("did not arrive"));
  // Folders from which nothing runs.
  EXPECT_THAT(error("exec sh -c \"$(printf %s \"$command\" | sed 's/ --version/ --nonsense/')\""),
              HasSubstr("no folder there"));
  EXPECT_THAT(left(), ElementsAre());
}

}  // namespace
}  // namespace goldenv::source
