#include "offer/offer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "support/fake_host.h"
#include "support/made_image.h"

namespace goldenv::offer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using version::Scheme;

const recipe::Recipe& shipped(std::string_view key) {
  static const recipe::Collection collection = recipe::shipped_collection();
  return *collection.find(key);
}

std::vector<std::string> texts(const std::vector<Version>& versions) {
  std::vector<std::string> all;
  for (const Version& version : versions) {
    all.push_back(version.text);
  }
  return all;
}

std::string stanza(const std::string& name, const std::string& version) {
  return "Package: " + name + "\nSource: x\nArchitecture: amd64\nVersion: " + version +
         "\nDescription: of it\n\n";
}

constexpr const char* kLists = "/var/lib/apt/lists/";

TEST(FromTables, GivesReleasesWithDates) {
  const Offers nccl = from_tables("nccl");
  ASSERT_GT(nccl.offers.size(), 60u);
  EXPECT_EQ(nccl.offers.front().origin, "table");
  EXPECT_EQ(nccl.offers.front().version, "2.3.5");
  EXPECT_EQ(nccl.offers.front().date, "2018-09-25");
  EXPECT_THAT(from_tables("gcc").offers, IsEmpty());
}

TEST(FromDistribution, FindsKernelsByTheirPackages) {
  test::FakeHost host;
  host.file(std::string(kLists) + "deb.example_debian_dists_stable_main_binary-amd64_Packages",
            stanza("linux-image-5.4.0-216-generic", "5.4.0-216.236") +
                stanza("linux-image-5.4.0-90-generic", "5.4.0-90.101") +
                stanza("linux-image-5.4.0-216-generic-dbgsym", "5.4.0-216.236") +
                stanza("linux-image-6.1.0-42-amd64-unsigned", "6.1.1-1") +
                stanza("linux-image-generic", "5.4.0.216.212") +
                stanza("linux-headers-6.9.0", "6.9.0") + stanza("vim", "2:9.0-1"));
  const Offers found = from_distribution(host, shipped("kernel"));
  EXPECT_THAT(found.unread, IsEmpty());
  EXPECT_THAT(texts(merge(found.offers, Scheme::kernel)),
              ElementsAre("5.4.0-216-generic", "5.4.0-90-generic"));
  EXPECT_EQ(found.offers.front().detail, "linux-image-5.4.0-216-generic 5.4.0-216.236");
}

TEST(FromDistribution, FindsLibrariesByTheNumberOfTheirPackage) {
  test::FakeHost host;
  const std::string text =
      stanza("libnccl2", "2.18.3-1+cuda12.1") + stanza("libnccl2", "2.19.3-1+cuda12.2") +
      stanza("libnccl2", "2.18.3-1+cuda12.1") + stanza("libnccl2", "2.20.5-1") +
      stanza("libnccl2-x", "2.21.5-1+cuda1.1");
  host.file(std::string(kLists) + "a_Packages.gz", test::gzip(text));
  const Offers found = from_distribution(host, shipped("nccl"));
  EXPECT_THAT(texts(merge(found.offers, Scheme::dotted)), ElementsAre("2.19.3", "2.18.3"));
  EXPECT_EQ(found.offers.size(), 2u) << "the same package once";
}

TEST(FromDistribution, PartsInANameAgreeWithTheVersion) {
  test::FakeHost host;
  host.file(std::string(kLists) + "a_Packages",
            stanza("nvidia-driver-535", "535.129.03-0ubuntu1") +
                stanza("nvidia-driver-535", "2:535.183.01-1") +
                // A package that only leads to another branch.
                stanza("nvidia-driver-530", "535.129.03-0ubuntu1") +
                stanza("nvidia-driver-535-server", "535.230.02-0ubuntu1") +
                stanza("nvidia-driver", "550.163.01-2~deb12u1"));
  EXPECT_THAT(texts(merge(from_distribution(host, shipped("driver")).offers, Scheme::dotted)),
              ElementsAre("550.163.01", "535.183.01", "535.129.03"));
}

TEST(FromDistribution, WhatCannotBeReadIsSaid) {
  test::FakeHost host;
  host.file(std::string(kLists) + "a_Packages.lz4", "x");
  host.file(std::string(kLists) + "b_Packages.gz", "\x1f\x8b garbage");
  host.file(std::string(kLists) + "c_InRelease", "x");
  const Offers found = from_distribution(host, shipped("kernel"));
  EXPECT_THAT(found.offers, IsEmpty());
  ASSERT_EQ(found.unread.size(), 2u);
  EXPECT_THAT(found.unread[0], HasSubstr("b_Packages.gz"));
  EXPECT_THAT(found.unread[1],
              HasSubstr("/var/lib/apt/lists: 1 in the form .lz4, which goldenv does not read"));
  test::FakeHost denied;
  denied.deny("/var/lib/apt/lists");
  EXPECT_EQ(from_distribution(denied, shipped("kernel")).unread.size(), 1u);
  test::FakeHost none;
  EXPECT_EQ(from_distribution(none, shipped("kernel")), Offers{}) << "a machine without apt";
  none.file("/var/lib/dpkg/status", "");
  EXPECT_THAT(from_distribution(none, shipped("kernel")).unread,
              ElementsAre("/var/lib/apt/lists: no lists; apt-get update fetches what the "
                          "distribution offers"));
  EXPECT_EQ(from_distribution(host, shipped("torch")), Offers{}) << "no package is for it";
}

