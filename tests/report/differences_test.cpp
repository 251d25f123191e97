#include "report/differences.h"

#include <gtest/gtest.h>

namespace goldenv::report {
namespace {

using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Snapshot;
using facts::Unknown;
using facts::Value;

Snapshot machine(std::vector<std::pair<std::string, Reading>> readings) {
  std::vector<Fact> facts;
  for (auto& [key, reading] : readings) {
    facts.push_back({FactKey::parse(key), std::move(reading), {}});
  }
  return facts::make_snapshot("m", {}, std::move(facts));
}

TEST(ComparisonText, EachFindingIsOneLineThatStandsAlone) {
  const auto comparison =
      diff::compare(machine({{"driver", Value::scalar("535.129.01")},
                             {"driver.libcuda", Value::scalar("535.129.01")},
                             {"sysctl.kernel.watchdog_thresh", Value::scalar("60")},
                             {"clocksource", Value::scalar("tsc")},
                             {"torch", Unknown{}}}),
                    machine({{"driver", Value::scalar("535.129.03")},
                             {"driver.libcuda", Value::scalar("535.129.03")},
                             {"sysctl.kernel.watchdog_thresh", Value::scalar("30")},
                             {"clocksource", Value::scalar("tsc")},
                             {"torch", Value::scalar("2.1.2")}}));
  EXPECT_EQ(
      comparison_text(comparison, {"node16", "a.yaml"}, {"node17", "b.yaml"}, Colour::none),
      "node16 (a.yaml) -> node17 (b.yaml): 2 differences (1 more told with them)\n"
      "must    driver  driver                         535.129.01 -> 535.129.03  patch, newer\n"
      "          with it: driver.libcuda 535.129.01 -> 535.129.03\n"
      "should  tuning  sysctl.kernel.watchdog_thresh  60 -> 30                  changed\n"
      "not comparable, known on one side or in part only: 1\n"
      "next: goldenv explain driver b.yaml\n");
}

TEST(ComparisonText, NoDifferenceIsSaidInOneLine) {
  const Snapshot same = machine({{"driver", Value::scalar("535.129.01")}});
  EXPECT_EQ(comparison_text(diff::compare(same, same), {"a", "a"}, {"b", "b"}, Colour::none),
            "a -> b: no differences in 1 fact\n");
}

TEST(Headlines, OfALongNameTheBeginningIsRepeated) {
  const std::string name(5'000'000, 'n');
  const std::string cut = std::string(200, 'n') + "...";
  const Snapshot same = machine({{"driver", Value::scalar("535.129.01")}});
  EXPECT_EQ(comparison_text(diff::compare(same, same), {name, name}, {"b", "b"}, Colour::none),
            cut + " -> b: no differences in 1 fact\n");
  EXPECT_EQ(check_text(diff::Check{}, {name, name}, "m.yaml", name, Colour::none),
            cut + " matches m.yaml (" + cut + ") (0 pins)\n");
}

TEST(CheckText, ItIsSaidWhereASecretKeepsAPinOpen) {
  const facts::Entry* entry = facts::entry_of("env.NCCL_DEBUG");
  diff::Check check;
  check.pins = 1;
  check.undecided.push_back({{"env.NCCL_DEBUG", ""},
                             entry,
                             facts::Level::should,
                             {},
                             Value::scalar("token=***"),
                             "token=***"});
  EXPECT_NE(check_text(check, {"m", "m"}, "m.yaml", "", Colour::none)
                .find("found token=*** (a secret in it is not compared)"),
            std::string::npos);
}

TEST(Sides, OfListsOnlyWhatDiffersIsShown) {
  const auto comparison = diff::compare(
      machine({{"kernel.cmdline", Value::list({"root=/a", "quiet", "iommu=pt"})}}),
      machine({{"kernel.cmdline", Value::list({"root=/b", "quiet", "iommu=off", "nosmt"})}}));
  ASSERT_EQ(comparison.differences.size(), 1u);
  const Sides both = sides(comparison.differences.front());
  EXPECT_EQ(both.a, "iommu=pt");
  EXPECT_EQ(both.b, "iommu=off, nosmt (1 equal not shown)");
}

TEST(Sides, HostileTextIsEscaped) {
  const auto comparison = diff::compare(machine({{"clocksource", Value::scalar("\x1b[2Jtsc")}}),
                                        machine({{"clocksource", Value::scalar("hpet")}}));
  EXPECT_EQ(sides(comparison.differences.front()).a, "\\x1b[2Jtsc");
}

TEST(ComparisonNode, IsTheSameWhateverTheForm) {
  const auto comparison = diff::compare(machine({{"nccl", Value::scalar("2.18.1")}}),
                                        machine({{"nccl", Value::scalar("2.20.5")}}));
  const doc::Node node = comparison_node(comparison, {"a", "a.yaml"}, {"b", "b.yaml"});
  EXPECT_EQ(node.find("schema_version")->text, "0");
  EXPECT_EQ(node.find("count")->text, "1");
  const doc::Node& row = node.find("differences")->items.front();
  EXPECT_EQ(row.find("key")->text, "nccl");
  EXPECT_EQ(row.find("part")->text, "minor");
  EXPECT_EQ(row.find("direction")->text, "newer");
  EXPECT_EQ(row.find("a")->find("value")->text, "2.18.1");
}

TEST(GroupsText, NamesTheOddOneAndWhatSetsItApart) {
  const Snapshot usual = machine({{"driver", Value::scalar("535.129.03")}});
  const Snapshot odd = machine({{"driver", Value::scalar("535.129.01")}});
  const std::vector<Snapshot> all = {usual, odd, usual};
  const std::string text =
      groups_text(fleet::group(all), {{"n1", "1"}, {"n2", "2"}, {"n3", "3"}}, Colour::none);
  EXPECT_EQ(text,
            "2 groups among 3 machines\n"
            "group 1, 2 machines: n1, n3\n"
            "group 2, 1 machine: n2\n"
            "  group 1 -> group 2: 1 difference\n"
            "must  driver  driver  535.129.03 -> 535.129.01  patch, older\n");
}

}  // namespace
}  // namespace goldenv::report
