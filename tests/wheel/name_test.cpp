#include "wheel/name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "version/draw.h"
#include "wheel/packaging_oracle.h"

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;
using namespace std::string_view_literals;

std::string fault(std::string_view file) {
  const auto parsed = parse_wheel_name(file);
  return parsed ? "parsed" : parsed.error().message;
}

TEST(WheelName, IsReadFromTheRight) {
  const auto wheel =
      parse_wheel_name("numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_EQ(wheel->name, "numpy");
  EXPECT_EQ(wheel->version, "1.26.4");
  EXPECT_TRUE(wheel->build.empty());
  EXPECT_THAT(wheel->pythons, ElementsAre("cp311"));
  EXPECT_THAT(wheel->abis, ElementsAre("cp311"));
  EXPECT_THAT(wheel->platforms, ElementsAre("manylinux_2_17_x86_64", "manylinux2014_x86_64"));
}

TEST(WheelName, HasLocalLabelsBuildTagsAndFoldersAsWritten) {
  const auto wheel = parse_wheel_name("Nvidia_NCCL.cu12-2.2.1+cu121-007b-py2.py3-none-any.whl");
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_EQ(wheel->name, "nvidia-nccl-cu12");
  EXPECT_EQ(wheel->version, "2.2.1+cu121");
  EXPECT_EQ(wheel->build, (BuildTag{"7", "b"}));
  EXPECT_THAT(wheel->pythons, ElementsAre("py2", "py3"));
  EXPECT_EQ(dist_info_folder(*wheel), "Nvidia_NCCL.cu12-2.2.1+cu121.dist-info");
  EXPECT_EQ(data_folder(*wheel), "Nvidia_NCCL.cu12-2.2.1+cu121.data");
}

TEST(WheelName, AnUnderscoreForTheDashOfAPostReleaseIsRead) {
  const auto wheel = parse_wheel_name("a-1.0_1-py3-none-any.whl");
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_EQ(wheel->version, "1.0-1");
  EXPECT_EQ(dist_info_folder(*wheel), "a-1.0_1.dist-info");
}

TEST(WheelName, RefusalsNameTheFileAndTheReason) {
  EXPECT_EQ(fault("numpy-1.26.4.tar.gz"),
            "\"numpy-1.26.4.tar.gz\" is no name of a wheel: it does not end in .whl");
  EXPECT_EQ(fault("a-1.0-any.whl"),
            "\"a-1.0-any.whl\" is no name of a wheel: it has 3 parts between dashes, expected 5 "
            "or 6");
  EXPECT_EQ(fault("a-1.0-b1-py3-none-any.whl"),
            "\"a-1.0-b1-py3-none-any.whl\" is no name of a wheel: build tag \"b1\" begins with no "
            "digit");
  EXPECT_EQ(fault("a-1..0-py3-none-any.whl"),
            "\"a-1..0-py3-none-any.whl\" is no name of a wheel: \"1..0\" is no version: empty part "
            "after \"1.\"");
  EXPECT_EQ(fault("a-1.0-py3.-none-any.whl"),
            "\"a-1.0-py3.-none-any.whl\" is no name of a wheel: one of its tags is empty");
  EXPECT_EQ(fault("_a-1.0-py3-none-any.whl"),
            "\"_a-1.0-py3-none-any.whl\" is no name of a wheel: \"_a\" names no package");
  EXPECT_EQ(fault("../a-1.0-py3-none-any.whl"),
            "\"../a-1.0-py3-none-any.whl\" is no name of a wheel: only letters, digits and -_.+! "
            "stand in one");
}

TEST(WheelName, ManyCombinationsOfTagsAreRefused) {
  std::string words = "a";
  for (int i = 0; i < 15; ++i) words += ".a";
  EXPECT_THAT(fault("a-1-" + words + "-" + words + "-" + words + ".whl"),
              testing::HasSubstr("more than 1024 combinations of tags"));
}

TEST(WheelName, BuildTagsAreOrderedAsNumbersThenTexts) {
  const BuildTag none;
  EXPECT_TRUE(order(none, {"0", ""}) < 0);
  EXPECT_TRUE(order({"9", ""}, {"10", ""}) < 0);
  EXPECT_TRUE(order({"1", "a"}, {"1", "b"}) < 0);
  EXPECT_TRUE(order({"18446744073709551617", ""}, {"18446744073709551617", ""}) == 0);
}

TEST(PackageName, HasOneNormalForm) {
  EXPECT_EQ(normalised_name("Nvidia._-NCCL_cu12"), "nvidia-nccl-cu12");
  EXPECT_EQ(escaped_name("Nvidia.NCCL-cu12"), "nvidia_nccl_cu12");
  EXPECT_TRUE(is_name("a"));
  for (const std::string_view odd : {""sv, "-a"sv, "a."sv, "a b"sv, "\xC3\xA9"sv}) {
    EXPECT_FALSE(is_name(odd)) << odd;
  }
}

TEST(SourceName, IsSplitAtTheLastDash) {
  const auto source = parse_source_name("nvidia-pyindex-1.0.9.tar.gz");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(*source, (SourceName{"nvidia-pyindex", "1.0.9"}));
  EXPECT_EQ(parse_source_name("a-b.zip").error().message,
            "\"a-b.zip\" is no name of a source distribution: \"b\" is no version: character \"b\" "
            "at its start, not a release number");
  EXPECT_EQ(parse_source_name("a.exe").error().message,
            "\"a.exe\" is no name of a source distribution: it ends in none of .tar.gz, .zip, "
            ".tar.bz2, .tgz");
}

/// Words between dots that an index never has empty, and packaging does not refuse.
bool has_empty_word(std::string_view file) {
  for (const std::string_view pair : {".."sv, ".-"sv, "-."sv, "--"sv, "-.whl"sv}) {
    if (file.find(pair) != std::string_view::npos) return true;
  }
  return false;
}

TEST(WheelNameOracle, ThreeThousandNamesAreReadAsPackagingDoes) {
  version::Draw draw(427);
  constexpr std::array kNames{"numpy"sv, "Foo_bar"sv, "a.b"sv, "nvidia_nccl_cu12"sv, "A"sv};
  constexpr std::array kVersions{"1.26.4"sv,    "2.2.1+cu121"sv, "1!2.0"sv,
                                 "1.0.post1"sv, "0"sv,           "2.0rc1.dev3"sv};
  constexpr std::array kBuilds{""sv, ""sv, "-1"sv, "-02cu"sv, "-b1"sv};
  constexpr std::array kTags{"cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"sv,
                             "py2.py3-none-any"sv, "CP38-abi3-linux_aarch64"sv, "py3-none"sv};
  std::vector<std::string> files;
  std::string input;
  while (files.size() < 3000) {
    std::string file = std::string(draw.of(kNames)) + "-" + std::string(draw.of(kVersions)) +
                       std::string(draw.of(kBuilds)) + "-" + std::string(draw.of(kTags)) + ".whl";
    if (draw.one_in(2)) file = draw.nudged(file, "-.0a+");
    // packaging lets pass names that begin or end with dots and empty tags, and stumbles over "__".
    if (file.find("__") != std::string::npos || has_empty_word(file)) continue;
    if (!is_name(std::string_view(file).substr(0, file.find('-')))) continue;
    input += file + "\n";
    files.push_back(std::move(file));
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging.utils import parse_wheel_filename
for line in sys.stdin:
    try:
        name, version, build, tags = parse_wheel_filename(line.rstrip('\n'))
    except ValueError:
        print('invalid')
    else:
        print(name, build[0] if build else '', build[1] if build else '', len(tags), sep='|')
)",
                                                           input);
  ASSERT_EQ(said.size(), files.size());
  std::size_t invalid = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto wheel = parse_wheel_name(files[i]);
    std::string mine = "invalid";
    if (wheel) {
      std::set<std::string> tags;
      for (const auto& python : wheel->pythons) {
        for (const auto& abi : wheel->abis) {
          for (const auto& platform : wheel->platforms) {
            tags.insert(python + "-" + abi + "-" + platform);
          }
        }
      }
      mine = wheel->name + "|" + wheel->build.digits + "|" + wheel->build.rest + "|" +
             std::to_string(tags.size());
    }
    EXPECT_EQ(mine, said[i]) << files[i];
    if (!wheel) ++invalid;
  }
  EXPECT_GT(invalid, 200U);
  EXPECT_LT(invalid, 2500U);
}

}  // namespace
}  // namespace goldenv::wheel
