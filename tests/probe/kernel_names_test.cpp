#include "probe/kernel_names.h"

#include <gtest/gtest.h>

#include "probe/scan.h"
#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
extern const Probe identity;
extern const Probe kernel;
namespace {

using test::FakeHost;
using test::TempDir;
using test::told;

constexpr const char* kVersion =
    "Linux version 6.1.0-57-amd64 (root@build-7) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld 2.40) "
    "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)\n";

/// Trees in which nothing says of which machine type they are.
struct Tree : TempDir {
  [[nodiscard]] std::unique_ptr<host::Host> host() const {
    auto host = host::tree_host(path());
    EXPECT_TRUE(host);
    return *std::move(host);
  }
};

TEST(KernelNames, ATreeWithoutAMachineTypeKeepsTheOthers) {
  const Tree tree;
  tree.file("proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
  tree.file("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)\n");
  tree.file("proc/sys/kernel/hostname", "node7\n");
  const auto host = tree.host();
  ASSERT_FALSE(host->system_name());
  const auto found = test::scan(*host, kernel);
  EXPECT_EQ(told(found, "kernel"), "6.1.0-57-amd64");
  EXPECT_EQ(told(found, "kernel.build"), "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)");
  EXPECT_EQ(told(found, "kernel.upstream"), "6.1.192");
  EXPECT_EQ(told(found, "kernel.headers"), "absent (headers not installed)");
  EXPECT_EQ(told(*host, identity, "host.name"), "node7");
  EXPECT_EQ(found.find({"kernel", ""})->evidence.from, "/proc/sys/kernel/osrelease");
}

TEST(KernelNames, ProcVersionSaysBothAndEtcHostnameTheName) {
  const Tree tree;
  tree.file("proc/version", kVersion);
  tree.file("etc/hostname", "# of this node\nnode7\n");
  const auto host = tree.host();
  const auto found = test::scan(*host, kernel);
  EXPECT_EQ(told(found, "kernel"), "6.1.0-57-amd64");
  EXPECT_EQ(told(found, "kernel.build"), "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-01-01)");
  EXPECT_EQ(told(found, "kernel.upstream"), "6.1.192");
  EXPECT_EQ(told(*host, identity, "host.name"), "node7");
  EXPECT_EQ(node_name(*host).from, "/etc/hostname");
}

TEST(KernelNames, WhatATreeDoesNotHoldIsUnknownAndNotEmpty) {
  const Tree tree;
  tree.file("proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
  tree.file("proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  const auto host = tree.host();
  ASSERT_TRUE(host->system_name());
  EXPECT_EQ(told(*host, kernel, "kernel"), "6.1.0-57-amd64");
  EXPECT_EQ(told(*host, kernel, "kernel.build"), "unknown (not-collected)");
  EXPECT_EQ(told(*host, identity, "host.name"), "unknown (not-collected)");
  const Tree bare;
  bare.folder("etc");
  EXPECT_EQ(told(*bare.host(), kernel, "kernel"), "unknown (not-live)");
  EXPECT_EQ(told(*bare.host(), identity, "host.name"), "unknown (not-live)");
}

TEST(KernelNames, OddTextsGiveNone) {
  FakeHost host;
  host.uname({"", "", "", ""}).live(false);
  for (const char* text : {"", "\n", "Linux", "Darwin version 1 #2", "Linux version\n"}) {
    host.file("/proc/version", text);
    EXPECT_FALSE(kernel_release(host).text) << text;
  }
  host.file("/proc/version", "Linux version 5.4 (x) (gcc #2 y) SMP\n");
  EXPECT_EQ(*kernel_release(host).text, "5.4");
  host.deny("/proc");
  EXPECT_EQ(kernel_release(host).text.error().code, Errc::denied);
  // A running machine's name is not what a file says that it will be.
  host.live(true).file("/etc/hostname", "other\n");
  EXPECT_FALSE(node_name(host).text);
}

}  // namespace
}  // namespace goldenv::probe
