// The fake machine must answer as the real one does, or tests on it prove nothing.

#include "support/fake_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace goldenv::test {
namespace {

using host::DirEntry;
using host::FileStatus;

TEST(FakeHost, LinksFoldersAndFailuresAreAsOnARealMachine) {
  FakeHost host;
  host.file("/usr/local/cuda-12.1/version.json", "{}")
      .link("/usr/local/cuda", "/etc/alternatives/cuda")
      .link("/etc/alternatives/cuda", "../../usr/local/cuda-12.1")
      .link("/loop", "loop")
      .folder("/empty")
      .deny("/root")
      .fail("/dead", Errc::timed_out);
  EXPECT_EQ(*host.read_file("/usr/local/cuda/version.json", 2), "{}");
  EXPECT_EQ(host.read_file("/usr/local/cuda/version.json", 1).error().code, Errc::too_large);
  EXPECT_EQ(*host.real_path("/usr/local/cuda/../cuda"), "/usr/local/cuda-12.1");
  EXPECT_EQ(*host.hops("/usr/local/cuda"),
            (std::vector<std::string>{"/usr/local/cuda", "/etc/alternatives/cuda",
                                      "/usr/local/cuda-12.1"}));
  EXPECT_EQ(*host.read_link("/usr/local/cuda"), "/etc/alternatives/cuda");
  EXPECT_EQ(*host.list("/usr/local"),
            (std::vector<DirEntry>{{"cuda", FileStatus::Kind::link},
                                   {"cuda-12.1", FileStatus::Kind::folder}}));
  EXPECT_TRUE(host.list("/empty")->empty());
  EXPECT_EQ(host.status("/usr/local/cuda")->kind, FileStatus::Kind::folder);
  EXPECT_EQ(host.status("/usr/local/cuda/version.json")->size_bytes, 2u);
  EXPECT_EQ(host.read_file("/loop", 9).error().code, Errc::unreadable);
  EXPECT_EQ(host.read_file("/empty", 9).error().code, Errc::unreadable);
  EXPECT_EQ(host.read_file("relative", 9).error().code, Errc::unreadable);
  EXPECT_EQ(host.read_file("/none/below", 9).error().code, Errc::absent);
  EXPECT_EQ(host.status("/root/.bashrc").error().code, Errc::denied);
  EXPECT_EQ(host.list("/dead").error().code, Errc::timed_out);
}

TEST(FakeHost, ADescriptorHoldsTheFilesBytes) {
  FakeHost host;
  const std::string large(200'000, 'x');
  host.file("/large", large);
  const auto tail = host.inspect("/large", [](int fd) {
    std::string bytes(8, '?');
    const ssize_t got = pread(fd, bytes.data(), bytes.size(), 199'995);
    return bytes.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
  });
  EXPECT_EQ(*tail, "xxxxx");
}

TEST(FakeHost, VariablesNameMountsAndRoom) {
  FakeHost host;
  host.set("A", "1").file("/proc/self/mountinfo", "1 0 0:1 / / rw - ext4 root rw\n");
  host.room("/dev/shm", {100, 10});
  EXPECT_EQ(*host.variable("A"), "1");
  EXPECT_EQ(host.variable("B").error().code, Errc::absent);
  EXPECT_EQ(*host.variables(), std::vector<std::string>{"A"});
  EXPECT_EQ(host.system_name()->machine, "x86_64");
  EXPECT_EQ(host.mounts().size(), 1u);
  EXPECT_EQ(host.space("/dev/shm/x")->free_bytes, 10u);
  EXPECT_EQ(host.space("/").error().code, Errc::absent);
  FakeHost tree;
  tree.live(false);
  EXPECT_EQ(tree.variable("A").error().code, Errc::not_live);
  EXPECT_EQ(tree.variables().error().code, Errc::not_live);
  EXPECT_EQ(tree.space("/").error().code, Errc::not_live);
}

}  // namespace
}  // namespace goldenv::test
