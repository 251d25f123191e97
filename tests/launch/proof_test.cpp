#include "launch/proof.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::launch {
namespace {

constexpr const char* kNccl = "0123-nvidia-nccl-cu12-2.19.3";

Proof made() {
  return Proof({.setting = {"/store", "/usr"},
                .prefix = "/store/envs/abc",
                .objects = {kNccl, "4567-torch-2.2.1"},
                .libraries = {{"libnccl.so.2", kNccl}, {"libtorch.so", "4567-torch-2.2.1"}}});
}

std::string line(const std::string& path) {
  return "7f0000000000-7f0000001000 r-xp 00000000 fd:01 4711                     " + path + "\n";
}

std::string object(const std::string& id, const std::string& path) {
  return "/store/objects/" + id + "/tree/site/" + path;
}

TEST(LaunchProof, LibrariesOfItsObjectsAndItsCopiesAreItsOwn) {
  Proof proof = made();
  const std::string nccl = object(kNccl, "nvidia/nccl/lib/libnccl.so.2");
  proof.add(line(nccl) + line("/store/envs/abc/lib/python3.11/site-packages/torch/bin/manager") +
            line("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_EQ(proof.own().size(), 2u);
  EXPECT_EQ(proof.own().at(nccl), kNccl);
  EXPECT_EQ(proof.others().at("/usr/lib/x86_64-linux-gnu/libc.so.6"), compose::Provenance::system);
  EXPECT_TRUE(proof.misses().empty());
}

TEST(LaunchProof, ACopyFromElsewhereIsAMissWhateverItsFileIsCalled) {
  for (const std::string path :
       {"/usr/lib/x86_64-linux-gnu/libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2.18.3",
        "/home/u/libnccl.so.2"}) {
    Proof proof = made();
    proof.add(line(path));
    ASSERT_EQ(proof.misses().size(), 1u) << path;
    EXPECT_EQ(*proof.misses().begin(), (Miss{"libnccl.so.2", path, kNccl, false}));
  }
}

TEST(LaunchProof, AnotherObjectOfTheSameStoreIsAMissToo) {
  Proof proof = made();
  const std::string other = object("89ab-nvidia-nccl-cu12-2.18.1", "nvidia/nccl/lib/libnccl.so.2");
  const std::string neighbour = "/store/envs/abcdef/lib/libtorch.so";
  proof.add(line(other) + line(neighbour));
  EXPECT_EQ(proof.misses(),
            (std::set<Miss>{{"libnccl.so.2", other, kNccl, false},
                            {"libtorch.so", neighbour, "4567-torch-2.2.1", false}}));
}

TEST(LaunchProof, WhatIsGoneProvesNothing) {
  Proof proof = made();
  const std::string nccl = object(kNccl, "nvidia/nccl/lib/libnccl.so.2");
  proof.add(line(nccl + " (deleted)"));
  ASSERT_EQ(proof.misses().size(), 1u);
  EXPECT_TRUE(proof.misses().begin()->deleted);
  EXPECT_TRUE(proof.own().empty());
}

TEST(LaunchProof, OtherNamesAndOtherVersionsAreNoCopies) {
  Proof proof = made();
  proof.add(line("/opt/libnccl.so.20") + line("/opt/libnccl.so.1") + line("/opt/xlibnccl.so.2") +
            line("/opt/libtorch.so/other.so") + line("/etc/ld.so.cache"));
  EXPECT_TRUE(proof.misses().empty());
  EXPECT_EQ(proof.others().size(), 4u) << "the loader's table is no library";
}

TEST(LaunchProof, WhatSeveralProcessesHaveIsTakenTogether) {
  Proof proof = made();
  proof.add(line("/opt/libnccl.so.2"));
  proof.add(line("/opt/libnccl.so.2") + line("/opt/b/libnccl.so.2"));
  proof.add("");
  proof.add("garbage\n7f00 /x");
  EXPECT_EQ(proof.misses().size(), 2u);
}

}  // namespace
}  // namespace goldenv::launch
