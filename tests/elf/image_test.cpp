#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "elf/elf.h"
#include "elf_file.h"
#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::elf {
namespace {

Result<Image> read_bytes(const std::string& bytes) {
  test::FakeHost host;
  host.file("/lib.so", bytes);
  return read(host, "/lib.so");
}

Errc code_of(const Result<Image>& image) {
  EXPECT_FALSE(image) << "an image where an error was expected";
  return image ? Errc::usage : image.error().code;
}

TEST(Image, AllPartsOfALibrary) {
  const auto image = read_bytes(test::library());
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->machine, EM_X86_64);
  EXPECT_TRUE(image->is_64bit);
  EXPECT_EQ(image->build_id, "00112233445566778899aabbccddeeff00112233");
  EXPECT_EQ(image->soname, "libtest.so.1");
  EXPECT_EQ(image->needed, (std::vector<std::string>{"libb.so.2", "liba.so.1"}));
  EXPECT_EQ(image->runpath, (std::vector<std::string>{"$ORIGIN", "$ORIGIN/../lib", ""}));
  EXPECT_TRUE(image->rpath.empty());
  EXPECT_EQ(image->version_definitions, (std::vector<std::string>{"TEST_1.0", "TEST_1.1"}));
}

TEST(Image, AnRpathCountsOnlyWithoutARunpath) {
  test::LibraryParts parts;
  parts.rpath = "/opt/old";
  EXPECT_TRUE(read_bytes(test::library(parts))->rpath.empty());
  parts.runpath = "";
  const auto image = read_bytes(test::library(parts));
  EXPECT_EQ(image->rpath, std::vector<std::string>{"/opt/old"});
  EXPECT_TRUE(image->runpath.empty());
}

TEST(Image, TheOtherByteOrderIsRead) {
  test::LibraryParts parts;
  parts.big_endian = true;
  const auto image = read_bytes(test::library(parts));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->machine, EM_X86_64);
  EXPECT_EQ(image->build_id, "00112233445566778899aabbccddeeff00112233");
  EXPECT_EQ(image->soname, "libtest.so.1");
  EXPECT_EQ(image->needed.size(), 2u);
  EXPECT_EQ(image->version_definitions, (std::vector<std::string>{"TEST_1.0", "TEST_1.1"}));
}

TEST(Image, WhatIsNoElfFileIsMalformed) {
  EXPECT_EQ(code_of(read_bytes("")), Errc::malformed);
  EXPECT_EQ(code_of(read_bytes("\x7f"
                               "ELF")),
            Errc::malformed);
  EXPECT_EQ(code_of(read_bytes("GROUP ( /lib/libc.so.6 )\n")), Errc::malformed);
  EXPECT_EQ(code_of(read_bytes("!<arch>\n" + std::string(100, ' '))), Errc::malformed);
  EXPECT_EQ(code_of(read_bytes(std::string(4096, '\0'))), Errc::malformed);
  test::FakeHost host;
  EXPECT_EQ(read(host, "/none").error().code, Errc::absent);
  EXPECT_EQ(read_bytes("text").error().message, "/lib.so: is no ELF file");
}

TEST(Image, EveryCutOfALibraryIsAnErrorThatSaysSo) {
  for (const bool section_headers : {true, false}) {
    test::LibraryParts parts;
    parts.section_headers = section_headers;
    const std::string whole = test::library(parts);
    ASSERT_TRUE(read_bytes(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto image = read_bytes(whole.substr(0, size));
      ASSERT_FALSE(image) << size;
      EXPECT_EQ(image.error().code, Errc::malformed) << size;
      EXPECT_NE(image.error().message.find(size < EI_NIDENT ? "is no ELF file" : "is cut short"),
                std::string::npos)
          << size << ": " << image.error().message;
    }
  }
  EXPECT_EQ(read_bytes(test::library().substr(0, 100)).error().message,
            "/lib.so: is cut short: its program headers lie outside it");
}

TEST(Image, ACutKernelModuleIsAnErrorThatSaysSo) {
  // Sections alone: a library whose header names no segments.
  std::string module = test::library();
  Elf64_Ehdr header;
  std::memcpy(&header, module.data(), sizeof header);
  header.e_type = ET_REL;
  header.e_phnum = 0;
  header.e_phoff = 0;
  std::memcpy(module.data(), &header, sizeof header);
  EXPECT_TRUE(read_bytes(module));
  const auto cut = read_bytes(module.substr(0, module.size() - 1));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message, "/lib.so: is cut short: its section headers lie outside it");
}

