#include "doc/bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace goldenv::doc {
namespace {

Node tree_of(const std::string& text) {
  return Node::mapping(
      {{"value", {}, Node::scalar(text, true)},
       {"facts",
        {},
        Node::mapping({{"file@/" + text,
                        {},
                        Node::sequence({Node::scalar(text, true), Node::scalar("a")})}})}});
}

std::vector<std::string> texts() {
  std::vector<std::string> all = {
      "caf\xE9", "\xFF", "\x80", "\xC3", "\xC3\xA9", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80",
      "a\xC0\x80"
      "b",
      "\xEF\xBF\xBD", "\xEF\xBF\xBD\xFF", "\\xff", "\\U0010FEFF", "\\udbff\\udeff",
      // U+10FE80, U+10FEFF, and their neighbours; cut short, too.
      "\xF4\x8F\xBA\x80", "\xF4\x8F\xBB\xBF", "\xF4\x8F\xB9\xBF", "\xF4\x8F\xBC\x80",
      "\xF4\x8F\xBB", "\xF4\x8F\xBA\x80\xF4\x8F\xBA\x80", "\xFF: #", "- \xFE",
      std::string("nul\0\xFD", 5), "\xFC\n\xFB"};
  std::minstd_rand random(7);
  constexpr std::string_view kSome = "a\\U\"\xC3\xA9\xE2\x82\xAC\xF4\x8F\xBA\xBB\xFF\x80\xED";
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (auto n = random() % 9; n > 0; --n) {
      text += kSome[random() % kSome.size()];
    }
    all.push_back(text);
  }
  return all;
}

TEST(Bytes, EveryTextComesBackFromYamlAndJson) {
  for (const std::string& text : texts()) {
    const Node tree = tree_of(text);
    for (const bool option : {false, true}) {
      const std::string yaml = render_yaml(tree, option);
      const auto from_yaml = parse(yaml, Format::yaml, "y");
      ASSERT_TRUE(from_yaml) << from_yaml.error().message << "\n" << yaml;
      EXPECT_TRUE(same(tree, *from_yaml)) << yaml;
      const std::string json = render_json(tree, option);
      const auto from_json = parse(json, Format::json, "j");
      ASSERT_TRUE(from_json) << from_json.error().message << "\n" << json;
      EXPECT_TRUE(same(tree, *from_json)) << json;
    }
  }
}

TEST(Bytes, NoTwoTextsAreWrittenAlike) {
  std::set<std::string> all;
  std::set<std::string> yaml;
  std::set<std::string> json;
  for (const std::string& text : texts()) {
    all.insert(text);
    yaml.insert(quote_yaml(text));
    json.insert(quote_json(text));
  }
  EXPECT_EQ(yaml.size(), all.size());
  EXPECT_EQ(json.size(), all.size());
}

TEST(Bytes, AreVisibleEscapesOfValidUtf8) {
  EXPECT_EQ(quote_yaml("caf\xE9"), R"("caf\U0010FEE9")");
  EXPECT_EQ(quote_json("caf\xE9"), R"("caf\udbff\udee9")");
  // A true character of that range is its bytes.
  EXPECT_EQ(quote_yaml("\xF4\x8F\xBA\x80"), R"("\U0010FEF4\U0010FE8F\U0010FEBA\U0010FE80")");
}

TEST(Bytes, RawCharactersAndOtherSpellingsAreReadAsWell) {
  for (const char* text :
       {"v: \xF4\x8F\xBB\xA9", "v: \"\xF4\x8F\xBB\xA9\"", "v: \"\\U0010fEe9\""}) {
    const auto node = parse(text, Format::yaml, "y");
    ASSERT_TRUE(node) << text;
    EXPECT_EQ(node->find("v")->text, "\xE9") << text;
  }
  const auto json = parse(R"({"v": "\uDBFF\uDEE9"})", Format::json, "j");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("v")->text, "\xE9");
}

TEST(Bytes, ThatSpellUtf8AreAnErrorWithItsPlace) {
  const auto value = parse("a: 1\nv: \"\\U0010FEC3\\U0010FEA9\"\n", Format::yaml, "m.yaml");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Errc::malformed);
  EXPECT_EQ(value.error().message,
            "m.yaml:2:4: characters that stand for bytes (U+10FE80 to U+10FEFF) spell UTF-8 here; "
            "expected the text itself");
  const auto key = parse(R"({"\udbff\udec3\udbff\udea9": 1, "é": 2})", Format::json, "m.json");
  ASSERT_FALSE(key);
  EXPECT_TRUE(key.error().message.starts_with("m.json:1:2: characters that stand for bytes"));
}

}  // namespace
}  // namespace goldenv::doc
