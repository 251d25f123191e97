// What probes say where the source is a process.
#include "host/process.h"

#include <gtest/gtest.h>

#include "probe/python_process.h"
#include "scan.h"
#include "support/fake_host.h"
#include "support/library_fixture.h"

namespace goldenv::probe {

extern const Probe environment;
extern const Probe libraries;
extern const Probe limits;
extern const Probe nccl;
extern const Probe python_packages;
extern const Probe python_target;

namespace {

using test::FakeHost;
using test::told;

constexpr char kA[] = "7f01-7f02 r-xp 00000000 fd:01 12    /a/libnccl.so.2.18.1\n";
constexpr char kB[] = "7f03-7f04 r-xp 00000000 fd:01 13    /b/libnccl.so.2\n";

/// A machine with a copy of NCCL in two folders and pid 7.
std::unique_ptr<FakeHost> machine(const std::string& maps) {
  auto host = std::make_unique<FakeHost>();
  host->file("/proc/7/stat", "7 (prog) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 0")
      .file("/proc/7/status", "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\n")
      .file("/proc/7/environ", std::string("PATH=/usr/bin\0NCCL_ALGO=Ring\0", 29))
      .file("/proc/7/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max locked memory         65536                unlimited            bytes     \n")
      .file("/proc/7/maps", maps)
      .file("/proc/7/cmdline", std::string("python3\0x.py\0", 13))
      .link("/proc/7/exe", "/usr/bin/python3.11")
      .link("/proc/7/cwd", "/srv")
      .file("/usr/bin/python3.11", "")
      .link("/usr/bin/python3", "python3.11")
      .file("/a/libnccl.so.2.18.1", test::library_fixture("nccl_2_18_1"))
      .file("/b/libnccl.so.2", test::library_fixture("nccl_2_28_9"));
  return host;
}

std::unique_ptr<host::Host> process(std::unique_ptr<FakeHost> machine) {
  auto host = host::process_host(std::move(machine), 7);
  EXPECT_TRUE(host) << host.error().message;
  return *std::move(host);
}

facts::Evidence evidence(const facts::Snapshot& snapshot, std::string_view key) {
  const facts::Fact* fact = snapshot.find(facts::FactKey::parse(key));
  EXPECT_NE(fact, nullptr) << key;
  return fact == nullptr ? facts::Evidence{} : fact->evidence;
}

TEST(ProcessFacts, WhatIsMappedIsInForce) {
  const auto host = process(machine(kA));
  const auto found = test::scan(*host, nccl);
  EXPECT_EQ(told(found, "nccl"), "2.18.1");
  EXPECT_EQ(told(found, "nccl.path"), "/a/libnccl.so.2.18.1");
  EXPECT_EQ(evidence(found, "nccl").basis, "mapped");
  EXPECT_EQ(told(test::scan(*host, libraries), "library.path.libnccl.so.2"),
            "/a/libnccl.so.2.18.1");
}

TEST(ProcessFacts, TwoCopiesInOneProcessAreAmbiguous) {
  const auto found = test::scan(*process(machine(std::string(kA) + kB)), nccl);
  EXPECT_EQ(told(found, "nccl"), "unknown (ambiguous)");
}

TEST(ProcessFacts, WhatIsNotMappedIsTheLoadersAnswer) {
  auto outer = machine("7f01-7f02 r-xp 00000000 fd:01 9    /usr/lib/libc.so.6\n");
  outer->link("/proc/7/exe", "/usr/bin/sleep")
      .file("/usr/bin/sleep", "")
      .file("/proc/7/environ", "PATH=/none");
  const auto host = process(std::move(outer));
  const auto found = test::scan(*host, nccl);
  EXPECT_EQ(told(found, "nccl").substr(0, 6), "absent");
  EXPECT_EQ(evidence(found, "nccl").basis, "no torch: what a program would load");
  EXPECT_EQ(told(test::scan(*host, libraries), "library.path.libnccl.so.2"), "not recorded");
}

TEST(ProcessFacts, WhatIsDeniedIsUnknownAndSaysWhoCould) {
  auto closed = machine(kA);
  closed->deny("/proc/7/maps").deny("/proc/7/environ").deny("/proc/7/exe");
  const auto host = process(std::move(closed));
  const auto found = test::scan(*host, nccl);
  EXPECT_EQ(told(found, "nccl"), "unknown (denied, needs same-user)");
  const auto variables = test::scan(*host, environment);
  EXPECT_EQ(told(variables, "env.LD_PRELOAD"), "unknown (denied, needs same-user)");
  EXPECT_TRUE(variables.listed.empty());
  EXPECT_EQ(pythons_of_process(*host).error().code, Errc::denied);
}

TEST(ProcessFacts, VariablesAndLimitsAreItsOwn) {
  const auto host = process(machine(""));
  const auto variables = test::scan(*host, environment);
  EXPECT_EQ(told(variables, "env.NCCL_ALGO"), "Ring");
  EXPECT_EQ(evidence(variables, "env.NCCL_ALGO").from, "/proc/7/environ");
  const auto found = test::scan(*host, limits);
  EXPECT_EQ(told(found, "limits.memlock"), "65536");
  EXPECT_EQ(told(found, "limits.memlock.hard"), "unlimited");
  EXPECT_EQ(evidence(found, "limits.memlock").from, "/proc/7/limits");
}

TEST(ProcessPython, TheNameItWasCalledByTellsTheEnvironment) {
  auto outer = machine("");
  outer->link("/opt/venv/bin/python3", "/usr/bin/python3")
      .file("/proc/7/environ", std::string("PATH=/opt/venv/bin:/usr/bin\0", 28));
  const auto found = pythons_of_process(*process(std::move(outer)));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].path, "/opt/venv/bin/python3");
  EXPECT_EQ((*found)[0].rule, "pid 7 (prog) runs /opt/venv/bin/python3");
  EXPECT_EQ((*found)[1].path, "/usr/bin/python3.11");
}

