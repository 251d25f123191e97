#include "wheel/tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/packaging_oracle.h"

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;

constexpr auto kCpython = Target::Implementation::cpython;

Target python(unsigned minor, std::string machine = "x86_64", unsigned glibc = 36) {
  Target target;
  target.minor = minor;
  target.machine = std::move(machine);
  target.glibc_major = 2;
  target.glibc_minor = glibc;
  return target;
}

WheelName named(std::string_view file) {
  auto wheel = parse_wheel_name(file);
  EXPECT_TRUE(wheel) << file;
  return wheel ? *std::move(wheel) : WheelName{};
}

std::string joined(const std::vector<Tag>& tags) {
  std::string out;
  for (const Tag& tag : tags) out += (out.empty() ? "" : " ") + render(tag);
  return out;
}

TEST(SupportedPlatforms, OlderNamesStandBesideTheirVersions) {
  EXPECT_THAT(supported_platforms(python(11, "aarch64", 18)),
              ElementsAre("manylinux_2_18_aarch64", "manylinux_2_17_aarch64",
                          "manylinux2014_aarch64", "linux_aarch64"));
  const auto x86 = supported_platforms(python(11, "x86_64", 12));
  EXPECT_EQ(x86.front(), "manylinux_2_12_x86_64");
  EXPECT_EQ(x86[1], "manylinux2010_x86_64");
  EXPECT_EQ(x86[x86.size() - 2], "manylinux1_x86_64");
}

TEST(SupportedPlatforms, WithoutGlibcOnlyThisMachinesOwnAreThere) {
  Target target = python(11);
  target.glibc_major = 0;
  EXPECT_THAT(supported_platforms(target), ElementsAre("linux_x86_64"));
  target.glibc_major = 2;
  target.glibc_minor = 4'000'000'000U;
  EXPECT_LT(supported_platforms(target).size(), 1100U);
}

TEST(SupportedTags, AFreeThreadedPythonHasNoStableAbi) {
  Target target = python(13, "x86_64", 17);
  target.free_threaded = true;
  const std::vector<Tag> tags = supported_tags(target);
  EXPECT_EQ(render(tags.front()), "cp313-cp313t-manylinux_2_17_x86_64");
  EXPECT_TRUE(std::ranges::none_of(tags, [](const Tag& tag) { return tag.abi == "abi3"; }));
  EXPECT_TRUE(std::ranges::none_of(tags, [](const Tag& tag) { return tag.abi == "cp313"; }));
  EXPECT_TRUE(std::ranges::find(tags, Tag{"cp313", "none", "any"}) != tags.end());
}

TEST(SupportedTags, ALanguageAloneTakesPurePythonFiles) {
  Target target;
  target.implementation = Target::Implementation::any;
  target.minor = 1;
  EXPECT_EQ(joined(supported_tags(target)), "py31-none-any py3-none-any py30-none-any");
  EXPECT_EQ(abi_tag(target), "");
}

TEST(SupportedTagsOracle, AreThoseOfTheRunningInterpreterInOrder) {
  const std::vector<std::string> said = lines_of_packaging(R"(
import platform, sys, sysconfig
from packaging import _manylinux, tags
glibc = _manylinux._get_glibc_version()
print(*sys.version_info[:2], platform.machine(), *glibc, int(hasattr(sys, 'gettotalrefcount')))
print(*tags.sys_tags())
)",
                                                           "");
  ASSERT_EQ(said.size(), 2U);
  const std::vector<std::string_view> own = words(said[0]);
  ASSERT_EQ(own.size(), 6U) << said[0];
  Target target = python(static_cast<unsigned>(to_number(own[1]).value_or(0)), std::string(own[2]),
                         static_cast<unsigned>(to_number(own[4]).value_or(0)));
  target.debug = own[5] == "1";
  EXPECT_EQ(target.implementation, kCpython);
  EXPECT_EQ(joined(supported_tags(target)), said[1]);
}

