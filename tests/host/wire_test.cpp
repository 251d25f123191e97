#include "host/wire.h"

#include <gtest/gtest.h>

namespace goldenv::host {
namespace {

using namespace std::string_literals;

TEST(Wire, ValuesAndErrorsComeBackAsTheyWent) {
  const Result<std::string> text("a\0b"s);
  EXPECT_EQ(*decode<std::string>(encode(text)), "a\0b"s);
  const Result<std::vector<std::string>> texts(std::vector<std::string>{"", "x", "yy"});
  EXPECT_EQ(*decode<std::vector<std::string>>(encode(texts)), *texts);
  const Result<std::vector<DirEntry>> entries(
      std::vector<DirEntry>{{"a", FileStatus::Kind::link}, {"b", FileStatus::Kind::other}});
  EXPECT_EQ(*decode<std::vector<DirEntry>>(encode(entries)), *entries);
  FileStatus status;
  status.kind = FileStatus::Kind::device;
  status.mode = 0640;
  status.uid = 4294967295u;
  status.size_bytes = ~std::uint64_t{0};
  status.mtime_ns = -5;
  const auto back = decode<FileStatus>(encode(Result<FileStatus>(status)));
  EXPECT_EQ(back->kind, status.kind);
  EXPECT_EQ(back->mode, status.mode);
  EXPECT_EQ(back->uid, status.uid);
  EXPECT_EQ(back->size_bytes, status.size_bytes);
  EXPECT_EQ(back->mtime_ns, -5);
  EXPECT_EQ(decode<Space>(encode(Result<Space>(Space{7, 3})))->free_bytes, 3u);
  const Error error{Errc::not_collected, "/x: was not recorded", {"one", "two"}};
  EXPECT_EQ(decode<Space>(encode(Result<Space>(error))).error(), error);
}

TEST(Wire, EveryCutIsABrokenAnswer) {
  const std::string value =
      encode(Result<std::vector<std::string>>(std::vector<std::string>{"first", "second"}));
  const std::string error =
      encode(Result<std::vector<std::string>>(Error{Errc::denied, "words", {"step"}}));
  for (const std::string& whole : {value, error}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto cut = decode<std::vector<std::string>>(whole.substr(0, size));
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().code, Errc::failed) << size;
    }
    EXPECT_EQ(decode<std::vector<std::string>>(whole + "x").error().code, Errc::failed);
  }
}

TEST(Wire, AHugeCountMakesNoHugeReservation) {
  Encoder out;
  out.number(1);
  out.number(~std::uint64_t{0});  // so many texts
  out.number(~std::uint64_t{0});  // of such a length
  EXPECT_EQ(decode<std::vector<std::string>>(out.take()).error().code, Errc::failed);
}

}  // namespace
}  // namespace goldenv::host
