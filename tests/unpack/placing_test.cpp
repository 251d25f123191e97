#include "unpack/placing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goldenv::unpack {
namespace {

using testing::HasSubstr;

const std::vector<Placement> kNone;

TEST(Placing, NamesAreCleanedOrRefused) {
  EXPECT_EQ(*Placing::cleaned("./usr/lib/"), "usr/lib");
  EXPECT_EQ(*Placing::cleaned("./"), "");
  EXPECT_EQ(*Placing::cleaned("a..b/...c"), "a..b/...c");
  for (const std::string_view bad :
       {std::string_view("/a"), std::string_view("../a"), std::string_view("a/../b"),
        std::string_view("a//b"), std::string_view("a/./b"), std::string_view("a\\b"),
        std::string_view("a\0b", 3), std::string_view("a\nb"), std::string_view("a\xff"),
        std::string_view("..")}) {
    EXPECT_FALSE(Placing::cleaned(bad)) << bad;
  }
}

TEST(Placing, WithoutPlaceEverythingStaysAndLib64IsLib) {
  const Placing placing(1, kNone);
  EXPECT_EQ(placing.target("top"), std::nullopt);
  EXPECT_EQ(placing.target("top/nvvm/lib64/x"), "nvvm/lib64/x");
  EXPECT_EQ(placing.target("top/lib64/x"), "lib/x");
}

TEST(Placing, LongestFromDecides) {
  const std::vector<Placement> place = {{"usr", "."}, {"usr/lib/x86_64-linux-gnu", "lib"}};
  const Placing placing(0, place);
  EXPECT_EQ(placing.target("usr/include/a.h"), "include/a.h");
  EXPECT_EQ(placing.target("usr/lib/x86_64-linux-gnu/liba.so"), "lib/liba.so");
  EXPECT_EQ(placing.target("usrx/a"), std::nullopt);
  EXPECT_EQ(placing.target("etc/a"), std::nullopt);
  EXPECT_EQ(placing.target("usr"), std::nullopt);
}

TEST(Placing, LinksAreWrittenForTheirNewPlace) {
  const std::vector<Placement> place = {{"usr", "."}, {"usr/lib/x86_64-linux-gnu", "lib"}};
  const Placing placing(0, place);
  EXPECT_EQ(*placing.link("usr/lib/x86_64-linux-gnu/a.so", "a.so.1", false), "a.so.1");
  EXPECT_EQ(*placing.link("usr/share/a", "../lib/x86_64-linux-gnu/a.so", false), "../lib/a.so");
  EXPECT_EQ(*placing.link("usr/share/a", "/usr/include/a.h", true), "../include/a.h");
  EXPECT_THAT(placing.link("usr/share/a", "/usr/include/a.h", false).error().message,
              HasSubstr("absolute"));
  EXPECT_THAT(placing.link("usr/share/a", "../../../x", false).error().message,
              HasSubstr("leads out"));
  EXPECT_THAT(placing.link("usr/share/a", "../../etc/x", false).error().message,
              HasSubstr("left out"));
  EXPECT_FALSE(placing.link("usr/a", "", false));
}

}  // namespace
}  // namespace goldenv::unpack
