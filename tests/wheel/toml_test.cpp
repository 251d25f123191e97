#include "wheel/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace goldenv::wheel {
namespace {

using testing::HasSubstr;

std::string fault(std::string_view text) {
  const auto node = parse_toml(text, "a.toml");
  return node ? "parsed" : node.error().message;
}

TEST(Toml, BecomesATree) {
  const auto node = parse_toml(
      "b = 'text' # c\na.x = [1, -2]\nf = 1.5\nt = true\nd = 2024-02-05T23:51:50Z\n"
      "[[p]]\nn = \"1\\u00e9\"\n[[p]]\nn = \"\"\"\n2\"\"\"\n",
      "a.toml");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(doc::render_json(*node, false),
            R"({"a": {"x": [1, -2]}, "b": "text", "d": "2024-02-05T23:51:50Z", "f": 1.5, )"
            R"("p": [{"n": "1é"}, {"n": "2"}], "t": true})");
  EXPECT_EQ(node->find("p")->items[1].mark.line, 8U);
}

TEST(Toml, FaultsNameTheirPlace) {
  EXPECT_THAT(fault("a = 1\na = 2\n"), HasSubstr("a.toml:2:"));
  EXPECT_THAT(fault("a = '\xFF'"), HasSubstr("a.toml:1:"));
  EXPECT_THAT(fault("a = \"x"), HasSubstr("a.toml:1:"));
  EXPECT_THAT(
      fault("a = 1\n[.a]"),
      HasSubstr("a.toml:2:2: Error while parsing key: expected bare key starting character"));
  EXPECT_THAT(fault(std::string(100, '[')), HasSubstr("a.toml:1:3: Error while parsing key"));
}

TEST(Toml, DepthAndSizeAreBounded) {
  std::string deep = "a";
  for (int i = 0; i < 200'000; ++i) deep += ".a";
  EXPECT_EQ(fault("x = 1\n[" + deep + "]"), "a.toml:2:1: a key with more than 32 parts");
  EXPECT_EQ(fault("b = { " + deep + " = 1 }"), "a.toml:1:1: a key with more than 32 parts");
  EXPECT_EQ(fault("b = \"" + deep + "\" # " + deep + "\n"), "parsed");
  EXPECT_EQ(fault("b = '''\n" + deep + "'''\n[" + deep + "]"),
            "a.toml:3:1: a key with more than 32 parts");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += '[';
  EXPECT_THAT(fault("a = " + nested), HasSubstr("a.toml:1:"));
  const auto large = parse_toml(std::string(100, '\n'), "a.toml", {.bytes = 99});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "a.toml: more than 99 bytes");
  const auto many = parse_toml("a = [1, 2, 3]", "a.toml", {.nodes = 3});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, Errc::too_large);
}

}  // namespace
}  // namespace goldenv::wheel
