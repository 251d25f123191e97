#include "provision/requirements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::provision {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Installed package(const std::string& project, const std::string& version,
                  const std::vector<std::string>& requires_dist = {}) {
  std::string text = "Metadata-Version: 2.1\nName: " + project + "\nVersion: " + version + "\n";
  for (const std::string& one : requires_dist) {
    text += "Requires-Dist: " + one + "\n";
  }
  auto metadata = wheel::parse_metadata(text + "\n");
  EXPECT_TRUE(metadata);
  return {project, version, metadata ? *std::move(metadata) : wheel::Metadata{}};
}

const wheel::MarkerEnvironment kLinux = wheel::linux_environment("3.11.7", "x86_64");

TEST(UnmetRequirements, ASetThatHasAllIsClosed) {
  EXPECT_THAT(
      unmet_requirements({package("torch", "2.2.1",
                                  {"filelock",
                                   "nvidia-nccl-cu12 (==2.19.3) ; "
                                   "platform_system == \"Linux\"",
                                   "sympy; extra == 'dev'", "pywin32; sys_platform == 'win32'"}),
                          package("filelock", "3.13.1"), package("nvidia-nccl-cu12", "2.19.3")},
                         kLinux),
      IsEmpty());
}

TEST(UnmetRequirements, WhatIsMissingOrInAnotherVersionIsNamed) {
  EXPECT_THAT(unmet_requirements({package("torch", "2.2.1", {"sympy", "nvidia_nccl.cu12==2.19.3"}),
                                  package("nvidia-nccl-cu12", "2.20.5")},
                                 kLinux),
              ElementsAre(Unmet{"torch 2.2.1", "sympy", "", true},
                          Unmet{"torch 2.2.1", "nvidia-nccl-cu12 ==2.19.3", "2.20.5", true}));
}

TEST(UnmetRequirements, ExtrasThatPackagesAskOfEachOtherCount) {
  // a asks b for its extra x, which asks c for y, which needs d.
  EXPECT_THAT(
      unmet_requirements({package("a", "1", {"b[x]"}), package("b", "1", {"c[y]; extra == 'x'"}),
                          package("c", "1", {"d; extra == 'y'", "e; extra == 'z'"})},
                         kLinux),
      ElementsAre(Unmet{"c 1", "d", "", true}));
}

TEST(UnmetRequirements, APythonThatAPackageIsNotForIsTold) {
  const std::string text = "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Python: ";
  for (const auto& [wants, count] : {std::pair{">=3.8,<4", 0u}, std::pair{">=3.99", 1u}}) {
    auto metadata = wheel::parse_metadata(text + wants + "\n\n");
    ASSERT_TRUE(metadata);
    const auto unmet = unmet_requirements({{"a", "1", *std::move(metadata)}}, kLinux);
    ASSERT_EQ(unmet.size(), count) << wants;
    if (count == 1) {
      EXPECT_EQ(unmet[0].wants, "Python >=3.99 (this is 3.11.7)");
    }
  }
}

TEST(UnmetRequirements, WhatHangsOnSomethingUnknownIsToldAsSuch) {
  EXPECT_THAT(unmet_requirements({package("a", "1", {"b; platform_release >= '5.5'"})}, kLinux),
              ElementsAre(Unmet{"a 1", "b", "", false}));
}

}  // namespace
}  // namespace goldenv::provision
