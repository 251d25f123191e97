#include "tables/driver_branches.h"

#include <gtest/gtest.h>

namespace goldenv::tables {
namespace {

TEST(DriverBranches, ABranchServesOneCuda) {
  EXPECT_EQ(cuda_of_driver("535.129.03"), "12.2");
  EXPECT_EQ(cuda_of_driver("535.54.03"), "12.2");
  EXPECT_EQ(cuda_of_driver("565.57.01"), "12.7");
  EXPECT_EQ(cuda_of_driver("570"), "12.8");
  EXPECT_EQ(cuda_of_driver("418.87"), "10.1");
}

TEST(DriverBranches, OtherNumbersAreNoBranch) {
  for (const char* text : {"", ".", "35.4.1", "540.4.0", "5350.1", "999.1", "Unknown", "53"}) {
    EXPECT_EQ(cuda_of_driver(text), "") << text;
  }
}

}  // namespace
}  // namespace goldenv::tables
