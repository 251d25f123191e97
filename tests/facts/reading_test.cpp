#include "facts/reading.h"

#include <gtest/gtest.h>

namespace goldenv::facts {
namespace {

TEST(FactKey, LabelRunsToTheEndWhateverItHolds) {
  const FactKey key = FactKey::parse("nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2@old:1");
  EXPECT_EQ(key.name, "nccl");
  EXPECT_EQ(key.label, "/usr/lib/x86_64-linux-gnu/libnccl.so.2@old:1");
  EXPECT_EQ(FactKey::parse(key.text()), key);
}

TEST(FactKey, ReadsWhatItWrites) {
  for (const char* text : {"driver", "gpu.vbios@3", "env.X@user-unit:jupyter", "file@/a b"}) {
    EXPECT_EQ(FactKey::parse(text).text(), text);
  }
}

TEST(Unknown, TakesItsReasonFromTheError) {
  EXPECT_EQ(Unknown::from({Errc::denied, "no", {}}).why, Why::denied);
  EXPECT_EQ(Unknown::from({Errc::timed_out, "", {}}).why, Why::timed_out);
  EXPECT_EQ(Unknown::from({Errc::not_live, "", {}}).why, Why::not_live);
  EXPECT_EQ(Unknown::from({Errc::not_collected, "", {}}).why, Why::not_collected);
  EXPECT_EQ(Unknown::from({Errc::too_large, "", {}}).why, Why::unreadable);
  EXPECT_EQ(Unknown::from({Errc::malformed, "", {}}).why, Why::unreadable);
}

TEST(Unread, OnlyAMissingFileIsAbsent) {
  EXPECT_TRUE(std::holds_alternative<Absent>(unread({Errc::absent, "", {}})));
  for (const Errc code : {Errc::denied, Errc::unreadable, Errc::timed_out, Errc::too_large,
                          Errc::not_live, Errc::not_collected, Errc::malformed, Errc::failed}) {
    EXPECT_TRUE(std::holds_alternative<Unknown>(unread({code, "", {}})));
  }
}

TEST(Why, NamesAreReadBack) {
  for (int i = 0; i <= static_cast<int>(Why::unsupported); ++i) {
    const Why why = static_cast<Why>(i);
    const Result<Why> read = parse_why(name(why));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, why);
  }
  EXPECT_FALSE(parse_why("broken"));
}

TEST(Value, SetsAndTalliesAreSortedWithoutDoubles) {
  EXPECT_EQ(Value::set({"b", "a", "b"}).items, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Value::list({"b", "a", "b"}).items, (std::vector<std::string>{"b", "a", "b"}));
  EXPECT_EQ(Value::tally({{"z", "1"}, {"a", "7"}}).entries.front().first, "a");
}

TEST(Describe, SaysEveryState) {
  EXPECT_EQ(describe(Value::scalar("535.129.03")), "535.129.03");
  EXPECT_EQ(describe(Value::prefix("570.124")), "570.124...");
  EXPECT_EQ(describe(Value::one_of({"12.8.2", "12.8.1"})), "12.8.1 or 12.8.2");
  EXPECT_EQ(describe(Value::tally({{"a", "7"}, {"b", "1"}})), "a x 7, b x 1");
  EXPECT_EQ(describe(Value::list({})), "(empty list)");
  EXPECT_EQ(describe(Absent{"not loaded"}), "absent (not loaded)");
  EXPECT_EQ(describe(Unknown{Why::denied, "", "root"}), "unknown (denied, needs root)");
}

}  // namespace
}  // namespace goldenv::facts
