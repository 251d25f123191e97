#include "wheel/record.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace goldenv::wheel {
namespace {

constexpr std::string_view kOwn = "a-1.dist-info/RECORD";
const std::string kDigest = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";

std::string fault(const std::string& text) {
  const auto entries = parse_record(text, kOwn);
  return entries ? "parsed" : entries.error().message;
}

TEST(Record, HasPathsDigestsAndSizes) {
  const auto entries =
      parse_record("a/__init__.py," + kDigest + ",0\r\n\"a/b,\"\"c\"\".py\"," + kDigest +
                       ",\n\na-1.dist-info/RECORD.jws,,\n" + std::string(kOwn) + ",,\n",
                   kOwn);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 4U);
  EXPECT_EQ((*entries)[0], (RecordEntry{"a/__init__.py", Sha256::of(""), 0}));
  EXPECT_EQ((*entries)[1], (RecordEntry{"a/b,\"c\".py", Sha256::of(""), std::nullopt}));
  EXPECT_EQ((*entries)[2].path, "a-1.dist-info/RECORD.jws");
  EXPECT_FALSE((*entries)[3].sha256);
  EXPECT_EQ(parse_record(render_record(*entries), kOwn).value_or({}), *entries);
}

TEST(Record, RefusalsNameLineAndReason) {
  EXPECT_EQ(fault("a," + kDigest + "\n"),
            "RECORD line 1: 2 fields, expected three: path, digest, size");
  EXPECT_EQ(fault("\n/etc/passwd," + kDigest + ",1"),
            "RECORD line 2: \"/etc/passwd\" is no path inside a wheel: it is absolute");
  EXPECT_EQ(fault("../a," + kDigest + ",1"),
            "RECORD line 1: \"../a\" is no path inside a wheel: it has the part \"..\"");
  EXPECT_EQ(fault("a//b," + kDigest + ",1"),
            "RECORD line 1: \"a//b\" is no path inside a wheel: it has the part \"\"");
  EXPECT_EQ(fault("a\\b," + kDigest + ",1"),
            "RECORD line 1: \"a\\b\" is no path inside a wheel: it has a backslash");
  EXPECT_EQ(fault("a\x1b," + kDigest + ",1"),
            "RECORD line 1: \"a\\x1b\" is no path inside a wheel: it has a control character");
  EXPECT_EQ(fault("a\xFF," + kDigest + ",1"),
            "RECORD line 1: \"a\\xff\" is no path inside a wheel: it is no UTF-8");
  EXPECT_EQ(fault("a," + kDigest + ",1\na," + kDigest + ",1"),
            "RECORD line 2: \"a\" stands there twice");
  EXPECT_EQ(fault("a,,1"), "RECORD line 1: \"a\" has no digest");
  EXPECT_EQ(fault("a,md5=1,1"),
            "RECORD line 1: \"a\": its digest is \"md5\", and only sha256 is "
            "checked");
  EXPECT_EQ(fault("a,sha256=12,1"),
            "RECORD line 1: \"a\": \"sha256=12\" is no digest in base64 for URLs");
  EXPECT_EQ(fault("a," + kDigest + ",-1"), "RECORD line 1: \"a\": \"-1\" is no size");
  EXPECT_EQ(fault(std::string(kOwn) + "," + kDigest + ",1"),
            "RECORD line 1: RECORD cannot have a digest of itself");
  EXPECT_EQ(fault("\"a," + kDigest + ",1"),
            "RECORD line 1: a quote that is not closed or in the middle of a field");
  EXPECT_EQ(fault("a\"b," + kDigest + ",1"),
            "RECORD line 1: a quote that is not closed or in the middle of a field");
}

TEST(Record, AMillionLinesAreEnough) {
  const auto many = parse_record(std::string(1'000'001, '\n'), kOwn);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Errc::too_large);
}

TEST(UrlBase64, IsItsOwnInverseAndHasOneText) {
  for (const std::string_view text : {"", "a", "abc", "goldenv"}) {
    const Sha256 digest = Sha256::of(text);
    EXPECT_EQ(from_url_base64(url_base64(digest)), digest);
  }
  EXPECT_EQ(url_base64(Sha256::of("")), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  EXPECT_FALSE(from_url_base64("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFV"));
  EXPECT_FALSE(from_url_base64("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"));
  EXPECT_FALSE(from_url_base64("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU="));
}

}  // namespace
}  // namespace goldenv::wheel
