#include "fleet/group.h"

#include <gtest/gtest.h>

namespace goldenv::fleet {
namespace {

using facts::Fact;
using facts::Snapshot;
using facts::Value;

Snapshot node(std::string driver, std::string memory, std::string name) {
  std::vector<Fact> facts;
  facts.push_back({{"driver", ""}, Value::scalar(std::move(driver)), {}});
  facts.push_back({{"memory.total", ""}, Value::scalar(std::move(memory)), {}});
  facts.push_back({{"host.name", ""}, Value::scalar(std::move(name)), {}});
  return facts::make_snapshot("s", {}, std::move(facts));
}

TEST(Group, EqualMachinesAreOneGroupWhateverTheirNamesAndPages) {
  const std::vector<Group> groups =
      group({node("535.129.03", "1000000000", "a"), node("535.129.03", "1000100000", "b"),
             node("535.129.01", "1000000000", "c"), node("535.129.03", "2000000000", "d")});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].members, (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(groups[0].against_largest.differences.empty());
  ASSERT_EQ(groups[1].against_largest.differences.size(), 1u);
  EXPECT_EQ(groups[1].against_largest.differences[0].key.text(), "driver");
  EXPECT_EQ(groups[2].against_largest.differences[0].key.text(), "memory.total");
}

TEST(Group, NothingGivesNoGroup) { EXPECT_TRUE(group({}).empty()); }

/// How many differences the groups show, whatever the order of the machines.
std::size_t differences(std::vector<facts::Snapshot> machines) {
  std::size_t shown = 0;
  for (const Group& one : group(machines)) {
    shown += one.against_largest.differences.size();
  }
  return shown;
}

TEST(Group, WhatTheLargestCannotTellIsStillComparedBetweenTheOthers) {
  const auto machine = [](facts::Reading driver) {
    return facts::make_snapshot("m", {}, {{{"driver", ""}, std::move(driver), {}}});
  };
  const auto blind = machine(facts::Unknown{facts::Why::denied, "", "root"});
  const auto one = machine(facts::Value::scalar("535.129.01"));
  const auto other = machine(facts::Value::scalar("535.129.03"));
  EXPECT_EQ(differences({blind, one, other}), 1U);
  EXPECT_EQ(differences({blind, blind, one, other}), 1U);
  EXPECT_EQ(differences({one, blind, other}), 1U);
  EXPECT_EQ(differences({blind, one, one}), 0U);
  EXPECT_EQ(differences({blind, blind, one}), 0U);
}

TEST(Group, NearToOneInTheMiddleIsNotNearToEachOther) {
  const auto machine = [](std::string bytes) {
    return facts::make_snapshot(
        "m", {}, {{{"memory.total", ""}, facts::Value::scalar(std::move(bytes)), {}}});
  };
  const auto least = machine("1015000000000");
  const auto middle = machine("1030000000000");
  const auto most = machine("1045000000000");
  EXPECT_EQ(differences({least, most}), diff::compare(least, most).differences.size());
  EXPECT_EQ(diff::compare(least, middle).differences.size(), 0U);
  EXPECT_EQ(diff::compare(least, most).differences.size(), 1U);
  EXPECT_EQ(differences({least, middle, most}), 1U);
  EXPECT_EQ(differences({middle, least, most}), 1U);
  EXPECT_EQ(differences({most, middle, least}), 1U);
  EXPECT_EQ(differences({middle, middle, middle}), 0U);
}

}  // namespace
}  // namespace goldenv::fleet
