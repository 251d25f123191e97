#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace goldenv {
namespace {

using Views = std::vector<std::string_view>;

TEST(Text, TrimTakesEveryBlankAtBothEndsAndNoneInside) {
  EXPECT_EQ(trim(" \t\r\n\v\fa b\f\v\n\r\t "), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim(std::string_view("\0a", 2)), std::string_view("\0a", 2));
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ','), (Views{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (Views{""}));
  EXPECT_EQ(split(",", ','), (Views{"", ""}));
  EXPECT_EQ(split("a", ','), (Views{"a"}));
}

TEST(Text, LinesEndWithOrWithoutCarriageReturn) {
  EXPECT_EQ(lines("a\r\nb\n\nc"), (Views{"a", "b", "", "c"}));
  EXPECT_EQ(lines("a\n"), (Views{"a"}));
  EXPECT_EQ(lines("\n"), (Views{""}));
  EXPECT_EQ(lines(""), Views{});
  EXPECT_EQ(lines("a\rb\r"), (Views{"a\rb"}));
}

TEST(Text, WordsHaveNoBlanks) {
  EXPECT_EQ(words("  a\t b\n"), (Views{"a", "b"}));
  EXPECT_EQ(words("a"), (Views{"a"}));
  EXPECT_EQ(words(" \t"), Views{});
}

TEST(Text, JoinPutsTheSeparatorBetween) {
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, LowerChangesAsciiOnly) {
  EXPECT_EQ(to_lower("AZaz09_\xC3\x84@[`{"), "azaz09_\xC3\x84@[`{");
}

TEST(Text, NumberIsDigitsAndNothingElse) {
  EXPECT_EQ(to_number("0"), 0U);
  EXPECT_EQ(to_number("007"), 7U);
  EXPECT_EQ(to_number("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(to_number("18446744073709551616"), std::nullopt);
  EXPECT_EQ(to_number("18446744073709551620"), std::nullopt);
  EXPECT_EQ(to_number("99999999999999999999"), std::nullopt);
  for (const std::string_view text : {"", " 1", "1 ", "+1", "-1", "0x1", "1.0", "\xD9\xA1"}) {
    EXPECT_EQ(to_number(text), std::nullopt) << text;
  }
}

TEST(Text, GlobStarStopsAtDotsAndTwoStarsDoNot) {
  struct Row {
    std::string_view pattern, name;
    bool matches;
  };
  for (const Row& row : {
           Row{"sysctl.*", "sysctl.vm", true},
           Row{"sysctl.*", "sysctl.vm.swappiness", false},
           Row{"sysctl.**", "sysctl.vm.swappiness", true},
           Row{"sysctl.**", "sysctl.", true},
           Row{"sysctl.**", "sysctl", false},
           Row{"sysctl.***", "sysctl.vm.swappiness", true},
           Row{"*.link", "cuda.link", true},
           Row{"*.link", "cuda.toolkit.link", false},
           Row{"**.link", "cuda.toolkit.link", true},
           Row{"*.*.link", "cuda.toolkit.link", true},
           Row{"gpu?", "gpu0", true},
           Row{"gpu?", "gpu", false},
           Row{"gpu?", "gpu.", false},
           Row{"a*b*c", "axxbyyc", true},
           Row{"a*b*c", "axxbyyd", false},
           Row{"", "", true},
           Row{"", "a", false},
           Row{"*", "", true},
           Row{"[a]", "a", false},
           Row{"[a]", "[a]", true},
       }) {
    EXPECT_EQ(glob_matches(row.pattern, row.name), row.matches) << row.pattern << " " << row.name;
  }
}

TEST(Text, GlobOfManyStarsEndsSoon) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(400, 'a')));
}

TEST(Text, EditDistanceCountsASwapOnce) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("driver", "driver"), 0U);
  EXPECT_EQ(edit_distance("dirver", "driver"), 1U);
  EXPECT_EQ(edit_distance("drivr", "driver"), 1U);
  EXPECT_EQ(edit_distance("drixer", "driver"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Text, Utf8IsWellFormedOrNot) {
  for (const std::string_view good :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
    EXPECT_EQ(to_utf8(good), good);
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
  for (const std::string_view bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "\xF0\x90\x80"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
    EXPECT_TRUE(is_utf8(to_utf8(bad)));
  }
}

TEST(Text, EachByteThatIsNoUtf8BecomesOneReplacement) {
  EXPECT_EQ(to_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_utf8("\xE2\x82\x41"), "\xEF\xBF\xBD\xEF\xBF\xBD\x41");
}

TEST(Text, OfALongOneTheBeginningIsRepeated) {
  EXPECT_EQ(shortened("short"), "short");
  EXPECT_EQ(shortened(std::string(5'000'000, 'a')), std::string(200, 'a') + "...");
  EXPECT_EQ(shortened("a\u00e9b", 2), "a...");
  EXPECT_EQ(shortened("\xbf\xbf\xbf\xbf\xbf\xbf\xbf", 6), "\xbf\xbf\xbf\xbf\xbf\xbf...");
  EXPECT_EQ(shortened_sentence("a.yaml:1:1: unknown key \"" + std::string(4000, 'k') +
                               "\"; expected a fact"),
            "a.yaml:1:1: unknown key \"" + std::string(199, 'k') + "...\"; expected a fact");
  std::string words;
  for (int i = 0; i < 100'000; ++i) {
    words += "word ";
  }
  const std::string said = shortened_sentence("a.yaml: " + words + "expected a fact");
  EXPECT_LE(said.size(), 2100u);
  EXPECT_TRUE(said.starts_with("a.yaml: word "));
  EXPECT_TRUE(said.ends_with("word expected a fact"));
}

}  // namespace
}  // namespace goldenv
