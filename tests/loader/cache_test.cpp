#include <gtest/gtest.h>

#include "cache_file.h"
#include "host/host.h"
#include "loader/loader.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

using loader::CacheEntry;
using loader::parse_cache;

const std::vector<CacheEntry> kEntries = {
    {"libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1", 0x0303, 0},
    {"libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1", 0x0303, 0},
    {"libcuda.so.1", "/usr/lib/i386-linux-gnu/libcuda.so.1", 0x0003, 0},
    {"libm.so.6", "/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libm.so.6", 0x0303,
     std::uint64_t{1} << 62},
};

bool same(const CacheEntry& a, const CacheEntry& b) {
  return a.soname == b.soname && a.path == b.path && a.flags == b.flags && a.hwcap == b.hwcap;
}

void expect_entries(const std::string& bytes) {
  const auto entries = parse_cache(bytes);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), kEntries.size());
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    EXPECT_TRUE(same((*entries)[i], kEntries[i])) << i;
  }
}

TEST(LoaderCache, EntriesComeInTheOrderOfTheFile) { expect_entries(test::cache_file(kEntries)); }

TEST(LoaderCache, TheNewBlockIsFoundBehindAnOldOne) {
  for (const std::size_t old : {0U, 1U, 2U, 3U, 700U}) {
    expect_entries(test::compatible_cache_file(kEntries, old));
  }
}

TEST(LoaderCache, AnEmptyCacheHasNoEntries) {
  const auto entries = parse_cache(test::cache_file({}));
  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
}

const std::vector<CacheEntry> kNamed = {
    {"libm.so.6", "/lib/glibc-hwcaps/x86-64-v4/libm.so.6", 0x0303, 0, "x86-64-v4"},
    {"libm.so.6", "/lib/glibc-hwcaps/x86-64-v2/libm.so.6", 0x0303, std::uint64_t{2} << 32,
     "x86-64-v2"},
    {"libm.so.6", "/lib/libm.so.6", 0x0303, 0},
};

TEST(LoaderCache, EntriesHaveTheNamesOfTheExtension) {
  for (const std::string& bytes :
       {test::cache_file(kNamed), test::compatible_cache_file(kNamed, 3)}) {
    const auto entries = parse_cache(bytes);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 3U);
    EXPECT_EQ((*entries)[0].hwcap_name, "x86-64-v4");
    EXPECT_EQ((*entries)[1].hwcap_name, "x86-64-v2");
    EXPECT_EQ((*entries)[1].hwcap >> 32 & 0x3ff, 2U);
    EXPECT_EQ((*entries)[2].hwcap_name, "");
  }
}

TEST(LoaderCache, AnExtensionThatIsCutIsMalformedWhereverItIsCut) {
  const std::string whole = test::cache_file(kNamed);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto entries = parse_cache(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(entries) << size;
    EXPECT_EQ(entries.error().code, Errc::malformed);
  }
}

TEST(LoaderCache, OffsetsOfTheExtensionOutsideTheFileAreMalformed) {
  const std::string good = test::cache_file(kNamed);
  std::size_t extension = 0;
  for (int i = 3; i >= 0; --i) {
    extension = extension * 256 + static_cast<unsigned char>(good[32U + static_cast<unsigned>(i)]);
  }
  // Itself, its magic, its count, offset and size of either section, the first name.
  for (const std::size_t at : {std::size_t{32}, extension, extension + 4, extension + 16,
                               extension + 20, extension + 32, extension + 36, extension + 40}) {
    for (const char high : {'\x7f', '\xff'}) {
      std::string bad = good;
      bad[at + 3] = high;
      const auto entries = parse_cache(bad);
      ASSERT_FALSE(entries) << at;
      EXPECT_EQ(entries.error().code, Errc::malformed);
    }
  }
  std::string crooked = good;
  ++crooked[32];
  EXPECT_FALSE(parse_cache(crooked));
}

TEST(LoaderCache, ManyEntriesThatShareALongTextAreMalformed) {
  const std::string text(4000, 'x');
  std::string bytes = test::cache_file({{text, text, 0x0303, 0}});
  const std::string row = bytes.substr(48, 24);
  constexpr std::size_t kCount = 40'000;
  std::string rows;
  for (std::size_t i = 0; i < kCount; ++i) {
    rows += row;
  }
  // The texts move behind all rows.
  for (std::size_t i = 0; i < kCount; ++i) {
    for (const std::size_t field : {4U, 8U}) {
      std::string offset;
      test::put_number(offset, 48 + kCount * 24 + (field == 4 ? 0 : text.size() + 1), 4);
      rows.replace(i * 24 + field, 4, offset);
    }
  }
  std::string count;
  test::put_number(count, kCount, 4);
  const std::string many =
      bytes.substr(0, 20) + count + bytes.substr(24, 24) + rows + bytes.substr(72);
  const auto entries = parse_cache(many);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, Errc::malformed);
}

// Every prefix of a good file is either refused or, where only string bytes behind all entries are
// missing, impossible: the last string always ends the file.
TEST(LoaderCache, ACutFileIsMalformedWhereverItIsCut) {
  for (const std::string& whole :
       {test::cache_file(kEntries), test::compatible_cache_file(kEntries, 3)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto entries = parse_cache(std::string_view(whole).substr(0, size));
      ASSERT_FALSE(entries) << size;
      EXPECT_EQ(entries.error().code, Errc::malformed);
    }
  }
}

TEST(LoaderCache, CountsAndOffsetsOutsideTheFileAreMalformed) {
  const std::string good = test::cache_file(kEntries);
  for (const std::size_t at : {20U, 52U, 56U, 76U}) {  // count, key, value, next key
    for (const char high : {'\x7f', '\xff'}) {
      std::string bad = good;
      bad[at + 3] = high;
      const auto entries = parse_cache(bad);
      ASSERT_FALSE(entries) << at;
      EXPECT_EQ(entries.error().code, Errc::malformed);
    }
  }
  std::string old = test::compatible_cache_file(kEntries, 1);
  old[15] = '\xff';
  EXPECT_FALSE(parse_cache(old));
}

TEST(LoaderCache, ForeignFilesAreMalformed) {
  std::string big_endian = test::cache_file(kEntries);
  big_endian[28] = 3;
  for (const std::string& text : {std::string(), std::string("ELF"), std::string(4096, '\0'),
                                  big_endian, std::string("ld.so-1.7.0\0\0\0\0\0", 16)}) {
    EXPECT_FALSE(parse_cache(text));
  }
}

}  // namespace
}  // namespace goldenv
