#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache_file.h"
#include "elf_file.h"
#include "loader/loader.h"
#include "support/fake_host.h"

namespace goldenv {
namespace {

using loader::Answer;
using loader::Question;
using loader::resolve;
using test::elf_file;
using testing::Contains;

constexpr const char* kNccl = "libnccl.so.2";
constexpr const char* kTorch = "/v/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so";
constexpr const char* kProgram = "/usr/bin/python3.10";

struct Machine {
  test::FakeHost host;
  Question question{kNccl, {kTorch, kProgram}, "", {}};

  Machine& library(const std::string& path, std::uint16_t machine = EM_X86_64) {
    host.file(path, elf_file({.soname = kNccl, .machine = machine}));
    return *this;
  }
  Machine& torch(test::SharedObject object) {
    object.needed = {kNccl};
    host.file(kTorch, elf_file(object));
    return *this;
  }
  Machine& program(const test::SharedObject& object) {
    host.file(kProgram, elf_file(object));
    return *this;
  }
};

Answer answer(const Machine& machine) {
  const auto found = resolve(machine.host, machine.question);
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  return found ? *found : Answer{};
}

Errc failure(const Machine& machine) {
  const auto found = resolve(machine.host, machine.question);
  EXPECT_FALSE(found);
  return found ? Errc::failed : found.error().code;
}

/// A copy in every place that can answer.
void everywhere(Machine& machine, const test::SharedObject& torch) {
  machine.torch(torch).program({.rpath = "/opt/program"});
  for (const char* folder : {"/opt/preload", "/opt/rpath", "/opt/program", "/opt/env",
                             "/opt/runpath", "/opt/cached", "/usr/lib"}) {
    machine.library(std::string(folder) + "/" + kNccl);
  }
  machine.host.file("/etc/ld.so.cache",
                    test::cache_file({{kNccl, "/opt/cached/libnccl.so.2", 0x0303, 0}}));
  machine.question.library_path = "/opt/env";
  machine.question.preloaded = {"/opt/preload/libnccl.so.2"};
}

TEST(LoaderSearch, PlacesAreSearchedInTheOrderOfTheLoader) {
  Machine machine;
  everywhere(machine, {.rpath = "/opt/rpath"});
  EXPECT_EQ(answer(machine).path, "/opt/preload/libnccl.so.2");
  EXPECT_EQ(answer(machine).why, "LD_PRELOAD");
  machine.question.preloaded.clear();
  EXPECT_EQ(answer(machine).path, "/opt/rpath/libnccl.so.2");
  EXPECT_EQ(answer(machine).why, "DT_RPATH of " + std::string(kTorch));
  machine.host.fail("/opt/rpath/libnccl.so.2", Errc::absent);
  EXPECT_EQ(answer(machine).why, "DT_RPATH of " + std::string(kProgram));
  machine.host.fail("/opt/program/libnccl.so.2", Errc::absent);
  EXPECT_EQ(answer(machine).why, "LD_LIBRARY_PATH");
  machine.host.fail("/opt/env/libnccl.so.2", Errc::absent);
  EXPECT_EQ(answer(machine).why, "ld.so.cache");
  machine.host.fail("/opt/cached/libnccl.so.2", Errc::absent);
  EXPECT_EQ(answer(machine).path, "/usr/lib/libnccl.so.2");
  machine.host.fail("/usr/lib/libnccl.so.2", Errc::absent);
  EXPECT_EQ(failure(machine), Errc::absent);
}

TEST(LoaderSearch, ARunpathComesBehindTheVariableAndTurnsTheRpathsOff) {
  Machine machine;
  everywhere(machine, {.runpath = "/opt/runpath"});
  machine.question.preloaded.clear();
  EXPECT_EQ(answer(machine).path, "/opt/env/libnccl.so.2");
  machine.question.library_path.clear();
  EXPECT_EQ(answer(machine).path, "/opt/runpath/libnccl.so.2");
}

TEST(LoaderSearch, TheRunpathOfALoaderFurtherUpIsNotTheAskers) {
  Machine machine;
  machine.torch({}).program({.runpath = "/opt/runpath"}).library("/opt/runpath/libnccl.so.2");
  EXPECT_EQ(failure(machine), Errc::absent);
}

TEST(LoaderSearch, OriginIsTheFolderOfThePathByWhichTheAskerWasOpened) {
  Machine machine;
  machine.torch({.rpath = "$ORIGIN/../../nvidia/nccl/lib:$ORIGIN"}).program({});
  machine.library("/v/lib/python3.10/site-packages/nvidia/nccl/lib/libnccl.so.2");
  const Answer plain = answer(machine);
  EXPECT_EQ(plain.path,
            "/v/lib/python3.10/site-packages/torch/lib/../../nvidia/nccl/lib/libnccl.so.2");
  EXPECT_EQ(plain.real_path, "/v/lib/python3.10/site-packages/nvidia/nccl/lib/libnccl.so.2");

  // Opened through a link: its folder counts, not the one of the file.
  machine.host.link("/linked/lib/libtorch_cuda.so", kTorch);
  machine.library("/linked/lib/libnccl.so.2");
  machine.question.loaders[0] = "/linked/lib/libtorch_cuda.so";
  EXPECT_EQ(answer(machine).path, "/linked/lib/libnccl.so.2");
}

TEST(LoaderSearch, DotsBehindALinkedFolderAreWalkedAsTheKernelWalks) {
  Machine machine;
  machine.torch({.rpath = "/short/../nccl"}).program({});
  machine.host.link("/short", "/long/way/down");
  machine.host.folder("/long/way/down");
  machine.library("/nccl/libnccl.so.2").library("/long/way/nccl/libnccl.so.2");
  EXPECT_EQ(answer(machine).real_path, "/long/way/nccl/libnccl.so.2");
}

TEST(LoaderSearch, BracedTokensLibAndPlatformAreFilledIn) {
  Machine machine;
  machine.torch({.rpath = "${ORIGIN}/$LIB/${PLATFORM}/$OTHER"}).program({});
  machine.host.file("/lib64/ld-linux-x86-64.so.2", "release version 2.36.");
  machine.host.file("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\nflags\t\t: fpu\n");
  const std::string folder = "/v/lib/python3.10/site-packages/torch/lib/";
  machine.library(folder + "lib64/x86_64/$OTHER/libnccl.so.2");
  EXPECT_EQ(answer(machine).path, folder + "lib64/x86_64/$OTHER/libnccl.so.2");
  machine.host.folder("/usr/lib/x86_64-linux-gnu");
  machine.library(folder + "lib/x86_64-linux-gnu/x86_64/$OTHER/libnccl.so.2");
  EXPECT_EQ(answer(machine).path, folder + "lib/x86_64-linux-gnu/x86_64/$OTHER/libnccl.so.2");
}

TEST(LoaderSearch, FilesOfAnotherMachineArePassedOver) {
  Machine machine;
  everywhere(machine, {});
  machine.question.preloaded.clear();
  machine.library("/opt/env/libnccl.so.2", EM_AARCH64).program({});
  machine.library("/opt/program/libnccl.so.2", EM_386);
  const Answer found = answer(machine);
  EXPECT_EQ(found.path, "/opt/cached/libnccl.so.2");
  EXPECT_THAT(found.trace,
              Contains("LD_LIBRARY_PATH: /opt/env/libnccl.so.2 is of another machine"));
}

TEST(LoaderSearch, CacheEntriesOfAnotherMachineAreNotAsked) {
  Machine machine;
  machine.torch({}).program({});
  machine.library("/a/libnccl.so.2").library("/b/libnccl.so.2");
  machine.host.file("/etc/ld.so.cache", test::cache_file({{kNccl, "/a/libnccl.so.2", 0x0003, 0},
                                                          {kNccl, "/b/libnccl.so.2", 0x0303, 0}}));
  EXPECT_EQ(answer(machine).path, "/b/libnccl.so.2");
}

TEST(LoaderSearch, AnArmObjectTakesArmEntries) {
  Machine machine;
  machine.torch({.machine = EM_AARCH64}).program({.machine = EM_AARCH64});
  machine.library("/a/libnccl.so.2").library("/b/libnccl.so.2", EM_AARCH64);
  machine.host.file("/etc/ld.so.cache", test::cache_file({{kNccl, "/a/libnccl.so.2", 0x0303, 0},
                                                          {kNccl, "/b/libnccl.so.2", 0x0a03, 0}}));
  EXPECT_EQ(answer(machine).path, "/b/libnccl.so.2");
}

TEST(LoaderSearch, WithoutAnAskerTheMachineIsThatOfTheInstalledLoader) {
  Machine machine;
  machine.question.loaders.clear();
  machine.library("/a/libnccl.so.2", EM_AARCH64);
  machine.host.file("/etc/ld.so.cache", test::cache_file({{kNccl, "/a/libnccl.so.2", 0x0a03, 0}}));
  machine.host.file("/lib/ld-linux-aarch64.so.1", "");
  EXPECT_EQ(answer(machine).path, "/a/libnccl.so.2");
}

TEST(LoaderSearch, PreloadsMatchBySonameAndNotByFileName) {
  Machine machine;
  machine.torch({}).program({}).library("/usr/lib/libnccl.so.2");
  machine.host.file("/p/other-name.so", elf_file({.soname = kNccl}));
  machine.host.file("/p/libnccl.so.2", elf_file({.soname = ""}));
  machine.question.preloaded = {"/p/libnccl.so.2"};
  EXPECT_EQ(answer(machine).path, "/usr/lib/libnccl.so.2");
  machine.question.preloaded = {"/gone.so", "/p/libnccl.so.2", "/p/other-name.so"};
  EXPECT_EQ(answer(machine).path, "/p/other-name.so");
  machine.question.preloaded = {kNccl};  // a bare name is searched for itself
  EXPECT_EQ(answer(machine).path, "/usr/lib/libnccl.so.2");
  EXPECT_EQ(answer(machine).why, "LD_PRELOAD");
}

TEST(LoaderSearch, ALoaderOfThatSonameAnswersItself) {
  Machine machine;
  machine.torch({.soname = kNccl}).program({}).library("/usr/lib/libnccl.so.2");
  EXPECT_EQ(answer(machine).path, kTorch);
  EXPECT_EQ(answer(machine).why, "loaded already");
}

TEST(LoaderSearch, ANameWithASlashIsThePathItself) {
  Machine machine;
  everywhere(machine, {});
  machine.question.soname = "/opt/env/libnccl.so.2";
  EXPECT_EQ(answer(machine).path, "/opt/env/libnccl.so.2");
  machine.question.soname = "/opt/none/libnccl.so.2";
  EXPECT_EQ(failure(machine), Errc::absent);
  machine.question.soname = "./libnccl.so.2";
  EXPECT_EQ(failure(machine), Errc::unreadable);
}

TEST(LoaderSearch, APlaceThatCannotBeLookedAtLeavesNoAnswer) {
  for (const Errc code : {Errc::denied, Errc::timed_out, Errc::unreadable}) {
    Machine machine;
    everywhere(machine, {});
    machine.question.preloaded.clear();
    machine.program({});
    machine.host.fail("/opt/env", code);
    EXPECT_EQ(failure(machine), code);
    machine.host.fail("/opt/env", Errc::absent);
    machine.host.fail("/etc/ld.so.cache", code);
    EXPECT_EQ(failure(machine), code);
  }
}

TEST(LoaderSearch, AFileThatIsNoElfStopsTheSearchAsItStopsTheLoader) {
  Machine machine;
  everywhere(machine, {});
  machine.question.preloaded.clear();
  machine.program({});
  machine.host.file("/opt/env/libnccl.so.2", "INPUT(-lnccl)\n");
  EXPECT_EQ(failure(machine), Errc::malformed);
}

TEST(LoaderSearch, ADamagedCacheLeavesNoAnswer) {
  Machine machine;
  machine.torch({}).program({}).library("/usr/lib/libnccl.so.2");
  machine.host.file("/etc/ld.so.cache",
                    test::cache_file({{kNccl, "/a/libnccl.so.2", 0x0303, 0}}).substr(0, 60));
  EXPECT_EQ(failure(machine), Errc::malformed);
}

TEST(LoaderSearch, PlacesBelowTheCurrentFolderArePassedOverAndTold) {
  Machine machine;
  everywhere(machine, {});
  machine.question.preloaded.clear();
  machine.program({});
  machine.question.library_path = ":rel/lib;/opt/env";
  const Answer found = answer(machine);
  EXPECT_EQ(found.path, "/opt/env/libnccl.so.2");
  EXPECT_THAT(found.trace, Contains("LD_LIBRARY_PATH: \"rel/lib\" depends on the current folder"));
}

TEST(LoaderSearch, AnAskerThatCannotBeReadIsAnError) {
  Machine machine;
  machine.program({}).library("/usr/lib/libnccl.so.2");
  EXPECT_EQ(failure(machine), Errc::absent);
  machine.host.deny(kTorch);
  EXPECT_EQ(failure(machine), Errc::denied);
}

}  // namespace
}  // namespace goldenv
