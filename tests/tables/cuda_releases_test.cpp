#include "tables/cuda_releases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "version/version.h"

namespace goldenv::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CudaRelease find(const std::vector<CudaPart>& parts) { return find_cuda_release(parts); }

TEST(CudaReleases, RuntimeAndBlasDecide) {
  const CudaRelease release = find({{"cuda_cudart", "12.1.105"}, {"libcublas", "12.1.3.1"}});
  EXPECT_EQ(release.kind, CudaRelease::Kind::releases);
  EXPECT_THAT(release.releases, ElementsAre("12.1.1"));
  EXPECT_EQ(release.prefix, "");
}

TEST(CudaReleases, RuntimeAloneMayLeaveThree) {
  EXPECT_THAT(find({{"cuda_cudart", "11.6.55"}}).releases,
              ElementsAre("11.6.0", "11.6.1", "11.6.2"));
  EXPECT_THAT(find({{"cuda_cudart", "11.6.55"}, {"libcublas", "11.8.1.74"}}).releases,
              ElementsAre("11.6.0", "11.6.1"));
  EXPECT_THAT(
      find({{"cuda_cudart", "11.6.55"}, {"libcublas", "11.8.1.74"}, {"cuda_nvcc", "11.6.112"}})
          .releases,
      ElementsAre("11.6.1"));
}

TEST(CudaReleases, TwinsStayTwo) {
  EXPECT_THAT(find({{"cuda_cudart", "11.4.148"},
                    {"libcublas", "11.6.5.2"},
                    {"cuda_nvcc", "11.4.152"},
                    {"cuda_nvrtc", "11.4.152"},
                    {"libcufft", "10.5.2.100"},
                    {"cuda_cupti", "11.4.120"}})
                  .releases,
              ElementsAre("11.4.3", "11.4.4"));
}

TEST(CudaReleases, UnknownNumberGivesTwoParts) {
  const CudaRelease release = find({{"cuda_nvcc", "11.4.315"}});
  EXPECT_EQ(release.kind, CudaRelease::Kind::prefix);
  EXPECT_EQ(release.prefix, "11.4");
  EXPECT_THAT(release.releases, IsEmpty());
  ASSERT_EQ(release.evidence.size(), 1u);
  EXPECT_EQ(release.evidence[0], (CudaEvidence{"cuda_nvcc", "11.4.315", {}}));
}

TEST(CudaReleases, YoungerBlasBesideAKnownRuntimeIsNoKnownRelease) {
  const CudaRelease release = find({{"cuda_cudart", "12.9.79"}, {"libcublas", "12.9.3.13"}});
  EXPECT_EQ(release.kind, CudaRelease::Kind::prefix);
  EXPECT_EQ(release.prefix, "12.9");
}

TEST(CudaReleases, UnknownBlasAloneSaysNothing) {
  EXPECT_EQ(find({{"libcublas", "99.1.2.3"}}).kind, CudaRelease::Kind::none);
}

TEST(CudaReleases, EmptyIntersectionIsMixed) {
  const CudaRelease release = find({{"cuda_cudart", "12.1.105"}, {"libcublas", "12.4.5.8"}});
  EXPECT_EQ(release.kind, CudaRelease::Kind::mixed);
  EXPECT_THAT(release.releases, IsEmpty());
  ASSERT_EQ(release.evidence.size(), 2u);
  EXPECT_EQ(release.evidence[0], (CudaEvidence{"cuda_cudart", "12.1.105", {"12.1.1"}}));
  EXPECT_EQ(release.evidence[1], (CudaEvidence{"libcublas", "12.4.5.8", {"12.4.1"}}));
  // Within one minor: cudart of 12.6.2 or 12.6.3, nvrtc of 12.6.2, cuBLAS of 12.6.3.
  EXPECT_EQ(
      find({{"cuda_cudart", "12.6.77"}, {"cuda_nvrtc", "12.6.77"}, {"libcublas", "12.6.4.1"}}).kind,
      CudaRelease::Kind::mixed);
}

TEST(CudaReleases, UnknownNumberOfAnotherMinorIsMixed) {
  EXPECT_EQ(find({{"cuda_cudart", "12.1.105"}, {"cuda_nvcc", "12.2.999"}}).kind,
            CudaRelease::Kind::mixed);
  EXPECT_EQ(find({{"cuda_cudart", "15.1.1"}, {"cuda_nvcc", "15.2.1"}}).kind,
            CudaRelease::Kind::mixed);
}

TEST(CudaReleases, OtherPartsAndEmptyNumbersArePassedOver) {
  EXPECT_EQ(find({}).kind, CudaRelease::Kind::none);
  EXPECT_EQ(find({{"cuda_cccl", "12.1.109"}, {"cuda_nvcc", ""}}), CudaRelease{});
  EXPECT_EQ(find({{"cuda_cudart", "junk"}}).kind, CudaRelease::Kind::none);
}

TEST(CudaReleases, WheelsOfThisSetAreOneRelease) {
  // What torch 2.11.0+cu130 pins.
  EXPECT_THAT(
      find({{"cuda_cudart", "13.0.96"}, {"libcublas", "13.1.0.3"}, {"cuda_nvrtc", "13.0.88"}})
          .releases,
      ElementsAre("13.0.2"));
}

TEST(CudaReleases, TableIsSortedAndWellFormed) {
  const std::vector<std::string_view> releases = cuda_releases();
  ASSERT_GT(releases.size(), 60u);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    EXPECT_TRUE(is_cuda_label(releases[i])) << releases[i];
    EXPECT_TRUE(seen.insert(releases[i]).second) << releases[i];
    auto version = version::parse(version::Scheme::dotted, releases[i]);
    ASSERT_TRUE(version);
    if (i > 0) {
      auto before = version::parse(version::Scheme::dotted, releases[i - 1]);
      EXPECT_TRUE(version::order(*before, *version) < 0) << releases[i];
    }
  }
  EXPECT_EQ(cuda_table_date().size(), 10u);
}

TEST(CudaReleases, DateFormIsNoLabel) {
  EXPECT_TRUE(is_cuda_label("12.1.1"));
  EXPECT_TRUE(is_cuda_label("13.0.3"));
  EXPECT_TRUE(is_cuda_label("12.10.0"));
  for (const char* text : {"11.8.20220929", "12.2.20230823", "12.1", "12", "", "12.1.", ".1.1",
                           "12..1", "12.1.1.1", "12.1.x", "12.1.1 "}) {
    EXPECT_FALSE(is_cuda_label(text)) << text;
  }
}

}  // namespace
}  // namespace goldenv::tables
