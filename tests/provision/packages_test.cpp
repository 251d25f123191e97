#include "provision/packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace goldenv::provision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::string> no_default() { return Error{Errc::usage, "asked for the default", {}}; }

TEST(MergePackages, WhatPipIsSetToIsTaken) {
  wheel::PipSettings settings;
  settings.index_url = "https://index.example/simple";
  settings.extra_index_urls = {"https://more.example/simple"};
  settings.find_links = {"/opt/wheels"};
  settings.proxy = "http://proxy.example:3128";
  settings.cert = "/etc/ssl/ca.pem";
  settings.timeout_s = 180;
  settings.retries = 2;
  const auto packages = merge_packages({}, settings, no_default);
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(packages->indexes,
              ElementsAre("https://index.example/simple", "https://more.example/simple"));
  EXPECT_THAT(packages->find_links, ElementsAre("/opt/wheels"));
  EXPECT_EQ(packages->from, "pip's configuration");
  EXPECT_EQ(packages->network.proxy, "http://proxy.example:3128");
  EXPECT_EQ(packages->network.cert, "/etc/ssl/ca.pem");
  EXPECT_EQ(packages->network.timeout_s, 180u);
  EXPECT_EQ(packages->network.retries, 2u);
}

TEST(MergePackages, OptionsStandInThePlaceOfPips) {
  wheel::PipSettings settings;
  settings.index_url = "https://index.example/simple";
  settings.extra_index_urls = {"https://more.example/simple"};
  settings.no_index = true;
  settings.find_links = {"/opt/wheels"};
  PackageOptions options;
  options.index = "https://mine.example/simple";
  options.extra_indexes = {"https://cu121.example"};
  const auto packages = merge_packages(options, settings, no_default);
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(packages->indexes,
              ElementsAre("https://mine.example/simple", "https://cu121.example"));
  EXPECT_EQ(packages->from, "--index");
  EXPECT_TRUE(packages->find_links.empty());
  options.no_index = true;
  EXPECT_EQ(merge_packages(options, settings, no_default).error().message,
            "--no-index and an index: one of them");
}

TEST(MergePackages, CredentialsOfAnIndexAreKeptForItsOrigin) {
  PackageOptions options;
  options.index = "https://bob:pw@index.example:8443/simple";
  options.find_links = {"https://links.example/", "/srv/wheels"};
  const auto packages = merge_packages(options, {}, no_default);
  ASSERT_TRUE(packages) << packages.error().message;
  EXPECT_THAT(packages->network.credentials,
              ElementsAre("https://bob:pw@index.example:8443/simple"));
}

TEST(MergePackages, PipsDefaultIsAskedForOnlyWhereNothingIsNamed) {
  const auto packages = merge_packages(
      {}, {}, [] { return Result<std::string>(std::string("https://default.example/simple")); });
  ASSERT_TRUE(packages);
  EXPECT_THAT(packages->indexes, ElementsAre("https://default.example/simple"));
  EXPECT_EQ(packages->from, "pip's default");
  EXPECT_EQ(merge_packages({}, {}, no_default).error().message, "asked for the default");
}

TEST(MergePackages, WithoutIndexThereMustBeLinks) {
  PackageOptions options;
  options.no_index = true;
  EXPECT_EQ(merge_packages(options, {}, no_default).error().message,
            "no index is to be asked, and no --find-links is named");
  options.find_links = {"/opt/wheels"};
  const auto packages = merge_packages(options, {}, no_default);
  ASSERT_TRUE(packages);
  EXPECT_TRUE(packages->indexes.empty());
}

TEST(MergePackages, AnIndexThatAnybodyCouldForgeIsRefused) {
  PackageOptions options;
  options.index = "http://user:secret@index.example:8080/simple";
  const auto refused = merge_packages(options, {}, no_default);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("the index on index.example is read by http"));
  EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("secret")));
  wheel::PipSettings settings;
  settings.trusted_hosts = {"index.example"};
  EXPECT_TRUE(merge_packages(options, settings, no_default));
  for (const std::string here : {"http://127.0.0.1:8000/simple", "http://localhost/simple",
                                 "http://[::1]:1/simple", "file:///srv/simple"}) {
    options.index = here;
    EXPECT_TRUE(merge_packages(options, {}, no_default)) << here;
  }
  for (const std::string elsewhere :
       {"ftp://index.example/simple", "http://127.evil.example/simple",
        "http://0.0.0.0:1/simple"}) {
    options.index = elsewhere;
    EXPECT_FALSE(merge_packages(options, {}, no_default)) << elsewhere;
  }
  options.index = "https://index.example/simple";
  options.find_links = {"http://0.0.0.0:8811/alpha/"};
  EXPECT_FALSE(merge_packages(options, {}, no_default));
}

}  // namespace
}  // namespace goldenv::provision
