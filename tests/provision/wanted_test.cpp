#include "provision/wanted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::provision {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

manifest::Manifest read(const std::string& pins) {
  auto manifest = manifest::load("goldenv: 1\npins:\n" + pins, "golden.yaml", {});
  EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().message);
  return manifest ? *std::move(manifest) : manifest::Manifest{};
}

class WantedOf : public testing::Test {
 protected:
  Wanted want(const std::string& pins) {
    manifest_ = read(pins);
    auto wanted = wanted_of(manifest_, recipes_, {"x86_64", "3.11.7", {}});
    EXPECT_TRUE(wanted) << (wanted ? "" : wanted.error().message);
    return wanted ? *std::move(wanted) : Wanted{};
  }

  /// "nccl 2.19.3 <- wheel nvidia-nccl-cu12 2.19.3".
  static std::vector<std::string> told(const Wanted& wanted) {
    std::vector<std::string> all;
    for (const Component& component : wanted.components) {
      std::string text = component.key + " " + component.version;
      if (!component.expansion.sources.empty()) {
        const recipe::Source& source = component.expansion.sources.front();
        text += " <- " + std::string(recipe::name(source.kind)) + " " + source.name + " " +
                source.version;
      }
      all.push_back(text);
    }
    return all;
  }

  recipe::Collection recipes_ = recipe::shipped_collection();
  manifest::Manifest manifest_;
};

TEST_F(WantedOf, PinsBecomeTheWheelsOfTheirCuda) {
  const Wanted wanted = want(
      "  cuda: 12.1.1\n  nccl: 2.19.3\n  torch: 2.2.1+cu121\n  python.package.numpy: 1.26.4\n");
  EXPECT_THAT(told(wanted), ElementsAre("cuda 12.1.1 <- wheel nvidia-cuda-runtime-cu12 12.1.105",
                                        "nccl 2.19.3 <- wheel nvidia-nccl-cu12 2.19.3",
                                        "python.package.numpy 1.26.4 <- wheel numpy 1.26.4",
                                        "torch 2.2.1+cu121 <- wheel torch 2.2.1+cu121"));
  EXPECT_THAT(wanted.open, IsEmpty());
}

TEST_F(WantedOf, TheCudaOfALibraryIsThatOfTorchWhereNoneIsPinned) {
  EXPECT_THAT(told(want("  nccl: 2.19.3\n  torch: 2.2.1+cu118\n")),
              ElementsAre("nccl 2.19.3 <- wheel nvidia-nccl-cu11 2.19.3",
                          "torch 2.2.1+cu118 <- wheel torch 2.2.1+cu118"));
}

TEST_F(WantedOf, OneThingUnderTwoKeysIsOneComponent) {
  const Wanted wanted = want(
      "  cuda.runtime: 12.1.105\n  python.package.nvidia-cuda-runtime-cu12: 12.1.105\n"
      "  nccl: 2.19.3\n  python.package.nvidia-nccl-cu12: 2.19.3\n  cuda: 12.1.1\n");
  ASSERT_EQ(wanted.components.size(), 2u);
  EXPECT_EQ(wanted.components[0].key, "cuda");
  EXPECT_THAT(wanted.components[0].also,
              ElementsAre("cuda.runtime", "python.package.nvidia-cuda-runtime-cu12"));
  EXPECT_THAT(wanted.components[1].also, ElementsAre("python.package.nvidia-nccl-cu12"));
}

TEST_F(WantedOf, AWheelThatIsPinnedByNameTellsWhichOneHoldsALibrary) {
  const Wanted wanted = want("  nccl: 2.19.3\n  python.package.nvidia-nccl-cu12: 2.19.3\n");
  EXPECT_THAT(told(wanted), ElementsAre("python.package.nvidia-nccl-cu12 2.19.3 <- wheel "
                                        "nvidia-nccl-cu12 2.19.3"));
  EXPECT_THAT(wanted.components[0].also, ElementsAre("nccl"));
}

