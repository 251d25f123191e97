#include "wheel/pip_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;

std::string fault(std::string_view text) {
  const auto settings = parse_pip_settings(text);
  return settings ? "parsed" : settings.error().message;
}

TEST(PipSettings, HaveEveryKey) {
  const auto settings = parse_pip_settings(
      "global.cert='/etc/ca.pem'\nglobal.client-cert='/k.pem'\n"
      "global.extra-index-url='\\nhttps://h/a\\nhttps://h/b'\n"
      "global.find-links='/srv/a /srv/b'\nglobal.index-url='https://h/simple '\n"
      "global.no-index='no'\nglobal.proxy='http://p:3128'\nglobal.retries='7'\n"
      "global.timeout='2.5'\nglobal.trusted-host='h:8443'\nglobal.disable-pip-version-check='1'\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->index_url, "https://h/simple");
  EXPECT_THAT(settings->extra_index_urls, ElementsAre("https://h/a", "https://h/b"));
  EXPECT_THAT(settings->find_links, ElementsAre("/srv/a", "/srv/b"));
  EXPECT_FALSE(settings->no_index);
  EXPECT_EQ(settings->cert, "/etc/ca.pem");
  EXPECT_EQ(settings->client_cert, "/k.pem");
  EXPECT_EQ(settings->proxy, "http://p:3128");
  EXPECT_THAT(settings->trusted_hosts, ElementsAre("h:8443"));
  EXPECT_EQ(settings->timeout_s, 2.5);
  EXPECT_EQ(settings->retries, 7U);
  const auto none = parse_pip_settings("");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, PipSettings{});
}

TEST(PipSettings, TheVariableWinsOverTheCommandOverAll) {
  const auto settings = parse_pip_settings(
      ":env:.index_url='https://h/env'\nglobal.extra-index-url='a b'\nglobal.index-url='g'\n"
      "global.timeout='1'\ninstall.extra-index-url='c'\ninstall.index-url='i'\n"
      "download.timeout='9'\ninstall.proxy=''\nglobal.proxy='p'\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->index_url, "https://h/env");
  EXPECT_THAT(settings->extra_index_urls, ElementsAre("c"));
  EXPECT_EQ(settings->timeout_s, 1);
  EXPECT_EQ(settings->proxy, "p");
}

TEST(PipSettings, StringsAreReadAsPythonWritesThem) {
  const auto cert = [](std::string_view value) {
    const auto settings = parse_pip_settings("global.cert=" + std::string(value) + "\n");
    return settings ? settings->cert : settings.error().message;
  };
  EXPECT_EQ(cert(R"("it's")"), "it's");
  EXPECT_EQ(cert(R"('a\\b\'\"\x41\u00e9\U0001f600\t')"), "a\\b'\"A\xC3\xA9\xF0\x9F\x98\x80\t");
  const std::string bad = "pip config list, line 1: the value of cert is no string of Python";
  for (const std::string_view odd :
       {"x", "'", "'a", "'a'b'", "'\\'", "'\\q'", "'\\x4'", "'\\ud800'", "'\\U00110000'", ""}) {
    EXPECT_EQ(cert(odd), bad) << odd;
  }
}

TEST(PipSettings, RefusalsNameLineAndReason) {
  EXPECT_EQ(fault("\nnonsense\n"),
            "pip config list, line 2: \"nonsense\" is no section.key='value'");
  EXPECT_EQ(fault("global.no-index='maybe'"),
            "pip config list, line 1: no-index is \"maybe\", neither yes nor no");
  EXPECT_EQ(fault("global.timeout='-1'"),
            "pip config list, line 1: timeout is \"-1\", no number of seconds");
  EXPECT_EQ(fault("global.timeout='nan'"),
            "pip config list, line 1: timeout is \"nan\", no number of seconds");
  EXPECT_EQ(fault("global.retries='many'"),
            "pip config list, line 1: retries is \"many\", no number");
}

}  // namespace
}  // namespace goldenv::wheel
