#include "report/text.h"

#include <gtest/gtest.h>

namespace goldenv::report {
namespace {

TEST(Printable, NoControlCharacterReachesATerminal) {
  EXPECT_EQ(printable("node\x1b[31m17"), "node\\x1b[31m17");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u{202e}b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{009b}31m");
  EXPECT_EQ(printable("\xc3\xa9 \xe4\xb8\xad"), "\xc3\xa9 \xe4\xb8\xad");
  EXPECT_EQ(printable("\xe4\xb8"), "\\xe4\\xb8");
}

TEST(Printable, EveryByteGivesPrintableText) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const char c : printable(text)) {
        const auto byte = static_cast<unsigned char>(c);
        EXPECT_TRUE(byte >= 0x20 && byte != 0x7f);
      }
    }
  }
}

TEST(ShellWord, IsOneWordWhateverStandsInIt) {
  EXPECT_EQ(shell_word("module.nvidia_uvm.loaded@/x-y:z,1+2=3%"),
            "module.nvidia_uvm.loaded@/x-y:z,1+2=3%");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x);`y`&*?[]{}<>|#!\""), "'$(x);`y`&*?[]{}<>|#!\"'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~/x"), "'~/x'");
  EXPECT_EQ(shell_word("a\nb'\\"), "$'a\\x0ab\\'\\\\'");
  EXPECT_EQ(shell_word("\xff"), "$'\\xff'");
}

TEST(Table, ColumnsLineUpAndLinesEndWithoutBlanks) {
  EXPECT_EQ(table({{"a", "bb", "c"}, {"aaa", "b", ""}}), "a    bb  c\naaa  b\n");
  EXPECT_EQ(table({{"\xe4\xb8\xad", "x"}, {"abc", "y"}}), "\xe4\xb8\xad   x\nabc  y\n");
}

TEST(Paint, IsNothingWithoutColour) {
  EXPECT_EQ(paint(Colour::none, Ink::red, "x"), "x");
  EXPECT_EQ(paint(Colour::ansi, Ink::red, "x"), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace goldenv::report