TEST_F(WantedOf, OneThingInTwoVersionsIsRefusedByName) {
  manifest_ = read("  cuda: 12.1.1\n  nccl: 2.19.3\n  python.package.nvidia-nccl-cu12: 2.18.1\n");
  const auto wanted = wanted_of(manifest_, recipes_, {"x86_64", "3.11.7", {}});
  ASSERT_FALSE(wanted);
  EXPECT_EQ(wanted.error().code, Errc::usage);
  EXPECT_EQ(wanted.error().message,
            "golden.yaml:5: python.package.nvidia-nccl-cu12 2.18.1 and nccl 2.19.3 are the same "
            "thing in two versions");
}

TEST_F(WantedOf, WhatLeavesAChoiceIsOpen) {
  const Wanted wanted = want(
      "  nccl: [2.19.3, 2.20.5]\n  python.package.numpy: \">=1.26\"\n"
      "  cudnn: {want: 8.9.2.26, when: torch >= 2.1}\n  python.package.scipy: absent\n");
  EXPECT_THAT(wanted.components, IsEmpty());
  EXPECT_THAT(wanted.open, ElementsAre(Left{"cudnn", "8.9.2.26", "it holds only under a condition"},
                                       Left{"nccl", "2.19.3 or 2.20.5", ""},
                                       Left{"python.package.numpy", ">=1.26", ""}));
}

TEST_F(WantedOf, OneVersionIsOneHoweverItIsWritten) {
  EXPECT_THAT(
      told(want("  python.package.a: \"==1.0\"\n  python.package.b: [\"2.0\"]\n")),
      ElementsAre("python.package.a 1.0 <- wheel a 1.0", "python.package.b 2.0 <- wheel b 2.0"));
}

TEST_F(WantedOf, ARecipeForAPackageSaysWhereItComesFrom) {
  const std::vector<recipe::Text> own = {
      {"own.yaml",
       "goldenv_recipe: 1\ncomponent: python.package.alpha\nabout: ours\nsources:\n"
       "  - archive: https://mirror.example/alpha-{version}.tar.gz\n    sha256: {\"1.0\": " +
           std::string(64, 'a') + "}\n"}};
  const auto added = recipes_.add(own);
  ASSERT_TRUE(added) << added.error().message;
  const Wanted wanted = want("  python.package.alpha: \"1.0\"\n");
  ASSERT_EQ(wanted.components.size(), 1u);
  ASSERT_EQ(wanted.components[0].expansion.sources.size(), 1u);
  EXPECT_EQ(wanted.components[0].expansion.sources[0].url,
            "https://mirror.example/alpha-1.0.tar.gz");
}

TEST_F(WantedOf, TheMachinesOwnIsLeftToIt) {
  const Wanted wanted = want(
      "  kernel: \">=5.5\"\n  driver: 550.90.07\n  glibc: \"!=2.31\"\n"
      "  sysctl.kernel.watchdog_thresh: 60\n  python: 3.11.7\n");
  EXPECT_THAT(wanted.components, IsEmpty());
  EXPECT_EQ(wanted.python, "3.11.7");
  EXPECT_EQ(wanted.settings, 1u);
  ASSERT_EQ(wanted.host.size(), 3u);
  EXPECT_EQ(wanted.host[0], (Left{"driver", "550.90.07", "needs root and module-reload"}));
  EXPECT_EQ(wanted.host[1].key, "glibc");
  EXPECT_EQ(wanted.host[2], (Left{"kernel", ">=5.5", "needs root and reboot"}));
}

TEST_F(WantedOf, AttributesOfPackagesAreNoPackages) {
  const Wanted wanted = want("  python.package.torch.record: ok\n");
  EXPECT_THAT(wanted.components, IsEmpty());
  EXPECT_EQ(wanted.settings, 1u);
}

}  // namespace
}  // namespace goldenv::provision
