#include <gtest/gtest.h>

#include "probe/memory_text.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe memory;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kMeminfo =
    "MemTotal:       1056312345 kB\nMemFree:  1 kB\nSwapTotal:             0 kB\n"
    "AnonHugePages:   2048 kB\nHugePages_Total:       16\nHugepagesize:       2048 kB\n";

struct TwoNodes : FakeHost {
  TwoNodes() {
    file("/proc/meminfo", kMeminfo);
    const std::string root = "/sys/devices/system/node/";
    file(root + "online", "0-1\n");
    file(root + "node0/cpulist", "0-31\n").file(root + "node1/cpulist", "\n");
    file(root + "node0/distance", "10 21\n").file(root + "node1/distance", "21 10\n");
    file(root + "node0/meminfo", "\nNode 0 MemTotal:       528000000 kB\nNode 0 MemFree: 1 kB\n");
    file(root + "node1/meminfo", "Node 1 MemTotal:       0 kB\n");
    file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    file("/sys/kernel/mm/transparent_hugepage/defrag",
         "always defer [defer+madvise] madvise never\n");
    file("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "16\n");
    file("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n");
  }
};

TEST(MemoryProbe, ATextThatIsCutShortMakesNothingAbsent) {
  FakeHost host;
  host.file("/proc/meminfo", "");
  for (const char* key : {"memory.total", "swap.total", "hugepages.total", "hugepages.default_size",
                          "memory.anon_hugepages"}) {
    EXPECT_EQ(told(host, memory, key), "unknown (unreadable)") << key;
  }
}

TEST(MemoryProbe, AmountsAreBytes) {
  const auto found = test::scan(TwoNodes(), memory);
  EXPECT_EQ(told(found, "memory.total"), "1081663841280");
  EXPECT_EQ(told(found, "memory.anon_hugepages"), "2097152");
  EXPECT_EQ(told(found, "swap.total"), "0");
  EXPECT_EQ(told(found, "hugepages.total"), "16");
  EXPECT_EQ(told(found, "hugepages.default_size"), "2097152");
  EXPECT_EQ(told(found, "hugepages.reserved.2MiB"), "16");
  EXPECT_EQ(told(found, "hugepages.reserved.1GiB"), "0");
  EXPECT_EQ(told(found, "thp.enabled"), "madvise");
  EXPECT_EQ(told(found, "thp.defrag"), "defer+madvise");
  EXPECT_EQ(found.find({"hugepages.total", ""})->evidence.line, 5u);
}

TEST(MemoryProbe, NodesWithoutProcessorsOrMemoryCount) {
  const auto found = test::scan(TwoNodes(), memory);
  EXPECT_EQ(told(found, "numa.count"), "2");
  EXPECT_EQ(told(found, "numa.distance"), "10 21 21 10");
  EXPECT_EQ(told(found, "numa.cpus@0"), "0-31");
  EXPECT_EQ(told(found, "numa.cpus@1"), "(empty list)");
  EXPECT_EQ(told(found, "numa.memory@1"), "0");
  EXPECT_EQ(told(found, "numa.memory"), "0 x 1, 540672000000 x 1");
}

TEST(MemoryProbe, KernelWithoutTheFeatureHasNone) {
  FakeHost host;
  host.file("/proc/meminfo", "MemTotal: 100 kB\n").folder("/sys/devices/system");
  EXPECT_EQ(told(host, memory, "memory.anon_hugepages"), "absent (this kernel has no such line)");
  EXPECT_EQ(told(host, memory, "numa.count"), "absent (kernel without NUMA)");
  EXPECT_EQ(told(host, memory, "thp.enabled"), "absent");
}

TEST(MemoryProbe, CutAndDeniedTextsAreUnknown) {
  FakeHost host;
  host.file("/proc/meminfo", "Mem").deny("/sys/devices/system/node");
  EXPECT_EQ(told(host, memory, "memory.total"), "unknown (unreadable)");
  EXPECT_EQ(told(host, memory, "numa.cpus"), "unknown (denied)");
  host.file("/proc/meminfo", "MemTotal:\n");
  EXPECT_EQ(told(host, memory, "memory.total"), "unknown (unreadable)");
  host.deny("/proc/meminfo");
  EXPECT_EQ(told(host, memory, "swap.total"), "unknown (denied)");
}

TEST(MemoryProbe, PageSizeComesFromTheKernelOrTheArchitecture) {
  FakeHost host;
  EXPECT_EQ(told(host, memory, "memory.page_size"), "4096");
  FakeHost arm;
  arm.uname({"n", "5.14.0-1.el9.aarch64+64k", "#1", "aarch64"});
  EXPECT_EQ(told(arm, memory, "memory.page_size"), "65536");
  FakeHost unnamed;
  unnamed.uname({"n", "6.1.0", "#1", "aarch64"}).fail("/proc", Errc::not_live);
  EXPECT_EQ(told(unnamed, memory, "memory.page_size"), "unknown (not-live)");
  std::string auxv(48, '\0');
  auxv[0] = 33;
  auxv[16] = 6;
  auxv[26] = 1;  // 65536
  FakeHost told_by_kernel;
  told_by_kernel.file("/proc/self/auxv", auxv);
  EXPECT_EQ(told(told_by_kernel, memory, "memory.page_size"), "65536");
}

TEST(MemoryText, OddTextsGiveNoNumber) {
  EXPECT_FALSE(find_memory_line("", "MemTotal"));
  EXPECT_FALSE(find_memory_line("MemTotal 5 kB\n", "MemTotal"));
  EXPECT_FALSE(find_memory_line("MemTotal: 99999999999999999999 kB\n", "MemTotal")->amount);
  EXPECT_FALSE(find_memory_line("MemTotal: 18446744073709551615 kB\n", "MemTotal")->amount);
  EXPECT_EQ(find_memory_line("X: 7\n", "X")->amount, 7u);
  EXPECT_FALSE(page_size_in_auxv(""));
  EXPECT_FALSE(page_size_in_auxv(std::string(15, '\6')));
}

}  // namespace
}  // namespace goldenv::probe
