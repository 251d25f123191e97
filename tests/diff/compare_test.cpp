#include "diff/compare.h"

#include <gtest/gtest.h>

namespace goldenv::diff {
namespace {

using facts::Absent;
using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Snapshot;
using facts::Unknown;
using facts::Value;
using facts::Why;

Snapshot machine(std::vector<std::pair<std::string, Reading>> readings,
                 std::vector<std::string> listed = {}) {
  std::vector<Fact> facts;
  for (auto& [key, reading] : readings) {
    facts.push_back({FactKey::parse(key), std::move(reading), {}});
  }
  return facts::make_snapshot("m", std::move(listed), std::move(facts));
}

std::vector<std::string> keys(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const Difference& difference : comparison.differences) {
    out.push_back(difference.key.text());
    for (const Difference& inner : difference.with) {
      out.push_back("+" + inner.key.text());
    }
  }
  return out;
}

TEST(Compare, OneDriverPatchIsOneDifference) {
  const Comparison comparison = compare(machine({{"driver", Value::scalar("535.129.01")}}),
                                        machine({{"driver", Value::scalar("535.129.03")}}));
  ASSERT_EQ(comparison.differences.size(), 1u);
  const Difference& difference = comparison.differences.front();
  EXPECT_EQ(difference.kind, Kind::version);
  EXPECT_EQ(difference.change.part, version::Part::patch);
  EXPECT_EQ(difference.change.direction, version::Direction::newer);
  EXPECT_EQ(difference.level, facts::Level::must);
}

TEST(Compare, AnUnknownIsNeitherMatchNorDifference) {
  const Comparison comparison =
      compare(machine({{"driver", Unknown{Why::denied, "", "root"}}, {"torch", Unknown{}}}),
              machine({{"driver", Value::scalar("535.129.03")}, {"torch", Unknown{}}}));
  EXPECT_TRUE(comparison.differences.empty());
  ASSERT_EQ(comparison.one_sided.size(), 1u);
  EXPECT_EQ(comparison.one_sided.front().key.text(), "driver");
  EXPECT_EQ(comparison.unknown_on_both, 1u);
  EXPECT_EQ(comparison.compared, 0u);
}

TEST(Compare, AMissingKeyIsUnknownAndAMissingMemberOfAListIsAbsent) {
  const Snapshot with = machine({{"env.NCCL_DEBUG", Value::scalar("INFO")}}, {"env"});
  EXPECT_EQ(keys(compare(with, machine({}, {"env"}))),
            (std::vector<std::string>{"env.NCCL_DEBUG"}));
  EXPECT_EQ(compare(with, machine({}, {"env"})).differences.front().kind, Kind::missing);
  EXPECT_EQ(compare(machine({}, {"env"}), with).differences.front().kind, Kind::extra);
  EXPECT_TRUE(compare(with, machine({})).differences.empty());
  EXPECT_EQ(compare(with, machine({})).one_sided.size(), 1u);
}

TEST(Compare, IdentityVolatileAndInstancesCountOnlyWhenAskedFor) {
  const Snapshot a = machine({{"host.name", Value::scalar("a")},
                              {"host.uptime", Value::number(5)},
                              {"gpu.vbios@3", Value::scalar("92.00.03")},
                              {"env.SLURM_JOB_ID", Value::scalar("1")}});
  const Snapshot b = machine({{"host.name", Value::scalar("b")},
                              {"host.uptime", Value::number(6)},
                              {"gpu.vbios@3", Value::scalar("92.00.05")},
                              {"env.SLURM_JOB_ID", Value::scalar("2")}});
  EXPECT_TRUE(compare(a, b).differences.empty());
  EXPECT_EQ(compare(a, b, {true, {}}).differences.size(), 4u);
}

TEST(Compare, WhatMovesWithAHeadlineIsToldInItsRow) {
  const Snapshot a = machine({{"driver", Value::scalar("535.129.01")},
                              {"driver.libcuda", Value::scalar("535.129.01")},
                              {"cuda.driver_api", Value::scalar("12.1")},
                              {"module.nvidia_uvm.loaded", Value::scalar("535.129.01")},
                              {"module.nvidia_uvm.loaded.srcversion", Value::scalar("AA")}});
  Snapshot b = machine({{"driver", Value::scalar("535.129.03")},
                        {"driver.libcuda", Value::scalar("535.129.03")},
                        {"cuda.driver_api", Value::scalar("12.2")},
                        {"module.nvidia_uvm.loaded", Value::scalar("535.129.03")},
                        {"module.nvidia_uvm.loaded.srcversion", Value::scalar("BB")}});
  EXPECT_EQ(keys(compare(a, b)),
            (std::vector<std::string>{"driver", "+cuda.driver_api", "+driver.libcuda",
                                      "+module.nvidia_uvm.loaded",
                                      "+module.nvidia_uvm.loaded.srcversion"}));
  // With the headline the same, the row stands by itself, and tells what hangs on it.
  b = machine({{"driver", Value::scalar("535.129.01")},
               {"driver.libcuda", Value::scalar("535.129.01")},
               {"cuda.driver_api", Value::scalar("12.1")},
               {"module.nvidia_uvm.loaded", Value::scalar("535.129.03")},
               {"module.nvidia_uvm.loaded.srcversion", Value::scalar("BB")}});
  EXPECT_EQ(keys(compare(a, b)),
            (std::vector<std::string>{"module.nvidia_uvm.loaded",
                                      "+module.nvidia_uvm.loaded.srcversion"}));
  EXPECT_EQ(count(compare(a, b).differences), 2u);
}

TEST(Compare, AnotherBuildOfOneVersionIsSaidSo) {
  const Comparison comparison =
      compare(machine({{"nccl", Value::scalar("2.18.1")}, {"nccl.build_id", Value::scalar("aa")}}),
              machine({{"nccl", Value::scalar("2.18.1")}, {"nccl.build_id", Value::scalar("bb")}}));
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences.front().kind, Kind::rebuilt);
}

