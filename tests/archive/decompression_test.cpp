#include "archive/decompression.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace goldenv::archive {
namespace {

using std::string_view_literals::operator""sv;

// "goldenv " 100 times: gzip -9n, xz --check=crc32, zstd --check.
constexpr auto kGzip =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xcf\xcf\x49\x49\xcd"
    "\x2b\x53\x48\x1f\xa5\x47\xe9\x51\x1a\x83\x06\x00\x69\x52\xc0\xa5"
    "\x20\x03\x00\x00"sv;
constexpr auto kXz =
    "\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01"
    "\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x03\x1f\x00\x12\x5d\x00\x33"
    "\x9b\xc9\xcd\x8a\xa9\x32\x82\x90\xbc\x23\xa8\x6f\x3b\xeb\x3a\xa8"
    "\x00\x00\x00\x00\x69\x52\xc0\xa5\x00\x01\x2a\xa0\x06\x00\x00\x00"
    "\xc7\x32\x2e\x30\x3e\x30\x0d\x8b\x02\x00\x00\x00\x00\x01\x59\x5a"sv;
constexpr auto kZstd =
    "\x28\xb5\x2f\xfd\x04\x58\x7d\x00\x00\x40\x67\x6f\x6c\x64\x65\x6e"
    "\x76\x20\x01\x00\x15\x57\x15\x2e\xa6\xaa\xd2\x0e"sv;

std::string original() {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "goldenv ";
  }
  return text;
}

Result<std::string> unpacked(std::string_view bytes, std::uint64_t limit_bytes = 1u << 20) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  std::string out;
  const Result<void> done = decompress(fd, "/x.ko", limit_bytes, [&](std::string_view piece) {
    out += piece;
    return Result<void>();
  });
  close(fd);
  return done ? Result<std::string>(out) : Result<std::string>(done.error());
}

Errc code_of(const Result<std::string>& result) {
  EXPECT_FALSE(result) << "content where an error was expected";
  return result ? Errc::usage : result.error().code;
}

TEST(Decompression, EachFormatIsKnownByItsFirstBytes) {
  EXPECT_EQ(compression_of(kGzip), Compression::gzip);
  EXPECT_EQ(compression_of(kXz), Compression::xz);
  EXPECT_EQ(compression_of(kZstd), Compression::zstd);
  EXPECT_EQ(compression_of("\x7f"
                           "ELF"),
            Compression::none);
  EXPECT_EQ(compression_of(""), Compression::none);
  EXPECT_EQ(compression_of(kXz.substr(0, 5)), Compression::none);
}

TEST(Decompression, EachFormatComesOutWhole) {
  for (const std::string_view bytes : {kGzip, kXz, kZstd}) {
    const auto text = unpacked(bytes);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, original());
  }
}

TEST(Decompression, WhatIsNotCompressedComesOutAsItIs) {
  EXPECT_EQ(*unpacked("\x7f"
                      "ELF and so on"),
            "\x7f"
            "ELF and so on");
  EXPECT_EQ(*unpacked(""), "");
  const std::string large(300'000, 'x');
  EXPECT_EQ(*unpacked(large), large);
  EXPECT_EQ(code_of(unpacked(large, 299'999)), Errc::too_large);
}

TEST(Decompression, StreamsBehindOneAnotherAreOneContent) {
  for (const std::string_view bytes : {kGzip, kXz, kZstd}) {
    const auto text = unpacked(std::string(bytes) + std::string(bytes));
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, original() + original());
  }
}

TEST(Decompression, StreamsCutShortAnywhereAreMalformed) {
  for (const std::string_view bytes : {kGzip, kXz, kZstd}) {
    for (std::size_t size = 6; size < bytes.size(); ++size) {
      EXPECT_EQ(code_of(unpacked(bytes.substr(0, size))), Errc::malformed) << size;
    }
  }
}

TEST(Decompression, DamagedStreamsAreMalformed) {
  for (const std::string_view bytes : {kGzip, kXz, kZstd}) {
    std::string damaged(bytes);
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    EXPECT_EQ(code_of(unpacked(damaged)), Errc::malformed);
    EXPECT_EQ(code_of(unpacked(std::string(bytes) + "rubbish")), Errc::malformed);
  }
}

TEST(Decompression, MoreThanTheLimitIsTooLarge) {
  for (const std::string_view bytes : {kGzip, kXz, kZstd}) {
    EXPECT_TRUE(unpacked(bytes, 800));
    EXPECT_EQ(code_of(unpacked(bytes, 799)), Errc::too_large);
  }
}

// A frame header that asks for a window of 2 GiB: nothing is reserved for it.
TEST(Decompression, AWindowThatNoModuleNeedsIsTooLarge) {
  EXPECT_EQ(code_of(unpacked("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"sv)), Errc::too_large);
}

TEST(Decompression, AnErrorOfTheSinkEndsIt) {
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(write(fd, kGzip.data(), kGzip.size()), static_cast<ssize_t>(kGzip.size()));
  const Result<void> done = decompress(fd, "/x.ko", 1u << 20, [](std::string_view) -> Result<void> {
    return Error{Errc::failed, "no room", {}};
  });
  close(fd);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "no room");
}

TEST(Decompression, WhatCannotBeReadIsUnreadable) {
  const int fd = open("/", O_RDONLY | O_CLOEXEC);
  const Result<void> done =
      decompress(fd, "/x", 1024, [](std::string_view) { return Result<void>(); });
  close(fd);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::unreadable);
}

}  // namespace
}  // namespace goldenv::archive