TEST(ProcessPython, ARewrittenCommandLineLeavesTheMappedModules) {
  auto outer = machine(
      "7f01-7f02 r-xp 00000000 fd:01 9    /opt/v/lib/python3.11/site-packages/torch/_C.so\n");
  outer->file("/proc/7/cmdline", "trainer: rank 3");
  const auto found = pythons_of_process(*process(std::move(outer)));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].path, "/opt/v");
}

TEST(ProcessPython, AnotherProgramRunsNone) {
  auto outer = machine("");
  outer->link("/proc/7/exe", "/usr/bin/sleep").file("/usr/bin/sleep", "");
  const auto found = pythons_of_process(*process(std::move(outer)));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

TEST(ProcessPython, ThatOfAZombieOrKernelThreadIsNotTheSystems) {
  constexpr const char* kStats[] = {
      "7 (prog) Z 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 0",
      "7 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 0"};
  for (const char* stat : kStats) {
    auto outer = machine("");
    outer->file("/proc/7/stat", stat)
        .file("/usr/lib/python3.11/os.py", "")
        .file("/usr/lib/python3/dist-packages/six-1.16.0.dist-info/METADATA",
              "Name: six\nVersion: 1.16.0\n");
    const auto host = process(std::move(outer));
    const auto found = test::scan(*host, python_target);
    for (const char* key : {"python", "python.prefix", "python.added_paths"}) {
      EXPECT_EQ(told(found, key), "unknown (not-live)") << stat;
    }
    EXPECT_EQ(told(test::scan(*host, python_packages), "python.package.six"), "not recorded");
    EXPECT_EQ(
        told(*host, python_packages, "python.package.six", test::only({"python.package.six"})),
        "unknown (not-live)");
  }
}

}  // namespace
}  // namespace goldenv::probe
