#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "doc/node.h"

namespace goldenv::doc {
namespace {

TEST(QuoteYaml, SafeTextsStayPlain) {
  for (const char* text : {"a", "tsc", "NVIDIA A100-SXM4-80GB", "535.129.03", "8.9.2.26",
                           "2.2.1+cu121", "5.15.0-91-generic", "/usr/local/cuda-12.1", "~/venv",
                           "a:b", "http://x/y", "x#y", "user-unit:jupyter", "6.1-arch1",
                           "gr\xC3\xB6\xC3\x9F"
                           "e",
                           "nullable", "0123abcg", "0xyz"}) {
    EXPECT_EQ(quote_yaml(text), text);
  }
}

TEST(QuoteYaml, WhatAReaderCouldTakeForAnotherTypeIsQuoted) {
  for (const char* text : {"null",
                           "Null",
                           "~",
                           "yes",
                           "No",
                           "on",
                           "OFF",
                           "y",
                           "N",
                           "true",
                           "False",
                           "12.10",
                           "1",
                           "-1",
                           "+1",
                           "1e3",
                           "1.",
                           ".5",
                           "0x10",
                           "0o17",
                           "017",
                           "1_000",
                           "12:30:45",
                           ".inf",
                           "-.Inf",
                           ".NaN",
                           "2024-01-01",
                           "2024-01-01T00:00:00Z",
                           "2001-1-1",
                           "=",
                           "<<",
                           "0b11",
                           "190:20:30.15",
                           "1.5e+3",
                           "-0x1F",
                           ""}) {
    EXPECT_EQ(quote_yaml(text), "\"" + std::string(text) + "\"");
  }
}

TEST(QuoteYaml, WhatTheGrammarCouldTakeForSomethingElseIsQuoted) {
  for (const char* text : {"a: b", "# x", "x #y",      "- x",      "-",   "--- x", "...", "? x",
                           ": x",  "x:",  "trailing ", " leading", "{",   "}",     "[",   "]",
                           "a, b", "*a",  "&a",        "!",        "!x",  "%x",    "@x",  "`x",
                           "'x",   "|",   ">=5.5",     "a:?",      "a:,", "[a]"}) {
    EXPECT_EQ(quote_yaml(text), "\"" + std::string(text) + "\"");
  }
}

TEST(QuoteYaml, InvisibleCharactersAreEscaped) {
  EXPECT_EQ(quote_yaml("a\nb\tc\rd"), R"("a\nb\tc\x0Dd")");
  EXPECT_EQ(quote_yaml(std::string("\0\x1b\x7f", 3)), R"("\x00\x1B\x7F")");
  EXPECT_EQ(quote_yaml("\xE2\x80\xAE"
                       "evil"),
            R"("\u202Eevil")");
  EXPECT_EQ(quote_yaml("\xC2\xA0"), R"("\xA0")");
  EXPECT_EQ(quote_yaml("\xEF\xBB\xBF"), R"("\uFEFF")");
  EXPECT_EQ(quote_yaml("\xF3\xA0\x81\xA1"), R"("\U000E0061")");
  EXPECT_EQ(quote_yaml("say \"hi\" \\ {"), R"("say \"hi\" \\ {")");
}

TEST(QuoteYaml, BytesThatAreNoUtf8BecomeCharactersThatStandForThem) {
  EXPECT_EQ(quote_yaml("a\xFF"
                       "b"),
            R"("a\U0010FEFFb")");
}

TEST(QuoteJson, EscapesWhatCannotBeSeen) {
  EXPECT_EQ(quote_json("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(quote_json("\xE2\x80\xAE"), R"("\u202e")");
  EXPECT_EQ(quote_json("\xF3\xA0\x81\xA1"), R"("\udb40\udc61")");
  EXPECT_EQ(quote_json("\xFF\xC3\xA9"), "\"\\udbff\\udeff\xC3\xA9\"");
  EXPECT_EQ(quote_json(""), "\"\"");
}

Node sample() {
  return Node::mapping({
      {"goldenv", {}, Node::scalar("1")},
      {"driver", {}, Node::scalar("12.10")},
      {"word", {}, Node::scalar("12.10", true)},
      {"empty", {}, Node::sequence({})},
      {"none", {}, Node{}},
      {"list",
       {},
       Node::sequence(
           {Node::scalar("a"), Node::sequence({Node::scalar("b")}),
            Node::mapping({{"c", {}, Node::scalar("true")}, {"d", {}, Node::mapping({})}})})},
      {"map", {}, Node::mapping({{"x", {}, Node::mapping({{"z", {}, Node::scalar("null")}})}})},
  });
}

TEST(RenderYaml, BlockStyle) {
  EXPECT_EQ(render_yaml(sample()),
            "goldenv: 1\n"
            "driver: 12.10\n"
            "word: \"12.10\"\n"
            "empty: []\n"
            "none: null\n"
            "list:\n"
            "  - a\n"
            "  - - b\n"
            "  - c: true\n"
            "    d: {}\n"
            "map:\n"
            "  x:\n"
            "    z: \"null\"\n");
}

TEST(RenderYaml, FlowLeaves) {
  EXPECT_EQ(render_yaml(sample(), true),
            "goldenv: 1\n"
            "driver: 12.10\n"
            "word: \"12.10\"\n"
            "empty: []\n"
            "none: null\n"
            "list:\n"
            "  - a\n"
            "  - [b]\n"
            "  - {c: true, d: {}}\n"
            "map:\n"
            "  x: {z: \"null\"}\n");
  const Node facts = Node::mapping(
      {{"facts",
        {},
        Node::mapping(
            {{"gpu.vbios",
              {},
              Node::mapping({{"value", {}, Node::mapping({{"92.00", {}, Node::scalar("7")}})},
                             {"of", {}, Node::scalar("8")}})}})}});
  EXPECT_EQ(render_yaml(facts, true), "facts:\n  gpu.vbios: {value: {\"92.00\": 7}, of: 8}\n");
}

TEST(RenderYaml, WhatDoesNotFitTheLineStaysABlock) {
  const std::string wide(60, 'w');
  const Node node =
      Node::mapping({{"a", {}, Node::sequence({Node::scalar(wide), Node::scalar(wide)})}});
  EXPECT_EQ(render_yaml(node, true), "a:\n  - " + wide + "\n  - " + wide + "\n");
}

TEST(RenderYaml, KeysTooLongForASimpleKeyComeBack) {
  for (const std::size_t length : {990U, 1000U, 1001U, 1022U, 1023U, 1024U, 1025U, 4096U}) {
    const std::string key(length, 'k');
    const Node node =
        Node::mapping({{key,
                        {},
                        Node::sequence({Node::mapping({{key + " ", {}, Node::scalar("v")},
                                                       {"z", {}, Node::mapping({})}})})}});
    const auto again = parse(render_yaml(node, true), Format::yaml, "x");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(same(node, *again)) << length;
  }
}

TEST(RenderJson, PrettyAndCompact) {
  const Node node =
      Node::mapping({{"a", {}, Node::sequence({Node::scalar("1"), Node::scalar("x")})},
                     {"b", {}, Node::mapping({})},
                     {"c", {}, Node::scalar("12.10", true)},
                     {"d", {}, Node{}},
                     {"e", {}, Node::scalar("01")}});
  EXPECT_EQ(render_json(node),
            "{\n  \"a\": [\n    1,\n    \"x\"\n  ],\n  \"b\": {},\n  \"c\": \"12.10\",\n  \"d\": "
            "null,\n  \"e\": \"01\"\n}\n");
  EXPECT_EQ(render_json(node, false),
            "{\"a\": [1, \"x\"], \"b\": {}, \"c\": \"12.10\", \"d\": null, \"e\": \"01\"}");
}

TEST(RenderJson, NumbersThatReadersRefuseAreStrings) {
  EXPECT_EQ(render_json(Node::scalar("2E11010"), false), "\"2E11010\"");
  EXPECT_EQ(render_json(Node::scalar("1e3"), false), "\"1e3\"");
  EXPECT_EQ(render_json(Node::scalar(std::string(100, '9')), false), std::string(100, '9'));
  EXPECT_EQ(render_json(Node::scalar(std::string(400, '9')), false),
            "\"" + std::string(400, '9') + "\"");
}

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  Node node(int depth) {
    const std::size_t kind = below(depth > 0 ? 8 : 4);
    if (kind == 0) {
      return {};
    }
    if (kind < 4) {
      return Node::scalar(text(), below(2) == 0);
    }
    const std::size_t size = below(5);
    if (kind < 6) {
      std::vector<Node> items;
      for (std::size_t i = 0; i < size; ++i) {
        items.push_back(node(depth - 1));
      }
      return Node::sequence(std::move(items));
    }
    std::vector<Node::Entry> entries;
    for (std::size_t i = 0; i < size; ++i) {
      std::string key = text() + std::to_string(i);  // unique: the last digit differs
      if (i == 0 && below(3) == 0) {
        key = kOdd[below(kOdd.size())];
        key += key.empty() || key.back() < '1' || key.back() > '4' ? "" : "x";
      }
      entries.push_back({std::move(key), {}, node(depth - 1)});
    }
    return Node::mapping(std::move(entries));
  }

 private:
  static constexpr std::array<std::string_view, 48> kOdd{
      "null",
      "~",
      "yes",
      "no",
      "on",
      "true",
      "12.10",
      "1e3",
      "0x10",
      "2024-01-01",
      "a: b",
      "# x",
      "- x",
      "trailing  ",
      "  leading",
      "two\nlines",
      "\n",
      "\t",
      "",
      "{",
      "}",
      "[",
      ",",
      "*a",
      "&a",
      "!",
      "%",
      "@",
      "`",
      "=",
      "<<",
      "'",
      "\"",
      "\\",
      "|",
      ">",
      "?",
      ":",
      "-",
      "---",
      "...",
      "a:",
      "\xC3\xA4\xE5\xA4\xA7\xF0\x9F\x98\x80",
      "\xE2\x80\xAE\xE2\x80\xA8\xC2\x85\xEF\xBB\xBF",
      "\x1b[31m",
      "\r",
      "\r\n",
      "1:2"};

  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::string text() {
    if (below(2) == 0) {
      return std::string(kOdd[below(kOdd.size())]);
    }
    std::string out;
    for (std::size_t i = below(12); i > 0; --i) {
      constexpr std::string_view alphabet = "abz019.:-+_ ,#{}[]\"'\\&*!|>%@`~=<?/\n\t";
      out += alphabet[below(alphabet.size())];
    }
    return out;
  }

  std::mt19937 random_;
};

TEST(RoundTrip, EveryTreeComesBackFromBothFormats) {
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const Node node = RandomTree(seed).node(4);
    for (const bool option : {false, true}) {
      const std::string yaml = render_yaml(node, option);
      const auto from_yaml = parse(yaml, Format::yaml, "x");
      ASSERT_TRUE(from_yaml) << seed << ": " << from_yaml.error().message << "\n" << yaml;
      ASSERT_TRUE(same(node, *from_yaml)) << seed << "\n" << yaml;
      EXPECT_EQ(render_yaml(*from_yaml, option), yaml) << seed;
      const std::string json = render_json(node, option);
      const auto from_json = parse(json, Format::json, "x");
      ASSERT_TRUE(from_json) << seed << ": " << from_json.error().message << "\n" << json;
      ASSERT_TRUE(same(node, *from_json)) << seed << "\n" << json;
      EXPECT_EQ(render_json(*from_json, option), json) << seed;
    }
  }
}

TEST(RoundTrip, OnePointZeroIsNotOne) {
  EXPECT_FALSE(same(Node::scalar("1"), Node::scalar("1.0")));
  EXPECT_FALSE(same(Node::scalar("null"), Node{}));
  EXPECT_FALSE(same(Node::sequence({}), Node::mapping({})));
  EXPECT_TRUE(same(Node::scalar("1", true), Node::scalar("1")));
}

}  // namespace
}  // namespace goldenv::doc