TEST(FromDistribution, OddTextsAreNoPackages) {
  test::FakeHost host;
  host.file(std::string(kLists) + "a_Packages",
            "Package: linux-image-\nVersion: 1\n\nPackage:\nVersion: 2\n\n"
            "Version: 3\nPackage: linux-image-1.2.3-x\n\nPackage: linux-image-4.5.6-y\r\nVersion: "
            "9\r\n" +
                std::string(200'000, 'a') + "\nPackage: linux-image-7.8.9-z\nVersion: 1");
  EXPECT_THAT(texts(merge(from_distribution(host, shipped("kernel")).offers, Scheme::kernel)),
              ElementsAre("7.8.9-z", "4.5.6-y"));
}

TEST(FromSnapshot, GivesValuesInstancesAndCopies) {
  const auto fact = [](const std::string& key, facts::Reading reading) {
    return facts::Fact{facts::FactKey::parse(key), std::move(reading), {}};
  };
  const facts::Snapshot snapshot = facts::make_snapshot(
      "x", {},
      {fact("nccl", facts::Value::scalar("2.19.3")),
       fact("nccl@/usr/lib/libnccl.so.2", facts::Value::scalar("2.18.1")),
       fact("nccl.copies", facts::Value::map({{"2.18.1", "1"}, {"2.19.3", "2"}})),
       fact("python.package.nvidia-nccl-cu12",
            facts::Unknown{facts::Why::denied, "no right to look", ""}),
       fact("cudnn", facts::Value::scalar("8.9.2.26")),
       fact("kernel", facts::Value::scalar("5.4.0-90-generic")),
       fact("kernel.installed", facts::Value::set({"5.4.0-216-generic", "5.4.0-90-generic"}))});
  const std::vector<std::string> nccl = {"nccl", "python.package.nvidia-nccl-cu12"};
  const Offers found = from_snapshot(snapshot, nccl);
  EXPECT_THAT(texts(merge(found.offers, Scheme::dotted)), ElementsAre("2.19.3", "2.18.1"));
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_THAT(found.unread.front(), HasSubstr("python.package.nvidia-nccl-cu12: "));
  const std::vector<std::string> kernel = {"kernel"};
  EXPECT_THAT(texts(merge(from_snapshot(snapshot, kernel).offers, Scheme::kernel)),
              ElementsAre("5.4.0-216-generic", "5.4.0-90-generic"));
  EXPECT_THAT(keys_to_look_at(kernel), ElementsAre("kernel", "kernel.installed"));
}

TEST(Merge, OrdersByTheSchemeAndKeepsOddOnesLast) {
  const std::vector<Offer> offers = {{"2.9.6", "table", "", ""},
                                     {"2.10.3", "table", "", "2021-07-08"},
                                     {"odd one", "index", "", ""},
                                     {"2.10.3", "installed", "nccl", ""},
                                     {"2.10.3", "installed", "nccl", ""}};
  const std::vector<Version> merged = merge(offers, Scheme::dotted);
  EXPECT_THAT(texts(merged), ElementsAre("2.10.3", "2.9.6", "odd one"));
  EXPECT_EQ(merged.front().offers.size(), 2u);
  EXPECT_THAT(texts(merge(offers, Scheme::dotted, *parse_interval("2.10..", Scheme::dotted))),
              ElementsAre("2.10.3"));
  EXPECT_THAT(texts(merge(offers, Scheme::dotted, *parse_interval("..2.9.6", Scheme::dotted))),
              ElementsAre("2.9.6"));
  EXPECT_THAT(merge({}, Scheme::dotted), IsEmpty());
}

TEST(Interval, IsTwoVersionsInOrder) {
  EXPECT_TRUE(parse_interval("2.18.1..2.20.5", Scheme::dotted));
  EXPECT_TRUE(parse_interval("..", Scheme::dotted));
  EXPECT_TRUE(parse_interval("5.4.0-90-generic..5.4.0-216-generic", Scheme::kernel));
  for (const char* text : {"", "2.18", "a..b", "2.20..2.18", "1...2"}) {
    const Result<Interval> interval = parse_interval(text, Scheme::dotted);
    ASSERT_FALSE(interval) << text;
    EXPECT_EQ(interval.error().code, Errc::usage);
    EXPECT_THAT(interval.error().message, HasSubstr("--between"));
  }
}

}  // namespace
}  // namespace goldenv::offer