TEST(Compare, VersionsOfTwoNumberingsAreNeitherOlderNorNewer) {
  const Comparison comparison = compare(machine({{"driver", Value::scalar("546.80")},
                                                 {"driver.numbering", Value::scalar("windows")}}),
                                        machine({{"driver", Value::scalar("550.90.07")},
                                                 {"driver.numbering", Value::scalar("linux")}}));
  const auto row =
      std::ranges::find(comparison.differences, FactKey{"driver", ""}, &Difference::key);
  ASSERT_NE(row, comparison.differences.end());
  EXPECT_EQ(row->kind, Kind::changed);
}

TEST(Compare, RowsComeByLevelThenLayerThenKey) {
  const Snapshot a = machine({{"cpu.governor", Value::scalar("performance")},
                              {"clocksource", Value::scalar("tsc")},
                              {"driver", Value::scalar("535.129.01")},
                              {"kernel", Value::scalar("5.15.0-91-generic")},
                              {"bios", Value::scalar("F7")}});
  const Snapshot b = machine({{"cpu.governor", Value::scalar("powersave")},
                              {"clocksource", Value::scalar("hpet")},
                              {"driver", Value::scalar("535.129.03")},
                              {"kernel", Value::scalar("5.15.0-92-generic")},
                              {"bios", Value::scalar("F8")}});
  EXPECT_EQ(keys(compare(a, b)),
            (std::vector<std::string>{"kernel", "driver", "bios", "clocksource", "cpu.governor"}));
}

TEST(Compare, AnEqualPrefixUnderAnEqualHeadlineIsTheSame) {
  const Snapshot a = machine(
      {{"kernel", Value::scalar("5.4.0-149-generic")}, {"kernel.upstream", Value::prefix("5.4")}});
  EXPECT_TRUE(compare(a, a).one_sided.empty());
  const Snapshot b = machine(
      {{"kernel", Value::scalar("5.4.0-150-generic")}, {"kernel.upstream", Value::prefix("5.4")}});
  EXPECT_EQ(compare(a, b).one_sided.size(), 1u);
}

TEST(Compare, SwappedSidesSwapDirectionsAndNothingElse) {
  const Snapshot a = machine({{"cuda", Value::scalar("12.1.1")},
                              {"nccl", Value::scalar("2.20.5")},
                              {"env.A_PATH", Absent{}},
                              {"clocksource", Value::scalar("tsc")}},
                             {"env"});
  const Snapshot b = machine({{"cuda", Value::scalar("12.2.2")},
                              {"nccl", Value::scalar("2.18.1")},
                              {"clocksource", Value::scalar("hpet")}},
                             {"env"});
  const Comparison forth = compare(a, b);
  const Comparison back = compare(b, a);
  EXPECT_EQ(keys(forth), keys(back));
  EXPECT_EQ(forth.differences[0].change.direction, version::Direction::newer);
  EXPECT_EQ(back.differences[0].change.direction, version::Direction::older);
}

}  // namespace
}  // namespace goldenv::diff
