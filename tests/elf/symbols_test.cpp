#include "elf/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "elf/elf.h"
#include "host/host.h"
#include "support/fake_host.h"
#include "support/library_fixture.h"

namespace goldenv::elf {
namespace {

/// The C++ library of this machine: a real file with thousands of symbols.
std::string cxx_library(const host::Host& host) {
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
        "/usr/lib64/libstdc++.so.6"}) {
    if (host.exists(path)) {
      return path;
    }
  }
  return "";
}

TEST(ElfSymbols, WhatARealLibraryTakesItsNeedsDefine) {
  const auto host = host::live_host();
  const std::string path = cxx_library(*host);
  ASSERT_FALSE(path.empty()) << "no libstdc++ where systems keep it";
  const auto found = demands(*host, path, {""});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(std::ranges::binary_search(found->symbols, "memcpy"));
  EXPECT_TRUE(std::ranges::any_of(found->versions, [](const auto& one) {
    return one.first == "libc.so.6" && one.second.starts_with("GLIBC_2.");
  }));
  const auto image = read(*host, path);
  ASSERT_TRUE(image);
  std::vector<std::string> missing = found->symbols;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const std::string& needed : image->needed) {
    const std::string library =
        host->exists(folder + needed) ? folder + needed : "/lib64/" + needed;
    const auto rest = not_defined(*host, library, missing);
    ASSERT_TRUE(rest) << rest.error().message;
    missing = *rest;
  }
  EXPECT_EQ(missing, std::vector<std::string>{});
  // And it defines none of what it takes, but what stands in it.
  const auto own = not_defined(*host, path, {"_ZSt4cout", "_ZN2at9no_suchEv", "memcpy"});
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, (std::vector<std::string>{"_ZN2at9no_suchEv", "memcpy"}));
}

TEST(ElfSymbols, OnlySymbolsThatBeginSoAreTold) {
  const auto host = host::live_host();
  const auto found = demands(*host, cxx_library(*host), {"mem", "str"});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->symbols.empty());
  EXPECT_TRUE(std::ranges::all_of(found->symbols, [](const std::string& name) {
    return name.starts_with("mem") || name.starts_with("str");
  }));
}

TEST(ElfSymbols, CutShortAndDamagedFilesAreRefusedOrRead) {
  const std::string bytes = test::library_fixture("nccl_2_19_3");
  test::FakeHost whole;
  whole.file("/l.so", bytes);
  ASSERT_TRUE(demands(whole, "/l.so", {""}));
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 150 + 1) {
    test::FakeHost cut;
    cut.file("/l.so", bytes.substr(0, size));
    const auto found = demands(cut, "/l.so", {""});
    EXPECT_TRUE(found || !found.error().message.empty());
  }
  for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / 300 + 1) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    test::FakeHost host;
    host.file("/l.so", damaged);
    const auto found = demands(host, "/l.so", {""});
    const auto missing = not_defined(host, "/l.so", {"a", "b"});
    EXPECT_TRUE(found || !found.error().message.empty());
    EXPECT_TRUE(missing || !missing.error().message.empty());
  }
  test::FakeHost none;
  none.file("/l.so", "text");
  EXPECT_EQ(demands(none, "/l.so", {""}).error().code, Errc::malformed);
  EXPECT_EQ(not_defined(none, "/l.so", {"a"}).error().code, Errc::malformed);
}

}  // namespace
}  // namespace goldenv::elf
