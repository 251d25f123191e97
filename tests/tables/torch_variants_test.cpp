#include "tables/torch_variants.h"

#include <gtest/gtest.h>

#include <string>

namespace goldenv::tables {
namespace {

std::string label(std::string_view version) {
  const auto variant = default_torch_variant(version);
  return variant ? std::string(variant->label) + (variant->certain ? "" : "?") : "none";
}

TEST(TorchVariants, ByTheMinorRelease) {
  EXPECT_EQ(label("2.2.1"), "cu121");
  EXPECT_EQ(label("2.2"), "cu121");
  EXPECT_EQ(label("2.2.1+cu118"), "cu121");
  EXPECT_EQ(label("2.0.1"), "cu117");
  EXPECT_EQ(label("2.1.2"), "cu121");
  EXPECT_EQ(label("2.10.0"), "cu128");
  EXPECT_EQ(label("2.11.0"), "cu130");
}

TEST(TorchVariants, GuessesAreMarked) {
  EXPECT_EQ(label("1.12.1"), "cu102?");
  EXPECT_EQ(label("1.13.1"), "cu117?");
}

TEST(TorchVariants, OtherVersionsAreNotInTheTable) {
  for (const char* version : {"", "2", "2.", ".2", "2..1", "2.2.1.1", "2.2.0rc1",
                              "2.3.0.dev20240101", "3.0.0", "1.9.0", "nightly"}) {
    EXPECT_EQ(label(version), "none") << version;
  }
}

TEST(TorchVariants, PlainVersionServesItsDefaultBuildOnly) {
  EXPECT_TRUE(serves("2.2.1", "2.2.1+cu121"));
  EXPECT_FALSE(serves("2.2.1", "2.2.1+cu118"));
  EXPECT_FALSE(serves("2.2.1", "2.2.2+cu121"));
  EXPECT_FALSE(serves("2.2.1", "2.2.1"));
  EXPECT_FALSE(serves("2.2.1+cu121", "2.2.1+cu121"));
  EXPECT_FALSE(serves("2.2.1", "2.2.1+"));
  EXPECT_FALSE(serves("1.13.1", "1.13.1+cu117")) << "a guess is no grounds for equality";
}

}  // namespace
}  // namespace goldenv::tables
