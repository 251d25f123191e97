#include <gtest/gtest.h>

#include <string>

#include "doc/node.h"

namespace goldenv::doc {
namespace {

Error refusal(const std::string& text, Format format, const Limits& limits = {}) {
  const auto limited = parse(text, format, "x", limits);
  EXPECT_FALSE(limited);
  return limited ? Error{} : limited.error();
}

std::string nested(std::size_t depth, bool closed) {
  return std::string(depth, '[') + (closed ? std::string(depth, ']') : "");
}

TEST(Limits, DepthIsCountedInBothFormats) {
  for (const Format format : {Format::yaml, Format::json}) {
    EXPECT_TRUE(parse(nested(64, true), format, "x"));
    const Error error = refusal(nested(65, true), format);
    EXPECT_EQ(error.code, Errc::too_large);
    EXPECT_EQ(error.message, "x:1:65: too large: nested more than 64 levels deep; expected fewer");
    EXPECT_EQ(refusal(nested(1000000, false), format).message, error.message);
  }
}

TEST(Limits, BlockNestingCountsToo) {
  std::string text;
  for (std::size_t i = 0; i < 600; ++i) {
    text += std::string(i, ' ') + "a:\n";
  }
  EXPECT_EQ(refusal(text, Format::yaml).message,
            "x:65:65: too large: nested more than 64 levels deep; expected fewer");
  EXPECT_EQ(refusal(std::string(5000, '-'), Format::yaml, {.bytes = 4999}).code, Errc::too_large);
  std::string dashes;
  for (int i = 0; i < 500; ++i) {
    dashes += "- ";
  }
  EXPECT_EQ(refusal(dashes, Format::yaml).message,
            "x:1:129: too large: nested more than 64 levels deep; expected fewer");
}

TEST(Limits, AHundredMegabytesAreRefusedUnread) {
  const std::string text(100u << 20, ' ');
  const Error error = parse(text, Format::yaml, "big.yaml").error();
  EXPECT_EQ(error.code, Errc::too_large);
  EXPECT_EQ(error.message, "big.yaml:1:1: too large: 104857600 bytes; expected at most 16777216");
}

TEST(Limits, NodesAreCounted) {
  for (const Format format : {Format::yaml, Format::json}) {
    EXPECT_TRUE(parse("[1, 2, 3]", format, "x", {.nodes = 4}));
    const Error error = refusal("[1, 2, 3]", format, {.nodes = 3});
    EXPECT_EQ(error.code, Errc::too_large);
    EXPECT_EQ(error.message,
              "x:1:8: too large: more than 3 nodes, aliases expanded; expected fewer");
  }
}

TEST(Limits, AliasBombsAreDefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    }
    bomb += "]\n";
  }
  const Error error = parse(bomb, Format::yaml, "x").error();
  EXPECT_EQ(error.code, Errc::too_large);
  EXPECT_NE(error.message.find("more than 1048576 nodes, aliases expanded"), std::string::npos)
      << error.message;
}

TEST(Limits, AliasesOfLongTextsAreCountedByTheirBytes) {
  std::string bomb = "- &a " + std::string(1u << 20, 'x') + "\n";
  for (int i = 0; i < 1000; ++i) {
    bomb += "- *a\n";
  }
  const Error error = parse(bomb, Format::yaml, "x").error();
  EXPECT_EQ(error.code, Errc::too_large);
  EXPECT_EQ(error.message,
            "x:17:3: too large: more than 16777216 bytes of text, aliases expanded; expected less");
}

TEST(Limits, AliasesAreCountedExactly) {
  const std::string text = "- &a [k, {b: c}]\n- *a\n";  // root, list, k, mapping, c and four more
  EXPECT_TRUE(parse(text, Format::yaml, "x", {.nodes = 9}));
  EXPECT_EQ(refusal(text, Format::yaml, {.nodes = 8}).message,
            "x:2:3: too large: more than 8 nodes, aliases expanded; expected fewer");
  EXPECT_TRUE(parse(text, Format::yaml, "x", {.bytes = text.size(), .depth = 3}));
  EXPECT_EQ(refusal("- &a [[1]]\n- [*a]\n", Format::yaml, {.depth = 3}).message,
            "x:2:4: too large: nested more than 3 levels deep; expected fewer");
}

TEST(Limits, AnchorsAreFew) {
  std::string text;
  for (int i = 0; i < 1001; ++i) {
    text += "- &a" + std::to_string(i) + " x\n";
  }
  EXPECT_EQ(refusal(text, Format::yaml).message,
            "x:1001:3: too large: more than 1000 anchors; expected fewer");
}

TEST(Limits, ManyUnsortedKeysAreRead) {
  std::string text = "{";
  for (int i = 0; i < 50000; ++i) {
    text += (i == 0 ? "\"" : ",\"") + std::to_string((i * 7919) % 50021) + "\":1";
  }
  text += "}";
  EXPECT_TRUE(parse(text, Format::json, "x"));
}

}  // namespace
}  // namespace goldenv::doc
