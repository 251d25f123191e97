#include "probe/presence.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace goldenv::probe {
namespace {

using test::FakeHost;

TEST(Presence, OnlyWhatIsLookedForAndNotThereIsNotThere) {
  FakeHost host;
  host.file("/a", "").link("/dangling", "/gone").deny("/shut").fail("/dead", Errc::timed_out);
  EXPECT_EQ(is_there(host, "/a").value_or(false), true);
  EXPECT_EQ(is_there(host, "/gone").value_or(true), false);
  EXPECT_EQ(is_there(host, "/dangling").value_or(true), false);
  ASSERT_FALSE(is_there(host, "/shut/x"));
  EXPECT_EQ(is_there(host, "/shut/x").error().code, Errc::denied);
  ASSERT_FALSE(is_there(host, "/dead"));
  EXPECT_EQ(is_there(host, "/dead").error().code, Errc::timed_out);
}

TEST(Presence, WhatASourceDoesNotHaveAtAllLeavesNothingOpen) {
  for (const Errc code : {Errc::denied, Errc::timed_out, Errc::unreadable, Errc::too_large}) {
    EXPECT_TRUE(leaves_open({code, "", {}}));
  }
  for (const Errc code : {Errc::absent, Errc::not_live, Errc::not_collected}) {
    EXPECT_FALSE(leaves_open({code, "", {}}));
  }
}

TEST(Presence, MountsAreKnownUnlessTheirTableIsHidden) {
  FakeHost none;
  EXPECT_TRUE(mounts_known(none));
  FakeHost hidden;
  hidden.deny("/proc/self/mountinfo");
  ASSERT_FALSE(mounts_known(hidden));
  EXPECT_EQ(mounts_known(hidden).error().code, Errc::denied);
}

TEST(Presence, AFailedLookIsKeptBesideWhatWasFound) {
  FakeHost host;
  host.file("/folder/a", "text").deny("/shut");
  std::vector<Error> unseen;
  EXPECT_EQ(entries_or_none(host, "/folder", unseen).size(), 1u);
  EXPECT_EQ(text_or_none(host, "/folder/a", unseen), "text");
  EXPECT_TRUE(entries_or_none(host, "/gone", unseen).empty());
  EXPECT_TRUE(unseen.empty());
  EXPECT_TRUE(entries_or_none(host, "/shut", unseen).empty());
  EXPECT_EQ(text_or_none(host, "/shut", unseen), "");
  EXPECT_EQ(unseen.size(), 2u);
}

}  // namespace
}  // namespace goldenv::probe
