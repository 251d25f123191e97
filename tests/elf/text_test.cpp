#include "elf/text.h"

#include <gtest/gtest.h>

#include <cstring>

#include "elf/elf.h"
#include "elf_file.h"
#include "support/fake_host.h"

namespace goldenv::elf {
namespace {

using namespace std::string_literals;

std::optional<std::string> after(const std::string& rodata, std::string_view marker,
                                 std::size_t limit = 128) {
  test::LibraryParts parts;
  parts.rodata = rodata;
  test::FakeHost host;
  host.file("/lib.so", test::library(parts));
  const auto text = text_after(host, "/lib.so", marker, limit);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or(std::nullopt);
}

TEST(TextAfter, IsWhatFollowsTheFirstMarker) {
  EXPECT_EQ(after("x\0NCCL version 2.19.3+cuda12.2\0NCCL version 9"s, "NCCL version "),
            "2.19.3+cuda12.2");
  EXPECT_EQ(after("marker", "marker"), "");
  EXPECT_EQ(after("marker one\ntwo", "marker "), "one");
  EXPECT_EQ(after("marker caf\xc3\xa9", "marker "), "caf");
  EXPECT_EQ(after("marker 0123456789", "marker ", 4), "0123");
  EXPECT_EQ(after("a\0b\0003.11.2\0"s, "\0"s + "3."), "11.2");
  EXPECT_EQ(after("something else", "marker"), std::nullopt);
  EXPECT_EQ(after("marke", "marker"), std::nullopt);
  EXPECT_EQ(after("", "marker"), std::nullopt);
  EXPECT_EQ(after("marker", ""), std::nullopt);
}

TEST(TextAfter, AMarkerAcrossTwoBlocksIsFound) {
  const std::string marker = "the marker ";
  for (std::size_t block : {65536u, 131072u - 10}) {
    for (std::size_t before = block - 30; before < block + 5; ++before) {
      EXPECT_EQ(after(std::string(before, 'm') + marker + "found", marker), "found") << before;
    }
  }
  EXPECT_EQ(after(std::string(400'000, 't') + marker + "far", marker), "far");
  const std::string long_marker(100'000, 'L');
  EXPECT_EQ(after(std::string(70'000, 'x') + long_marker + "!", long_marker), "!");
}

TEST(TextAfter, OnlyConstantsAreSearched) {
  test::LibraryParts parts;
  parts.runpath = "marker elsewhere";
  test::FakeHost host;
  host.file("/lib.so", test::library(parts));
  EXPECT_EQ(*text_after(host, "/lib.so", "marker "), std::nullopt);
  parts.section_headers = false;  // then the whole file is
  host.file("/lib.so", test::library(parts));
  EXPECT_EQ(*text_after(host, "/lib.so", "marker "), "elsewhere");
}

TEST(TextAfter, WhatIsNoElfFileIsMalformed) {
  test::FakeHost host;
  host.file("/text", "marker text").deny("/denied");
  EXPECT_EQ(text_after(host, "/text", "marker ").error().code, Errc::malformed);
  EXPECT_EQ(text_after(host, "/denied", "marker ").error().code, Errc::denied);
  EXPECT_EQ(text_after(host, "/none", "marker ").error().code, Errc::absent);
}

TEST(TextAfter, SectionsBeyondTheFileAreCut) {
  test::LibraryParts parts;
  parts.rodata = "the marker here";
  std::string bytes = test::library(parts);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (const std::uint64_t size : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    Elf64_Shdr rodata;
    std::memcpy(&rodata, bytes.data() + header.e_shoff + 64, sizeof rodata);
    rodata.sh_size = size;
    std::memcpy(bytes.data() + header.e_shoff + 64, &rodata, sizeof rodata);
    test::FakeHost host;
    host.file("/lib.so", bytes);
    const auto text = text_after(host, "/lib.so", "marker ");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, "here");
    EXPECT_EQ(*text_after(host, "/lib.so", "nowhere"), std::nullopt);
  }
}

TEST(TextAfter, ASearchThatStopsAtItsLimitIsTooLargeAndNotNone) {
  test::LibraryParts parts;
  parts.rodata = std::string(300'000, 'r') + "marker found";
  test::FakeHost host;
  host.file("/lib.so", test::library(parts));
  const auto with_limit = [&](std::uint64_t limit) {
    return host.inspect("/lib.so",
                        [&](int fd) { return search(fd, "/lib.so", "marker ", 128, limit); });
  };
  EXPECT_EQ(*with_limit(1u << 20), "ffound");
  EXPECT_EQ(*with_limit(300'007), "ffound");
  ASSERT_FALSE(with_limit(300'006));
  EXPECT_EQ(with_limit(300'006).error().code, Errc::too_large);
}

TEST(TextAfter, AMemoryAnswersForAFileThatDidNotChange) {
  // A ctime cannot be set on a disk; the fake machine's files are years old.
  test::LibraryParts parts;
  parts.rodata = "version 1.0";
  test::FakeHost host;
  host.file("/lib.so", test::library(parts));
  host::Memory memory("");
  EXPECT_EQ(*text_after(host, "/lib.so", "version ", 128, &memory), "1.0");
  parts.rodata = "version 2.0";
  host.file("/lib.so", test::library(parts));  // same size and times: taken for the same file
  EXPECT_EQ(*text_after(host, "/lib.so", "version ", 128, &memory), "1.0");
  EXPECT_EQ(*text_after(host, "/lib.so", "version ", 1, &memory), "2");  // another question
  EXPECT_EQ(*text_after(host, "/lib.so", "absent ", 128, &memory), std::nullopt);
  parts.rodata = "absent 3.00";
  host.file("/lib.so", test::library(parts));
  EXPECT_EQ(*text_after(host, "/lib.so", "absent ", 128, &memory), std::nullopt);
}

TEST(TextAfter, OurOwnProgramAsItIs) {
  static const char kText[] = "goldenv text-after marker: found";
  const volatile char* keep = kText;
  ASSERT_EQ(*keep, 'g');
  const auto text = text_after(*host::live_host(), "/proc/self/exe",
                               "goldenv text-after"
                               " marker: ");
  ASSERT_TRUE(text) << text.error().message;
  ASSERT_TRUE(*text);
  EXPECT_TRUE(**text == "found" || **text == "") << **text;
}

}  // namespace
}  // namespace goldenv::elf
