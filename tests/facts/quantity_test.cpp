#include "facts/quantity.h"

#include <gtest/gtest.h>

#include <cmath>

namespace goldenv::facts {
namespace {

TEST(Quantity, ReadsNumbersAndSizes) {
  EXPECT_EQ(to_quantity("60"), 60.0);
  EXPECT_EQ(to_quantity("-1"), -1.0);
  EXPECT_EQ(to_quantity("16.0"), 16.0);
  EXPECT_EQ(to_quantity("64MiB"), 64.0 * 1024 * 1024);
  EXPECT_EQ(to_quantity("8G"), 8.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(to_quantity("4 kB"), 4096.0);
  EXPECT_TRUE(std::isinf(*to_quantity("unlimited")));
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const char* text : {"", "-", "abc", "12x", "1.2.3", "MiB", "1e5", "0x10", "12 34"}) {
    EXPECT_FALSE(to_quantity(text)) << text;
  }
}

TEST(Within, HoldsRelativeAndAbsoluteTolerance) {
  EXPECT_TRUE(within(100, 101.9, "2%"));
  EXPECT_FALSE(within(100, 103, "2%"));
  EXPECT_TRUE(within(1048576, 0, "1MiB"));
  EXPECT_FALSE(within(1048577, 0, "1MiB"));
  EXPECT_FALSE(within(INFINITY, 5, "2%"));
  EXPECT_TRUE(within(INFINITY, INFINITY, "2%"));
}

}  // namespace
}  // namespace goldenv::facts
