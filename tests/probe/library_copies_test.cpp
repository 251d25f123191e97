#include "probe/library_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader/cache_file.h"
#include "nameless_host.h"
#include "torch_machine.h"

namespace goldenv {
namespace {

using probe::is_library_of;
using probe::library_copies;
using probe::LibraryCopies;
using probe::LibraryCopy;
using probe::Survey;
using test::kSystemNccl;
using test::TorchMachine;

TEST(LibraryCopies, NamesOfOneLibrary) {
  EXPECT_TRUE(is_library_of("libnccl.so", "libnccl"));
  EXPECT_TRUE(is_library_of("libnccl.so.2", "libnccl"));
  EXPECT_TRUE(is_library_of("libnccl.so.2.18.3", "libnccl"));
  EXPECT_TRUE(is_library_of("libcudart-9335f6a2.so.12", "libcudart"));
  EXPECT_FALSE(is_library_of("libnccl-net.so", "libnccl"));
  EXPECT_FALSE(is_library_of("libnccl_static.a", "libnccl"));
  EXPECT_FALSE(is_library_of("libcudnn_ops.so.9", "libcudnn"));
  EXPECT_FALSE(is_library_of("libnccl.so.2-gdb.py", "libnccl"));
  EXPECT_FALSE(is_library_of("libnccl.sound", "libnccl"));
  EXPECT_FALSE(is_library_of("libnccl", "libnccl"));
}

TEST(LibraryCopies, LinksToOneFileAreOneCopyUnderItsSoname) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3", "nccl_2_18_1");
  machine.host.link(kSystemNccl, "libnccl.so.2.18.3")
      .link("/usr/lib/x86_64-linux-gnu/libnccl.so", "libnccl.so.2")
      .link("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu")
      .link("/usr/local/lib/libnccl.so.2", kSystemNccl);
  Survey survey(machine.host, {});
  EXPECT_EQ(library_copies(survey, "libnccl").copies,
            (std::vector<LibraryCopy>{{kSystemNccl, "/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3",
                                       facts::Value::scalar("system")}}));
}

TEST(LibraryCopies, EachPlaceHasItsOrigin) {
  TorchMachine machine;
  machine.torch("torch_cuda")
      .library(machine.site + "/nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1")
      .library(machine.site + "/torch/lib/libnccl.so.2", "nccl_2_18_1")
      .library("/usr/local/cuda-12.1/lib64/libnccl.so.2", "nccl_2_18_1")
      .library("/opt/conda/lib/libnccl.so.2", "nccl_2_18_1")
      .library(kSystemNccl, "nccl_2_18_1");
  machine.host.file("/usr/local/cuda-12.1/version.json", "{}").folder("/opt/conda/conda-meta");
  Survey survey(machine.host, {});
  std::vector<std::string> found;
  for (const LibraryCopy& copy : library_copies(survey, "libnccl").copies) {
    found.push_back(facts::describe(copy.origin));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"conda", "system", "toolkit", "wheel", "torch"}));
}

TEST(LibraryCopies, WhatTheEnvironmentAndTheCacheNameIsSearched) {
  TorchMachine machine;
  machine.library("/data/env/libnccl.so.2", "nccl_2_18_1")
      .library("/data/cached/libnccl.so.2", "nccl_2_18_1")
      .library("/data/elsewhere/libnccl.so.2", "nccl_2_18_1");
  machine.host.set("LD_LIBRARY_PATH", ":/data/env:relative:/data/gone")
      .file("/etc/ld.so.cache",
            test::cache_file({{"libnccl.so.2", "/data/cached/libnccl.so.2", 0x0303}}));
  Survey survey(machine.host, {});
  std::vector<std::string> found;
  const LibraryCopies copies = library_copies(survey, "libnccl");
  for (const LibraryCopy& copy : copies.copies) {
    found.push_back(copy.path);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"/data/cached/libnccl.so.2", "/data/env/libnccl.so.2"}));
  EXPECT_TRUE(copies.unseen.empty());
}

