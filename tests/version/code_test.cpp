#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

#include "version/version.h"

namespace goldenv::version {
namespace {

TEST(VersionCode, FormsBeforeAndAfterEachLibraryChangedItsOwn) {
  struct Row {
    Code code;
    std::uint64_t value;
    std::string_view text;
  };
  for (const Row& row : {
           Row{Code::nccl, 2708, "2.7.8"},
           Row{Code::nccl, 2804, "2.8.4"},
           Row{Code::nccl, 1304, "1.3.4"},
           Row{Code::nccl, 20908, "2.9.8"},
           Row{Code::nccl, 21903, "2.19.3"},
           Row{Code::nccl, 22005, "2.20.5"},
           Row{Code::nccl, 30000, "3.0.0"},
           Row{Code::cudnn, 7605, "7.6.5"},
           Row{Code::cudnn, 8902, "8.9.2"},
           Row{Code::cudnn, 90100, "9.1.0"},
           Row{Code::cudnn, 91002, "9.10.2"},
           Row{Code::cuda, 9020, "9.2"},
           Row{Code::cuda, 11080, "11.8"},
           Row{Code::cuda, 12010, "12.1"},
           Row{Code::cuda, 13000, "13.0"},
       }) {
    const Result<std::string> text = from_code(row.code, row.value);
    ASSERT_TRUE(text) << row.value;
    EXPECT_EQ(*text, row.text);
    const Result<std::uint64_t> value = to_code(row.code, row.text);
    ASSERT_TRUE(value) << row.text;
    EXPECT_EQ(*value, row.value);
  }
}

TEST(VersionCode, CodesThatNoReleaseHasAreMalformed) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  struct Row {
    Code code;
    std::uint64_t value;
  };
  for (const Row& row : {
           Row{Code::nccl, 0},
           Row{Code::nccl, 999},
           Row{Code::nccl, 2908},
           Row{Code::nccl, 3000},
           Row{Code::nccl, 20804},
           Row{Code::nccl, kMax},
           Row{Code::nccl, kMax - 21903},
           Row{Code::cudnn, 0},
           Row{Code::cudnn, 9100},
           Row{Code::cudnn, 80902},
           Row{Code::cudnn, kMax},
           Row{Code::cuda, 0},
           Row{Code::cuda, 12011},
           Row{Code::cuda, 12},
           Row{Code::cuda, kMax},
       }) {
    const Result<std::string> text = from_code(row.code, row.value);
    ASSERT_FALSE(text) << row.value << " " << *text;
    EXPECT_EQ(text.error().code, Errc::malformed);
  }
  EXPECT_EQ(from_code(Code::nccl, 20804).error().message, "20804 is no version code of NCCL");
}

TEST(VersionCode, TextsThatHaveNoCodeAreMalformed) {
  struct Row {
    Code code;
    std::string_view text;
  };
  for (const Row& row : {
           Row{Code::nccl, "2.19"},
           Row{Code::nccl, "2.19.3.1"},
           Row{Code::nccl, "2.19.100"},
           Row{Code::nccl, "2.100.3"},
           Row{Code::nccl, "0.1.2"},
           Row{Code::nccl, "2.7.100"},
           Row{Code::nccl, "2..3"},
           Row{Code::cudnn, "8.9.2.26"},
           Row{Code::cudnn, "8.10.0"},
           Row{Code::cudnn, "9.1.18446744073709551616"},
           Row{Code::cuda, "12.1.1"},
           Row{Code::cuda, "12"},
           Row{Code::cuda, "12.100"},
           Row{Code::cuda, "1000.1"},
           Row{Code::cuda, ""},
       }) {
    const Result<std::uint64_t> value = to_code(row.code, row.text);
    ASSERT_FALSE(value) << row.text << " " << *value;
    EXPECT_EQ(value.error().code, Errc::malformed);
  }
}

TEST(VersionCode, EveryCodeThatHasATextComesBack) {
  for (const Code code : {Code::nccl, Code::cudnn, Code::cuda}) {
    int found = 0;
    for (std::uint64_t value = 0; value < 100000; ++value) {
      const Result<std::string> text = from_code(code, value);
      if (!text) continue;
      ++found;
      const Result<std::uint64_t> back = to_code(code, *text);
      if (!back || *back != value) FAIL() << value << " is " << *text;
    }
    EXPECT_GT(found, 1000);
  }
}

}  // namespace
}  // namespace goldenv::version