TEST(Image, EveryByteMayBeWrong) {
  const std::string whole = test::library();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff', '\x80', '\1'}) {
      std::string broken = whole;
      broken[at] = byte;
      const auto image = read_bytes(broken);
      EXPECT_TRUE(image || image.error().code == Errc::malformed) << at;
    }
  }
}

TEST(Image, ManyWrongBytesAtOnce) {
  std::minstd_rand random(20240501);
  const std::string whole = test::library();
  for (int round = 0; round < 3000; ++round) {
    std::string broken = whole;
    for (int i = 0; i < 12; ++i) {
      broken[random() % broken.size()] = static_cast<char>(random());
    }
    const auto image = read_bytes(broken);
    EXPECT_TRUE(image || image.error().code == Errc::malformed) << round;
  }
}

TEST(Image, CountsAndOffsetsBeyondTheFileAreMalformed) {
  const std::string whole = test::library();
  const auto with = [&](auto change) {
    std::string broken = whole;
    Elf64_Ehdr header;
    std::memcpy(&header, broken.data(), sizeof header);
    change(header);
    std::memcpy(broken.data(), &header, sizeof header);
    return read_bytes(broken);
  };
  EXPECT_EQ(code_of(with([](Elf64_Ehdr& h) { h.e_phnum = 0xfffe; })), Errc::malformed);
  EXPECT_EQ(code_of(with([](Elf64_Ehdr& h) { h.e_phoff = ~0ull - 8; })), Errc::malformed);
  EXPECT_EQ(code_of(with([](Elf64_Ehdr& h) { h.e_phnum = PN_XNUM; })), Errc::malformed);
  // Section headers are no part of what is loaded.
  const auto no_sections = with([](Elf64_Ehdr& h) { h.e_shoff = ~0ull - 100; });
  EXPECT_TRUE(!no_sections || no_sections->soname == "libtest.so.1");
}

TEST(Image, AMillionSectionsCostNothing) {
  // A sparse file whose first section header states how many there are.
  const test::TempDir folder;
  std::string bytes = test::library();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shnum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  Elf64_Shdr first{};
  first.sh_size = 1u << 30;
  std::memcpy(bytes.data() + header.e_shoff, &first, sizeof first);
  const std::string path = folder.file("sparse.so", bytes);
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(code_of(read(*host::live_host(), path)), Errc::malformed);
}

TEST(Image, MoreVersionsStatedThanThereAre) {
  test::LibraryParts parts;
  parts.version_count = 60'000;
  const auto image = read_bytes(test::library(parts));
  ASSERT_TRUE(image);
  EXPECT_EQ(image->version_definitions.size(), 2u);
}

TEST(Image, TheCLibraryAsItIs) {
  const auto host = host::live_host();
  const auto image = read(*host, "/usr/lib/x86_64-linux-gnu/libc.so.6");
  if (!image && image.error().code == Errc::absent) {
    // Not where Debian keeps it: any other place is as good.
    const auto other = read(*host, "/lib64/libc.so.6");
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->soname, "libc.so.6");
    return;
  }
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->soname, "libc.so.6");
  EXPECT_EQ(image->machine, EM_X86_64);
  EXPECT_GE(image->build_id.size(), 32u);
  EXPECT_EQ(std::ranges::count(image->version_definitions, "GLIBC_2.2.5"), 1);
  EXPECT_EQ(std::ranges::count(image->needed, "ld-linux-x86-64.so.2"), 1);
}

TEST(Image, TheVersionsOfLibstdcxxAsItIs) {
  const auto host = host::live_host();
  for (const char* path :
       {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/aarch64-linux-gnu/libstdc++.so.6",
        "/usr/lib64/libstdc++.so.6"}) {
    const auto image = read(*host, path);
    if (image) {
      EXPECT_EQ(image->soname, "libstdc++.so.6");
      EXPECT_EQ(image->version_definitions.front(), "GLIBCXX_3.4");
      EXPECT_EQ(std::ranges::count(image->version_definitions, "GLIBCXX_3.4.28"), 1);
      EXPECT_EQ(std::ranges::count(image->version_definitions, "CXXABI_1.3"), 1);
      return;
    }
    EXPECT_EQ(image.error().code, Errc::absent) << image.error().message;
  }
  FAIL() << "no libstdc++.so.6 where Debian, Ubuntu and Red Hat keep it";
}

TEST(Image, OurOwnProgramAsItIs) {
  const auto image = read(*host::live_host(), "/proc/self/exe");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(std::ranges::count(image->needed, "libc.so.6"), 1);
  EXPECT_EQ(image->soname, "");
}

}  // namespace
}  // namespace goldenv::elf
