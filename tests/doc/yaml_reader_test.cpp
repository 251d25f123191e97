#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "doc/node.h"

namespace goldenv::doc {
namespace {

Node read(std::string_view text) {
  auto node = parse(text, Format::yaml, "m.yaml");
  EXPECT_TRUE(node) << (node ? "" : node.error().message);
  return node ? *std::move(node) : Node{};
}

std::string refusal(std::string_view text) {
  const auto node = parse(text, Format::yaml, "m.yaml");
  EXPECT_FALSE(node) << render_json(*node);
  if (node) {
    return {};
  }
  EXPECT_TRUE(node.error().code == Errc::malformed || node.error().code == Errc::too_large);
  return node.error().message;
}

TEST(YamlReader, ScalarsKeepTheirTextAndWhetherTheyWereQuoted) {
  const Node node = read("a: 12.10\nb: \"12.10\"\nc: '12.10'\nd: |\n  12.10\n");
  EXPECT_EQ(node.find("a")->text, "12.10");
  EXPECT_FALSE(node.find("a")->quoted);
  EXPECT_EQ(node.find("b")->text, "12.10");
  EXPECT_TRUE(node.find("b")->quoted);
  EXPECT_TRUE(node.find("c")->quoted);
  EXPECT_TRUE(node.find("d")->quoted);
  EXPECT_EQ(node.find("d")->text, "12.10\n");
  EXPECT_EQ(node.find("e"), nullptr);
}

TEST(YamlReader, OnlyPlainNullsAreNull) {
  const Node node = read("a:\nb: ~\nc: null\nd: NULL\ne: \"null\"\nf: ''\ng: nul\n");
  for (const char* key : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(node.find(key)->is_null()) << key;
  }
  EXPECT_EQ(node.find("b")->text, "~");
  for (const char* key : {"e", "f", "g"}) {
    EXPECT_TRUE(node.find(key)->is_scalar()) << key;
  }
}

TEST(YamlReader, MarksCountLinesAndBytesFromOne) {
  const Node node = read("# first\nkey: value\nlist:\n  - one\n  - {two: 2}\n\"q\":   'x'\n");
  EXPECT_EQ(node.mark, (Mark{2, 1}));
  EXPECT_EQ(node.entries[0].mark, (Mark{2, 1}));
  EXPECT_EQ(node.entries[0].value.mark, (Mark{2, 6}));
  EXPECT_EQ(node.entries[1].value.mark, (Mark{4, 3}));
  EXPECT_EQ(node.entries[1].value.items[0].mark, (Mark{4, 5}));
  EXPECT_EQ(node.entries[1].value.items[1].mark, (Mark{5, 5}));
  EXPECT_EQ(node.entries[1].value.items[1].entries[0].mark, (Mark{5, 6}));
  EXPECT_EQ(node.entries[2].mark, (Mark{6, 1}));
  EXPECT_EQ(node.entries[2].value.mark, (Mark{6, 8}));
}

TEST(YamlReader, MarksCountBytesAlsoBehindLettersOfSeveralBytes) {
  const Node node = read(
      "\xEF\xBB\xBFgr\xC3\xB6\xC3\x9F"
      "e: \xE5\xA4\xA7\r\nb: {\xC3\xA9: 1, c: 2}\r\n");
  EXPECT_EQ(node.entries[0].key,
            "gr\xC3\xB6\xC3\x9F"
            "e");
  EXPECT_EQ(node.entries[0].mark, (Mark{1, 1}));
  EXPECT_EQ(node.entries[0].value.mark, (Mark{1, 10}));
  EXPECT_EQ(node.entries[1].mark, (Mark{2, 1}));
  EXPECT_EQ(node.entries[1].value.entries[1].mark, (Mark{2, 12}));
}

TEST(YamlReader, AliasesAreCopiesThatStandWhereTheyAreWritten) {
  const Node node = read("a: &x {k: [1, 2]}\nb: *x\nc: &y 12.10\nd: *y\n");
  EXPECT_TRUE(same(*node.find("a"), *node.find("b")));
  EXPECT_EQ(node.find("b")->mark, (Mark{2, 4}));
  EXPECT_EQ(node.find("b")->find("k")->items[1].mark, (Mark{1, 15}));
  EXPECT_EQ(node.find("d")->text, "12.10");
  EXPECT_EQ(node.find("d")->mark, (Mark{4, 4}));
}

TEST(YamlReader, AnAnchorMeantAgainNamesTheLaterNode) {
  const Node node = read("- &x 1\n- *x\n- &x 2\n- *x\n- &y [&z [3], *z]\n- *y\n");
  EXPECT_EQ(render_json(node, false), "[1, 1, 2, 2, [[3], [3]], [[3], [3]]]");
}

TEST(YamlReader, NothingButBlanksAndCommentsIsNull) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "   ", "---\n", "\xEF\xBB\xBF"}) {
    EXPECT_TRUE(read(text).is_null()) << text;
  }
}

