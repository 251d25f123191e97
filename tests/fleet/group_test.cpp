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

}  // namespace
}  // namespace goldenv::fleet