TEST(LibraryCopies, MachineOfUnknownTypeHasItsTripletFoldersSearched) {
  test::NamelessHost machine;
  const std::string bytes = test::library_fixture("nccl_2_18_1");
  machine.file(kSystemNccl, bytes)
      .file("/usr/local/lib/aarch64-linux-gnu/libnccl.so.2", bytes)
      .file("/usr/lib/i386-linux-gnu/libnccl.so.2", bytes)
      .set("HOME", "/root");
  Survey survey(machine, {});
  std::vector<std::string> found;
  for (const LibraryCopy& copy : library_copies(survey, "libnccl").copies) {
    found.push_back(copy.path);
  }
  EXPECT_EQ(found, (std::vector<std::string>{kSystemNccl,
                                             "/usr/local/lib/aarch64-linux-gnu/libnccl.so.2"}));
  machine.deny("/usr/local/lib");
  Survey hidden(machine, {});
  EXPECT_FALSE(library_copies(hidden, "libnccl").unseen.empty());
}

TEST(LibraryCopies, StubsAndDanglingLinksAreNone) {
  TorchMachine machine;
  machine.library("/opt/sdk/lib/stubs/libnccl.so", "nccl_2_18_1");
  machine.host.set("LD_LIBRARY_PATH", "/opt/sdk/lib/stubs")
      .link("/usr/lib/x86_64-linux-gnu/libnccl.so.2", "libnccl.so.2.18.3");
  Survey survey(machine.host, {});
  const LibraryCopies copies = library_copies(survey, "libnccl");
  EXPECT_TRUE(copies.copies.empty());
  EXPECT_TRUE(copies.unseen.empty());
}

TEST(LibraryCopies, FoldersThatCouldNotBeSeenAreTold) {
  TorchMachine machine;
  machine.host.deny("/usr/local/lib").fail("/usr/lib64", Errc::timed_out);
  Survey survey(machine.host, {});
  const LibraryCopies copies = library_copies(survey, "libnccl");
  std::vector<Errc> codes;
  for (const Error& error : copies.unseen) {
    codes.push_back(error.code);
  }
  EXPECT_THAT(codes, testing::Contains(Errc::timed_out));
  EXPECT_THAT(codes, testing::Contains(Errc::denied));
}

TEST(LibraryCopies, CountsAreByVersion) {
  const facts::Reading older = facts::Value::scalar("2.18.1");
  const facts::Reading newer = facts::Value::scalar("2.19.3");
  EXPECT_EQ(facts::describe(probe::copies_reading({older, newer, older}, {})),
            "2.18.1: 2, 2.19.3: 1");
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(probe::copies_reading({}, {})));
  const facts::Reading unsure =
      probe::copies_reading({older}, {Error{Errc::denied, "/x: permission denied", {}}});
  EXPECT_EQ(std::get<facts::Unknown>(unsure).why, facts::Why::denied);
}

TEST(LibraryCopies, OneThatIsNotWhollyKnownMakesTheCountUnknown) {
  const facts::Reading known = facts::Value::scalar("2.18.1");
  const auto told = [&](const facts::Reading& other) {
    return std::get<facts::Unknown>(probe::copies_reading({known, other}, {}));
  };
  const facts::Unknown denied = told(facts::Unknown{facts::Why::denied, "/x: denied", ""});
  EXPECT_EQ(denied.why, facts::Why::denied);
  EXPECT_EQ(denied.detail, "/x: denied; found: 2.18.1, unknown");
  const facts::Unknown part = told(facts::Value::prefix("2.19"));
  EXPECT_EQ(part.why, facts::Why::not_stated);
  EXPECT_THAT(part.detail, testing::EndsWith("found: 2.18.1, 2.19..."));
  EXPECT_EQ(told(facts::Value::one_of({"2.19", "2.20"})).why, facts::Why::not_stated);
}

}  // namespace
}  // namespace goldenv