TEST(YamlReader, OneDocumentMayBeFramed) {
  EXPECT_EQ(read("%YAML 1.1\n---\na: 1\n...\n# end\n").find("a")->text, "1");
}

TEST(YamlReader, EscapesOfControlCharactersAreRead) {
  EXPECT_EQ(read("\"\\0\\x1b\\u202e\\U0001F600\\e\\t\"").text,
            std::string("\0\x1b\xE2\x80\xAE\xF0\x9F\x98\x80\x1b\t", 11));
}

TEST(YamlReader, TextBehindTheDocumentIsRefused) {
  EXPECT_EQ(refusal("- a\nb: 1"),
            "m.yaml:2:1: this does not go on with the list before it; expected '- ', indented like "
            "its other items");
  EXPECT_EQ(refusal("a: 1\nb"),
            "m.yaml:2:1: this text has no ':' behind it; expected `key: value`");
  EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"), "m.yaml:2:1: a second document; expected one");
  EXPECT_EQ(refusal("a: 1\n...\n---\nb: 2\n"), "m.yaml:3:1: a second document; expected one");
  EXPECT_TRUE(refusal("a: 1\n...\nb: 2\n").starts_with("m.yaml:3:1: text behind the document"));
  EXPECT_EQ(refusal("a: 1\n---\n"), "m.yaml:2:1: a second document; expected one");
  EXPECT_EQ(refusal("{a: 1}\nb: 2\n"),
            "m.yaml:2:1: text behind the document; expected one document and nothing more (is it "
            "indented like the lines before it?)");
  EXPECT_EQ(refusal("[1]]"),
            "m.yaml:1:4: text behind the document; expected one document and nothing more (is it "
            "indented like the lines before it?)");
}

TEST(YamlReader, ALoneCommaIsRefusedAtOnce) {
  EXPECT_EQ(refusal(","), "m.yaml:1:1: a value is missing; expected one here");
}

TEST(YamlReader, DuplicateKeysNameTheFirst) {
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"),
            "m.yaml:3:1: duplicate key \"a\", first at 1:1; expected each key once");
  EXPECT_EQ(refusal("m: {x: 1, \"x\": 2}"),
            "m.yaml:1:11: duplicate key \"x\", first at 1:5; expected each key once");
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += "key" + std::to_string(i % 4999) + ": 1\n";
  }
  EXPECT_EQ(refusal(many),
            "m.yaml:5000:1: duplicate key \"key0\", first at 1:1; expected each key once");
}

TEST(YamlReader, TheFirstOfSeveralDuplicatesIsTold) {
  EXPECT_EQ(refusal("c: 1\nb: 1\nb: 2\nc: 2\nb: 3\n"),
            "m.yaml:3:1: duplicate key \"b\", first at 2:1; expected each key once");
}

TEST(YamlReader, KeysAreTexts) {
  EXPECT_EQ(refusal("? [a]\n: b"), "m.yaml:1:3: a list or mapping as a key; expected text");
  EXPECT_EQ(refusal("{{a: 1}: 2}"), "m.yaml:1:2: a list or mapping as a key; expected text");
  EXPECT_EQ(refusal("a: &x b\n*x : c"), "m.yaml:2:1: an alias as a key; expected text");
  EXPECT_EQ(refusal("&k a: b"), "m.yaml:1:1: an anchor on a key; expected a plain key");
  EXPECT_EQ(refusal("? \n: b"), "m.yaml:1:2: a key is missing before ':'; expected `key: value`");
  EXPECT_EQ(read("\"\": b\n~: c\n1: d\n").find("~")->text, "c");
}

