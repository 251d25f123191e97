#include "provision/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::provision {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDigest(64, 'b');

class FindSources : public testing::Test {
 protected:
  FindSources() {
    interpreter_.version = "3.11.7";
    interpreter_.minor = "3.11";
    interpreter_.program = "/nowhere/python3";
    interpreter_.target.minor = 11;
    interpreter_.target.machine = "x86_64";
    temp_.folder("wheels");
    machine_.file("/etc/apt/sources.list", "deb file:/srv/mirror ./\n");
    machine_.file("/var/lib/apt/lists/_srv_mirror_._Packages",
                  "Package: libnccl2\nVersion: 2.19.3-1+cuda12.2\nArchitecture: amd64\n"
                  "Filename: ./libnccl2_2.19.3.deb\nSize: 12\nSHA256: " +
                      kDigest + "\n");
  }

  Found find(const std::string& version, bool offline = false, bool has_machine = true) {
    const recipe::Recipe* const recipe = recipes_.find("nccl");
    const recipe::Values values = {{"version", version},
                                   {"cuda", "12.2"},
                                   {"arch", "x86_64"},
                                   {"python", "3.11.7"},
                                   {"name", "nccl"}};
    const Component component{"nccl", version, {}, recipe, recipe::expand(*recipe, values), {}};
    const auto store = store::Store::open(temp_.at("store"), store::Access::write);
    EXPECT_TRUE(store);
    SourceSearch search{interpreter_, {}, {}, "", has_machine ? &machine_ : nullptr};
    search.packages.no_index = true;
    search.packages.find_links = {temp_.at("wheels")};
    search.search.offline = offline;
    auto found = find_sources({component}, search, *store);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? found->front() : Found{};
  }

  test::TempDir temp_;
  test::FakeHost machine_;
  Interpreter interpreter_;
  recipe::Collection recipes_ = recipe::shipped_collection();
};

TEST_F(FindSources, APackageOfTheDistributionWhereNoIndexHasAWheel) {
  for (const bool again : {false, true}) {  // the second time it is remembered
    const Found found = find("2.19.3", again, !again);
    EXPECT_EQ(found.source, "deb libnccl2");
    ASSERT_EQ(found.requests.size(), 1u) << found.error.message;
    const ObjectRequest& request = found.requests.front();
    EXPECT_EQ(request.kind, "deb");
    EXPECT_EQ(request.name, "nccl");
    EXPECT_EQ(request.version, "2.19.3");
    EXPECT_THAT(request.urls, ElementsAre("file:///srv/mirror/libnccl2_2.19.3.deb"));
    EXPECT_EQ(request.sha256, kDigest);
    EXPECT_EQ(request.size_bytes, 12u);
    EXPECT_EQ(request.place.front(), (recipe::Layout{"usr/lib/x86_64-linux-gnu", "lib"}));
  }
}

TEST_F(FindSources, EverySourceThatDoesNotHaveItIsTold) {
  const Found found = find("2.18.3");
  EXPECT_TRUE(found.requests.empty());
  EXPECT_EQ(found.error.code, Errc::absent);
  EXPECT_THAT(found.error.message,
              AllOf(HasSubstr("no index has a package nvidia-nccl-cu12"),
                    HasSubstr("deb libnccl2: apt's lists have no libnccl2 2.18.3-1+cuda12.2 "
                              "(there is 2.19.3-1+cuda12.2)")));
}

TEST_F(FindSources, WhatCouldNotBeAskedIsNotReplaced) {
  const Found found = find("2.19.3", true);
  EXPECT_TRUE(found.requests.empty());
  EXPECT_THAT(found.error.message, AllOf(HasSubstr("--offline"), HasSubstr("not remembered")));
}

}  // namespace
}  // namespace goldenv::provision