TEST(SupportedTagsOracle, AreThoseOfMadeUpInterpretersInOrder) {
  struct Row {
    unsigned minor;
    bool debug;
    std::string machine;
    unsigned glibc;
  };
  std::vector<Row> rows;
  std::string input;
  for (const unsigned minor : {6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 14U}) {
    for (const bool debug : {false, true}) {
      for (const std::string machine : {"x86_64", "aarch64", "ppc64le"}) {
        for (const unsigned glibc : {4U, 5U, 12U, 16U, 17U, 28U, 35U, 41U}) {
          rows.push_back({minor, debug, machine, glibc});
          input += std::to_string(minor) + " " + (debug ? "1 " : "0 ") + machine + " " +
                   std::to_string(glibc) + "\n";
        }
      }
    }
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import inspect, sys
from packaging import _manylinux, tags
_manylinux._have_compatible_abi = lambda *rest: True
old = len(inspect.signature(_manylinux.platform_tags).parameters) == 2
for line in sys.stdin:
    minor, debug, machine, glibc = line.split()
    minor = int(minor)
    _manylinux._get_glibc_version = lambda: _manylinux._GLibCVersion(2, int(glibc))
    asked = ('linux_' + machine, machine) if old else ([machine],)
    platforms = [*_manylinux.platform_tags(*asked), 'linux_' + machine]
    settings = {'Py_DEBUG': int(debug), 'WITH_PYMALLOC': 1}
    tags._get_config_var = lambda name, warn=False: settings.get(name)
    print(*tags.cpython_tags((3, minor), platforms=platforms),
          *tags.compatible_tags((3, minor), f'cp3{minor}', platforms))
)",
                                                           input);
  ASSERT_EQ(said.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Target target = python(rows[i].minor, rows[i].machine, rows[i].glibc);
    target.debug = rows[i].debug;
    EXPECT_EQ(joined(supported_tags(target)), said[i])
        << "3." << rows[i].minor << " " << rows[i].machine << " 2." << rows[i].glibc;
  }
}

TEST(BestFile, HasTheBestTagThenTheHighestBuild) {
  const TagRanks ranks(supported_tags(python(11)));
  const std::vector<WheelName> files{
      named("a-1-py3-none-any.whl"),
      named("a-1-cp38-abi3-manylinux2014_x86_64.whl"),
      named("a-1-1-cp311-cp311-manylinux_2_17_x86_64.whl"),
      named("a-1-10-cp311-cp311-manylinux_2_17_x86_64.whl"),
      named("a-1-9-cp311-cp311-manylinux_2_17_x86_64.whl"),
      named("a-1-99-cp312-cp312-manylinux_2_17_x86_64.whl"),
  };
  EXPECT_EQ(best(files, ranks), 3U);
  EXPECT_EQ(best({files[0], files[1]}, ranks), 1U);
  EXPECT_EQ(best({files[0], files[0]}, ranks), 0U);
  EXPECT_EQ(best({files[5]}, ranks), std::nullopt);
  EXPECT_EQ(best({}, ranks), std::nullopt);
}

TEST(BestFile, OfSeveralTagsTheBestCounts) {
  const TagRanks ranks(supported_tags(python(11, "x86_64", 17)));
  EXPECT_EQ(ranks.rank(named("a-1-cp311-cp311-manylinux_2_5_x86_64.manylinux_2_17_x86_64.whl")),
            0U);
}

TEST(Misfit, SaysWhatTheFileIsFor) {
  const Target target = python(11, "x86_64", 31);
  EXPECT_EQ(misfit(named("a-1-cp310-cp310-manylinux2014_x86_64.whl"), target),
            "for cp310-cp310, this Python is cp311");
  EXPECT_EQ(misfit(named("a-1-cp311-cp311-manylinux_2_35_x86_64.whl"), target),
            "needs glibc 2.35, this machine has 2.31");
  EXPECT_EQ(misfit(named("a-1-cp311-cp311-manylinux2014_aarch64.whl"), target),
            "for manylinux2014_aarch64");
  EXPECT_EQ(misfit(named("a-1-cp311-cp311-win_amd64.whl"), target), "for win_amd64");
  EXPECT_EQ(misfit(named("a-1-py2-none-any.whl"), target), "for py2-none, this Python is cp311");
}

}  // namespace
}  // namespace goldenv::wheel