TEST(YamlReader, MergeKeysAreRefusedAndQuotedOnesAreKeys) {
  EXPECT_EQ(refusal("b: &b {k: 1}\na:\n  <<: *b\n"),
            "m.yaml:3:3: merge keys (<<) are not read; expected the keys themselves");
  EXPECT_EQ(read("\"<<\": 1").find("<<")->text, "1");
}

TEST(YamlReader, TagsAreRefused) {
  EXPECT_EQ(refusal("a: !!python/object:os.system x"),
            "m.yaml:1:4: the tag \"tag:yaml.org,2002:python/object:os.syste\"...; expected a value "
            "without one");
  EXPECT_EQ(refusal("a: !x [1]"), "m.yaml:1:4: the tag \"!x\"; expected a value without one");
  EXPECT_EQ(refusal("!!map {a: 1}"),
            "m.yaml:1:1: the tag \"tag:yaml.org,2002:map\"; expected a value without one");
  EXPECT_EQ(refusal("! a: 1"), "m.yaml:1:1: the tag \"!\"; expected a value without one");
  EXPECT_EQ(refusal("%TAG ! tag:x,2000:\n---\na: 1"),
            "m.yaml:1:1: a %TAG directive; expected no tags");
  EXPECT_EQ(refusal("a: !x!y z"), "m.yaml:1:4: a tag; expected none");
  EXPECT_EQ(refusal("a: !<x"), "m.yaml:1:4: a '!' begins a tag; expected quotes around the text");
}

TEST(YamlReader, AliasesNeedAnAnchorBeforeThem) {
  EXPECT_EQ(refusal("a: *x"), "m.yaml:1:4: no anchor \"x\" before this alias; expected one");
  EXPECT_EQ(refusal("a: &x [1, *x]"),
            "m.yaml:1:11: the alias \"x\" stands inside the node it names; expected no recursion");
  EXPECT_EQ(refusal("a: &x {b: &x [*x]}"),
            "m.yaml:1:15: the alias \"x\" stands inside the node it names; expected no recursion");
}

TEST(YamlReader, EncodingIsUtf8) {
  EXPECT_EQ(refusal("a: 1\nb: x\xFFy"), "m.yaml:2:5: byte 0xFF is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("a: \xC0\x80"), "m.yaml:1:4: byte 0xC0 is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("a: \xED\xA0\x80"), "m.yaml:1:4: byte 0xED is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("a: \xE2\x80"), "m.yaml:1:4: byte 0xE2 is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("a: \xF5\x80\x80\x80"),
            "m.yaml:1:4: byte 0xF5 is not UTF-8 here; expected UTF-8");
  EXPECT_EQ(refusal("gr\xF6\xDF"
                    "e: 1"),
            "m.yaml:1:3: byte 0xF6 is not UTF-8 here; expected UTF-8");
  for (const std::string& text :
       {std::string("\xFF\xFE"
                    "a\0:\0",
                    6),
        std::string("\xFE\xFF\0a", 4), std::string("a\0:\0", 4), std::string("\0a\0:", 4)}) {
    EXPECT_EQ(refusal(text), "m.yaml:1:1: wrong encoding: this looks like UTF-16; expected UTF-8");
  }
  EXPECT_EQ(refusal(std::string("\xFF\xFE\0\0a\0\0\0", 8)),
            "m.yaml:1:1: wrong encoding: this looks like UTF-32; expected UTF-8");
}

