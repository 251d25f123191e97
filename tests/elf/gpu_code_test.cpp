#include "elf/gpu_code.h"

#include <gtest/gtest.h>

#include "elf/gpu_code_file.h"
#include "host/host.h"
#include "support/fake_host.h"

namespace goldenv::elf {
namespace {

using test::fat_binary;
using test::gpu_code_file;

Result<std::set<std::string>> look(const std::string& bytes) {
  test::FakeHost host;
  host.file("/lib.so", bytes);
  return gpu_architectures(host, "/lib.so");
}

TEST(GpuCode, ArchitecturesOfAllFatBinariesAreTold) {
  const std::string section =
      fat_binary({{2, 80, 0x11, 1000}, {2, 90, 0x100011, 40}, {1, 90, 0x8011, 16}}) +
      std::string(8, '\0') + fat_binary({{2, 100, 0x1200011, 24}, {2, 80, 0x11, 5000}});
  const auto found = look(gpu_code_file(section));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, (std::set<std::string>{"compute_90", "sm_100f", "sm_80", "sm_90a"}));
}

TEST(GpuCode, LibraryWithoutSuchASectionHoldsNone) {
  const auto found = look(gpu_code_file(""));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
  EXPECT_EQ(look("no ELF file").error().code, Errc::malformed);
}

TEST(GpuCode, KindsThatAreNotKnownArePassedOver) {
  const auto found = look(gpu_code_file(fat_binary({{7, 80, 0, 8}, {2, 75, 0x11, 8}})));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, std::set<std::string>{"sm_75"});
}

TEST(GpuCode, SizesThatLeadOutsideAreRefused) {
  const std::string good = fat_binary({{2, 80, 0x11, 100}});
  std::string bad = good;
  test::put_number<std::uint64_t>(bad, 8, 1'000'000);
  EXPECT_EQ(look(gpu_code_file(bad)).error().code, Errc::malformed);
  bad = good;
  test::put_number<std::uint64_t>(bad, 16 + 8, 0xfffffffffffffff0u);
  EXPECT_EQ(look(gpu_code_file(bad)).error().code, Errc::malformed);
  bad = good;
  test::put_number<std::uint32_t>(bad, 16 + 4, 0);
  EXPECT_EQ(look(gpu_code_file(bad)).error().code, Errc::malformed);
  bad = good;
  test::put_number<std::uint16_t>(bad, 6, 0);
  EXPECT_EQ(look(gpu_code_file(bad)).error().code, Errc::malformed);
  const std::string whole = gpu_code_file(good);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_FALSE(look(whole.substr(0, size)));
  }
}

/// NCCL 2.28.9 for CUDA 13.0, where a tree of NVIDIA's wheels is installed.
TEST(GpuCode, RealLibrariesAreRead) {
  const std::string path = "/usr/local/cuda-13.0/lib/libnccl.so.2";
  const auto host = host::live_host();
  const auto none = gpu_architectures(*host, "/proc/self/exe");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty()) << "no code for a GPU is in this test";
  if (!host->exists(path)) {
    return;
  }
  const auto found = gpu_architectures(*host, path);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->contains("sm_80")) << found->size();
  EXPECT_TRUE(found->contains("sm_90"));
  for (const std::string& name : *found) {
    EXPECT_TRUE(name.starts_with("sm_") || name.starts_with("compute_")) << name;
  }
}

}  // namespace
}  // namespace goldenv::elf
