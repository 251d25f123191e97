#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "doc/node.h"

namespace goldenv::doc {
namespace {

Node read(std::string_view text) {
  auto node = parse(text, Format::json, "s.json");
  EXPECT_TRUE(node) << (node ? "" : node.error().message);
  return node ? *std::move(node) : Node{};
}

std::string refusal(std::string_view text) {
  const auto node = parse(text, Format::json, "s.json");
  EXPECT_FALSE(node) << render_json(*node);
  return node ? std::string() : node.error().message;
}

TEST(JsonReader, NumbersKeepTheirTextAndStringsAreQuoted) {
  const Node node =
      read(R"({"a": 12.10, "b": "12.10", "c": -0, "d": 1E+5, "e": 18446744073709551616,
                             "f": true, "g": null, "h": []})");
  EXPECT_EQ(node.find("a")->text, "12.10");
  EXPECT_FALSE(node.find("a")->quoted);
  EXPECT_EQ(node.find("b")->text, "12.10");
  EXPECT_TRUE(node.find("b")->quoted);
  EXPECT_EQ(node.find("c")->text, "-0");
  EXPECT_EQ(node.find("d")->text, "1E+5");
  EXPECT_EQ(node.find("e")->text, "18446744073709551616");
  EXPECT_EQ(node.find("f")->text, "true");
  EXPECT_FALSE(node.find("f")->quoted);
  EXPECT_TRUE(node.find("g")->is_null());
  EXPECT_TRUE(node.find("h")->is_sequence());
}

TEST(JsonReader, StringsAreUnescaped) {
  EXPECT_EQ(read(R"("\u00e4\n\"\\\/\ud83d\ude00\u0000")").text,
            std::string("\xC3\xA4\n\"\\/\xF0\x9F\x98\x80\0", 11));
}

TEST(JsonReader, MarksPointAtKeysAndValues) {
  const Node node = read("{\n  \"a\" : [1,\n    \"x\\\"]\", {\"b\":null}],\n  \"c\":true\n}\n");
  EXPECT_EQ(node.mark, (Mark{1, 1}));
  EXPECT_EQ(node.entries[0].mark, (Mark{2, 3}));
  const Node& list = node.entries[0].value;
  EXPECT_EQ(list.mark, (Mark{2, 9}));
  EXPECT_EQ(list.items[0].mark, (Mark{2, 10}));
  EXPECT_EQ(list.items[1].mark, (Mark{3, 5}));
  EXPECT_EQ(list.items[1].text, "x\"]");
  EXPECT_EQ(list.items[2].mark, (Mark{3, 13}));
  EXPECT_EQ(list.items[2].entries[0].mark, (Mark{3, 14}));
  EXPECT_EQ(list.items[2].entries[0].value.mark, (Mark{3, 18}));
  EXPECT_EQ(node.entries[1].mark, (Mark{4, 3}));
  EXPECT_EQ(node.entries[1].value.mark, (Mark{4, 7}));
}

TEST(JsonReader, MarksCountBytes) {
  const Node node = read("\xEF\xBB\xBF{\"\xC3\xA9\": \"\xE5\xA4\xA7\", \"b\": 1}");
  EXPECT_EQ(node.entries[0].value.mark, (Mark{1, 8}));
  EXPECT_EQ(node.entries[1].mark, (Mark{1, 15}));
}

TEST(JsonReader, DuplicateKeysAreRefused) {
  EXPECT_EQ(refusal(R"({"a": 1, "b": {"c": 1}, "a": 2})"),
            "s.json:1:25: duplicate key \"a\", first at 1:2; expected each key once");
  EXPECT_EQ(refusal("{\"a\": 1,\n \"\\u0061\": 2}"),
            "s.json:2:2: duplicate key \"a\", first at 1:2; expected each key once");
}

TEST(JsonReader, AnythingBehindTheDocumentIsRefused) {
  EXPECT_EQ(refusal("{} {}"), "s.json:1:4: unexpected '{'; expected end of input");
  EXPECT_EQ(refusal("{}\nx"), "s.json:2:1: invalid literal; expected JSON");
  EXPECT_EQ(refusal("1, 2"), "s.json:1:2: unexpected ','; expected end of input");
}

TEST(JsonReader, GrammarErrorsPointAtTheToken) {
  EXPECT_EQ(refusal("{\"a\": 1,}"), "s.json:1:9: unexpected '}'; expected string literal");
  EXPECT_EQ(refusal("{\"a\" \"bcd\"}"), "s.json:1:6: unexpected string literal; expected ':'");
  EXPECT_EQ(refusal("[1 23]"), "s.json:1:4: unexpected number literal; expected ']'");
  EXPECT_EQ(refusal("[1,,2]"), "s.json:1:4: unexpected ','; expected '[', '{', or a literal");
  EXPECT_EQ(refusal("{a: 1}"), "s.json:1:2: invalid literal; expected JSON");
  EXPECT_EQ(refusal("{\"a\": tru}"), "s.json:1:10: invalid literal; expected JSON");
  EXPECT_EQ(refusal("{\"a\": 1e999}"),
            "s.json:1:7: a number out of range; expected one that fits a double");
  EXPECT_EQ(refusal("{\"a\": 1"), "s.json:1:8: unexpected end of input; expected '}'");
  EXPECT_EQ(refusal("[\"\\q\"]"),
            "s.json:1:4: invalid string: forbidden character after backslash; expected JSON");
  EXPECT_EQ(refusal(""), "s.json:1:1: unexpected end of input; expected '[', '{', or a literal");
  EXPECT_EQ(refusal("[01]"), "s.json:1:3: unexpected number literal; expected ']'");
  EXPECT_EQ(refusal("// x\n{}"), "s.json:1:1: invalid literal; expected JSON");
}

TEST(JsonReader, MessagesEchoNothingOfTheText) {
  const std::string message = refusal("[\"" + std::string(100000, 'z') + "\xE2\x80\xAE");
  EXPECT_EQ(message, "s.json:1:2: invalid string: missing closing quote; expected JSON");
}

TEST(JsonReader, EncodingAndControlCharactersAreChecked) {
  EXPECT_EQ(refusal("{\"a\": \"\xFF\"}"),
            "s.json:1:8: byte 0xFF is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("{\"a\": \"\x01\"}"),
            "s.json:1:8: control character U+0001; expected text without control characters");
  EXPECT_EQ(refusal(std::string("\xFF\xFE{\0}\0", 6)),
            "s.json:1:1: wrong encoding: this looks like UTF-16; expected UTF-8");
  EXPECT_FALSE(parse("[\"\\ud800\"]", Format::json, "s.json"));
}

TEST(GuessFormat, JsonBeginsWithABracket) {
  EXPECT_EQ(guess_format("  \n{\"a\": 1}"), Format::json);
  EXPECT_EQ(guess_format("\xEF\xBB\xBF[]"), Format::json);
  EXPECT_EQ(guess_format("a: {}"), Format::yaml);
  EXPECT_EQ(guess_format("# {\n"), Format::yaml);
  EXPECT_EQ(guess_format(""), Format::yaml);
}

}  // namespace
}  // namespace goldenv::doc