TEST(YamlReader, ControlCharactersAreRefusedWhereTheyStand) {
  EXPECT_EQ(refusal(std::string("a: b\0c", 6)),
            "m.yaml:1:5: control character U+0000; expected text without control characters");
  EXPECT_EQ(refusal("a: 1\nb: \"\x1b[31m\""),
            "m.yaml:2:5: control character U+001B; expected text without control characters");
  EXPECT_EQ(refusal("a: \x7f"),
            "m.yaml:1:4: character U+007F may not stand in YAML; expected it as an escape in a "
            "double-quoted text");
  EXPECT_EQ(refusal("a: b\xE2\x80\xA8"
                    "c"),
            "m.yaml:1:5: raw line separator U+2028; expected it as an escape in a double-quoted "
            "text");
  EXPECT_EQ(refusal("a: b\xEF\xBB\xBF"),
            "m.yaml:1:5: character U+FEFF may not stand in YAML; expected it as an escape in a "
            "double-quoted text");
}

TEST(YamlReader, BinaryJunkIsRefused) {
  EXPECT_EQ(refusal(std::string("\x7f"
                                "ELF\x02\x01\x01\0\0",
                                9)),
            "m.yaml:1:1: character U+007F may not stand in YAML; expected it as an escape in a "
            "double-quoted text");
  EXPECT_EQ(refusal("\x1f\x8b\x08"),
            "m.yaml:1:1: control character U+001F; expected text without control characters");
}

TEST(YamlReader, TabsInTheIndentationAreNamed) {
  EXPECT_EQ(refusal("\ta: 1"), "m.yaml:1:1: a tab in the indentation; expected blanks");
  EXPECT_EQ(refusal("a:\n\t- b"), "m.yaml:2:1: a tab in the indentation; expected blanks");
}

TEST(YamlReader, MessagesSayWhatWasExpected) {
  EXPECT_EQ(
      refusal("a: b: c"),
      "m.yaml:1:5: a ':' where no value can begin; expected quotes around the text that holds "
      "it, or a line of its own");
  EXPECT_EQ(refusal("a: - b"),
            "m.yaml:1:4: a '-' where no list can begin; expected the list on lines of its own");
  EXPECT_EQ(refusal("a: ? b"),
            "m.yaml:1:4: a '?' where no key can begin; expected quotes around the text");
  EXPECT_EQ(refusal("a: 1\nb: \"c\nd: 2\n"),
            "m.yaml:2:4: a quote that nothing closes; expected the same quote at the end of the "
            "text");
  EXPECT_EQ(refusal("a: \"x\n---\n"),
            "m.yaml:2:1: a line of '---' or '...' within quotes; expected the closing quote before "
            "it");
  EXPECT_EQ(refusal("a: [1, 2\n"),
            "m.yaml:2:1: a list in brackets that does not go on; expected ',' or ']'");
  EXPECT_EQ(refusal("a: {b: 1\n"),
            "m.yaml:2:1: a mapping in braces that does not go on; expected ',' or '}'");
  EXPECT_EQ(refusal("a: @x"),
            "m.yaml:1:4: \"@\" cannot begin a plain text; expected quotes around it");
  EXPECT_EQ(refusal("a:\n  b: 1\n c: 2"),
            "m.yaml:3:2: this does not go on with the mapping before it; expected `key: value`, "
            "indented like its other keys");
  EXPECT_EQ(refusal("a: \"\\z\""),
            "m.yaml:1:5: an unknown escape; expected one of \\\\ \\\" \\n \\t \\xNN \\uNNNN, or "
            "single quotes");
  EXPECT_EQ(refusal("a: \"\\xZZ\""),
            "m.yaml:1:7: an escape that is cut short; expected hexadecimal digits");
  EXPECT_EQ(
      refusal("a: \"\\ud800\""),
      "m.yaml:1:7: an escape that names no character; expected a code point outside U+D800 to "
      "U+DFFF");
  EXPECT_EQ(refusal("a: *"),
            "m.yaml:1:4: a '*' without the name of an anchor; expected quotes around the text");
  EXPECT_EQ(refusal("a: &"),
            "m.yaml:1:4: a '&' without the name of an anchor; expected quotes around the text");
  EXPECT_EQ(refusal("%YAML 3.0\n---\na: 1"),
            "m.yaml:1:1: a version of YAML that is not read; expected 1.1 or 1.2");
}

}  // namespace
}  // namespace goldenv::doc
