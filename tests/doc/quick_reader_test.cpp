#include "doc/quick_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doc/reader.h"

namespace goldenv::doc {
namespace {

/// Same in everything, also marks, quotes and the texts of nulls.
bool identical(const Node& a, const Node& b) {
  return a.kind == b.kind && a.mark == b.mark && a.quoted == b.quoted && a.text == b.text &&
         std::ranges::equal(a.items, b.items, identical) &&
         std::ranges::equal(a.entries, b.entries, [](const Node::Entry& x, const Node::Entry& y) {
           return x.key == y.key && x.mark == y.mark && identical(x.value, y.value);
         });
}

/// Whether the quick reader took the text; if so, the general one must say the very same.
bool agrees(std::string_view text, Format format, const Limits& limits = {}) {
  const auto clean = check_encoding(text, format, "x", limits);
  if (!clean) {
    return false;
  }
  const bool json = format == Format::json;
  const auto quick = json ? read_quick_json(*clean, limits) : read_quick_yaml(*clean, limits);
  if (!quick) {
    return false;
  }
  const auto general = json ? read_json(*clean, "x", limits) : read_yaml(*clean, "x", limits);
  EXPECT_TRUE(general) << general.error().message << "\n" << text;
  EXPECT_TRUE(general && identical(*quick, *general)) << text;
  return true;
}

/// Parses with the entries of `under` handed over, puts them back, and compares with a plain parse.
/// Gives how many were handed over.
std::size_t parts_agree(std::string_view text, Format format, std::string_view under) {
  std::vector<Node::Entry> taken;
  Parts parts{under, [&](Node::Entry& entry) { taken.push_back(std::move(entry)); }};
  Result<Node> rest = parse_parts(text, format, "x", parts);
  const Result<Node> whole = parse(text, format, "x");
  EXPECT_EQ(bool(rest), bool(whole)) << text;
  if (!rest || !whole) {
    return taken.size();
  }
  EXPECT_EQ(parts.taken, taken.size());
  for (Node::Entry& top : rest->entries) {
    if (top.key == under) {
      EXPECT_TRUE(top.value.entries.empty());
      top.value.entries = taken;
    }
  }
  EXPECT_TRUE(identical(*rest, *whole)) << text;
  return taken.size();
}

constexpr std::string_view kSnapshot =
    "# made by goldenv\n"
    "goldenv_snapshot: 0\n"
    "source: \"@live\"\n"
    "listed: [env, python.package]\n"
    "facts:\n"
    "  driver: {value: 535.129.03, from: /proc/driver/nvidia/version, line: 1}\n"
    "\n"
    "  gpu.vbios: {value: {92.00.45.00.03: 7, 92.00.45.00.05: 1}, of: 8}\n"
    "  cpu.vendor:\n"
    "    value: AuthenticAMD\n"
    "    notes:\n"
    "      - \"one: two\"\n"
    "      - gr\xC3\xB6\xC3\x9F"
    "er als {3}\n"
    "  env.X@user-unit:a: {absent: not in its environment, odd: [\"\\x1B\\u202E\\U0001F600\", ~, "
    "[]]}\n"
    "  none: null\n"
    "  last: -1";

TEST(QuickReader, TakesWhatGoldenvWrites) {
  EXPECT_TRUE(agrees(kSnapshot, Format::yaml));
  const auto node = parse(kSnapshot, Format::yaml, "x");
  ASSERT_TRUE(node);
  for (const bool option : {false, true}) {
    EXPECT_TRUE(agrees(render_yaml(*node, option), Format::yaml));
    EXPECT_TRUE(agrees(render_json(*node, option), Format::json));
  }
  EXPECT_TRUE(
      agrees(" [1, -2.50, true, null, \"a\\\\\\n\\u00e4\", {}, {\"a\": []}] \n", Format::json));
}

TEST(QuickReader, LeavesTheRestToTheGeneralReader) {
  for (const char* text : {"",
                           "a",
                           "- a",
                           "a: 1\na: 2",
                           "a: b\n  c",
                           "a: b # c",
                           "a: 'b'",
                           "a:\n- b",
                           "a: &x b",
                           "a: *x",
                           "a: !x b",
                           "a: |\n  b",
                           "a: b: c",
                           "<<: {a: b}",
                           "a: [b: c]",
                           "a: [b,]",
                           "a: {b}",
                           "a: {b:c}",
                           "a: [x?]",
                           "a:\tb",
                           "a: b\r\n",
                           "--- \na: b",
                           "a: b\n---\nc: d",
                           "a: b\n...\n",
                           "? a\n: b",
                           "a: \"b\\\n  c\"",
                           "a: \"b\n  c\"",
                           "a: \"\\z\"",
                           "a: \"\\ud800\"",
                           "a: [b\n]",
                           "a:",
                           "a: ",
                           "a:\n  - b: c",
                           "a:\n  - - b",
                           "%YAML 1.1\n---\na: b",
                           "a: @b",
                           "{a: b}",
                           " a: b",
                           "a: b ",
                           "a: b\n c: d",
                           "a:\n  b: c\n d: e",
                           ": a",
                           "a: b\n- c"}) {
    EXPECT_FALSE(agrees(text, Format::yaml)) << text;
  }
  for (const char* text : {"", "{\"a\": 1, \"a\": 2}", "[1,]", "[01]", "[1e5]", "{\"a\" 1}",
                           "[\"\\ud83d\\ude00\"]", "tru", "[] []", "{\"a\":\t1}", "[\"a\nb\"]",
                           "[1", "\"\\", "\"\\u00", "[+1]", "{,}", "[1 2]", "nul"}) {
    EXPECT_FALSE(agrees(text, Format::json)) << text;
  }
}

TEST(QuickReader, KeepsTheLimits) {
  const std::string deep = "a: " + std::string(63, '[') + std::string(63, ']');
  EXPECT_TRUE(agrees(deep, Format::yaml));
  EXPECT_FALSE(agrees("a: " + std::string(64, '[') + std::string(64, ']'), Format::yaml));
  EXPECT_TRUE(agrees(std::string(64, '[') + std::string(64, ']'), Format::json));
  EXPECT_FALSE(agrees(std::string(65, '[') + std::string(65, ']'), Format::json));
  for (const Format format : {Format::yaml, Format::json}) {
    const std::string text = format == Format::yaml ? "a: [b, c]" : "{\"a\": [1, 2]}";
    EXPECT_TRUE(agrees(text, format, {.nodes = 4}));
    EXPECT_FALSE(agrees(text, format, {.nodes = 3}));
  }
  EXPECT_FALSE(agrees(std::string(2000, 'k') + ": v", Format::yaml));
}

TEST(QuickReader, NeverDisagreesOnChangedTexts) {
  std::mt19937 random(7);
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  const auto snapshot = parse(kSnapshot, Format::yaml, "x");
  ASSERT_TRUE(snapshot);
  constexpr std::string_view kBytes = "ab01 .:-+_,#{}[]\"'\\&*!|>%@~=<?/\n\n  \t\xC3\xA9";
  int taken = 0;
  for (const Format format : {Format::yaml, Format::json}) {
    const std::string whole =
        format == Format::yaml ? render_yaml(*snapshot, true) : render_json(*snapshot);
    for (int round = 0; round < 20000; ++round) {
      const std::size_t begin = below(whole.size());
      std::string text = below(4) == 0 ? whole : whole.substr(begin, below(120));
      for (std::size_t edits = below(4); edits > 0 && !text.empty(); --edits) {
        const std::size_t where = below(text.size());
        switch (below(3)) {
          case 0:
            text.erase(where, 1 + below(3));
            break;
          case 1:
            text[where] = kBytes[below(kBytes.size())];
            break;
          default:
            text.insert(where, 1, kBytes[below(kBytes.size())]);
        }
      }
      taken += agrees(text, format) ? 1 : 0;
    }
  }
  EXPECT_GT(taken, 1000);
}

TEST(Parts, AreTheEntriesInOrderAndNothingElse) {
  EXPECT_EQ(
      parts_agree("facts:\n  a: {value: 1}\n  b: {value: 2}\nrest: x\n", Format::yaml, "facts"),
      2U);
  EXPECT_EQ(parts_agree(R"({"facts": {"a": {"value": 1}, "b": [2]}, "rest": "x"})", Format::json,
                        "facts"),
            2U);
  // Not in ascending order, with a comment in the middle, in flow style: the general readers'.
  EXPECT_EQ(parts_agree("facts:\n  b: {value: 1}\n  a: {value: 2}\n", Format::yaml, "facts"), 2U);
  EXPECT_EQ(parts_agree("facts:\n  a: 1\n  b: 2 # two\n  c: 3\n", Format::yaml, "facts"), 3U);
  EXPECT_EQ(parts_agree("facts: {a: 1, b: 2}\n", Format::yaml, "facts"), 2U);
  EXPECT_EQ(parts_agree(R"({"facts": {"b": 1, "a": 1e5}})", Format::json, "facts"), 2U);
}

TEST(Parts, OfAnotherNameOrDepthStay) {
  EXPECT_EQ(parts_agree("a:\n  facts:\n    b: 1\n", Format::yaml, "facts"), 0U);
  EXPECT_EQ(parts_agree(R"({"a": {"facts": {"b": 1}}, "facts": [1]})", Format::json, "facts"), 0U);
  EXPECT_EQ(parts_agree("facts: none\n", Format::yaml, "facts"), 0U);
  EXPECT_EQ(parts_agree(R"({"facts": {}})", Format::json, "facts"), 0U);
}

TEST(Parts, ErrorsStayErrors) {
  for (const std::string_view text : {"facts:\n  a: 1\n  a: 2\n", "facts:\n  a: 1\n b: 2\n",
                                      "facts:\n  a: 1\nfacts:\n  b: 1\n"}) {
    Parts parts{"facts", [](Node::Entry&) {}};
    const Result<Node> node = parse_parts(text, Format::yaml, "x", parts);
    EXPECT_FALSE(node) << text;
  }
  Parts parts{"facts", [](Node::Entry&) {}};
  EXPECT_FALSE(parse_parts(R"({"facts": {"a": 1, "a": 2}})", Format::json, "x", parts));
}

}  // namespace
}  // namespace goldenv::doc
