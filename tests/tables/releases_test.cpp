#include "tables/releases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tables/cuda_drivers.h"
#include "tables/cuda_releases.h"
#include "tables/torch_releases.h"
#include "version/version.h"

namespace goldenv::tables {
namespace {

TEST(Releases, AreVersionsInOrderWithSourceAndDay) {
  ASSERT_FALSE(listed_components().empty());
  for (const std::string_view component : listed_components()) {
    const ReleaseList list = releases_of(component);
    EXPECT_EQ(list.component, component);
    EXPECT_FALSE(list.source.empty());
    EXPECT_EQ(list.as_of.size(), 10u);
    ASSERT_GE(list.releases.size(), 30u) << component;
    for (std::size_t i = 0; i < list.releases.size(); ++i) {
      const auto version = version::parse(list.scheme, list.releases[i].version);
      ASSERT_TRUE(version) << component << " " << list.releases[i].version;
      const std::string& date = list.releases[i].date;
      EXPECT_TRUE(date.empty() || date.size() == 10) << date;
      if (i > 0) {
        const auto before = version::parse(list.scheme, list.releases[i - 1].version);
        EXPECT_EQ(version::order(*before, *version), std::strong_ordering::less)
            << component << " " << before->text << " " << version->text;
      }
    }
  }
  EXPECT_TRUE(releases_of("gcc").releases.empty());
}

TEST(Releases, KnowWhatTheyAreFor) {
  const ReleaseList nccl = releases_of("nccl");
  const auto at = std::ranges::find(nccl.releases, "2.19.3", &Release::version);
  ASSERT_NE(at, nccl.releases.end());
  EXPECT_EQ(at->date, "2023-09-26");
  EXPECT_EQ(std::ranges::count(releases_of("torch").releases, "2.2.1+cu121", &Release::version), 1);
  EXPECT_EQ(std::ranges::count(releases_of("driver").releases, "550.100", &Release::version), 1);
}

TEST(CudaDrivers, KnowEveryReleaseAndItsPrefix) {
  for (const std::string_view release : cuda_releases()) {
    const CudaDriver* row = cuda_driver(release);
    ASSERT_NE(row, nullptr) << release;
    if (!row->least.empty()) {
      EXPECT_TRUE(version::parse(version::Scheme::dotted, row->least)) << row->least;
    }
  }
  EXPECT_EQ(cuda_driver("12.1.1")->least, "530.30.02");
  EXPECT_EQ(cuda_driver("12.1")->release, "12.1.0");
  EXPECT_EQ(cuda_driver("12"), nullptr);
  EXPECT_EQ(cuda_driver("12.7"), nullptr);
  EXPECT_EQ(cuda_driver(""), nullptr);
  // 12.8.0 came with another driver than it asks for.
  EXPECT_EQ(cuda_driver("12.8.0")->least, "570.26");
  EXPECT_EQ(cuda_driver("12.8.0")->bundled, "570.86.10");
  EXPECT_EQ(least_driver_of_major("12"), "525.60.13");
  EXPECT_EQ(least_driver_of_major("10"), "");
}

TEST(CudaReleases, KnowTheNumbersOfTheirParts) {
  EXPECT_EQ(number_in_cuda("12.1.1", "cuda_cudart"), "12.1.105");
  EXPECT_EQ(number_in_cuda("12.1.1", "libcublas"), "12.1.3.1");
  EXPECT_EQ(number_in_cuda("12.1.9", "cuda_cudart"), "");
  EXPECT_EQ(number_in_cuda("12.1.1", "cuda_nothing"), "");
}

TEST(TorchReleases, KnowBuildsAndTheirPins) {
  EXPECT_EQ(torch_minor("2.2.1+cu121")->minor, "2.2");
  EXPECT_EQ(torch_minor("2.2.9"), nullptr);
  EXPECT_EQ(torch_minor("2.2.0a0+81ea7a4"), nullptr);
  EXPECT_EQ(torch_minor(""), nullptr);
  EXPECT_EQ(torch_build("2.2.1+cu118").label, "cu118");
  EXPECT_EQ(torch_build("2.2.1").label, "cu121");
  EXPECT_EQ(torch_build("9.9.9").label, "");
  const std::vector<TorchPin> pins = torch_pins("2.2.1", "cu121");
  const auto nccl = std::ranges::find(pins, "nvidia-nccl-cu12", &TorchPin::project);
  ASSERT_NE(nccl, pins.end());
  EXPECT_EQ(nccl->version, "2.19.3");
  EXPECT_EQ(nccl->confidence, Confidence::certain);
  const auto triton = std::ranges::find(pins, "triton", &TorchPin::project);
  ASSERT_NE(triton, pins.end());
  EXPECT_EQ(triton->confidence, Confidence::guess);
  EXPECT_TRUE(torch_pins("2.2.1", "cu999").empty());
}

TEST(TorchReleases, EveryPinIsAVersionOfAPublishedBuild) {
  std::size_t pins = 0;
  for (const TorchMinor& minor : torch_minors()) {
    for (const ReleaseList list = releases_of("torch"); const Release& release : list.releases) {
      const TorchBuild build = torch_build(release.version);
      if (torch_minor(release.version) != &minor) {
        continue;
      }
      for (const TorchPin& pin : torch_pins(build.release, build.label)) {
        ++pins;
        EXPECT_TRUE(version::parse(version::Scheme::pep440, pin.version))
            << release.version << " " << pin.project << " " << pin.version;
      }
    }
  }
  EXPECT_GE(pins, 400u);
}

}  // namespace
}  // namespace goldenv::tables
