// Debian versions against dpkg itself.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "support/program.h"
#include "version/draw.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kPairs = 10'000;
constexpr std::size_t kTexts = 2'000;

constexpr std::string_view kAlphabet = "0190azAZ.+~--:";

std::string drawn_number(Draw& draw) {
  constexpr std::array kNumbers{"0"sv,
                                "00"sv,
                                "1"sv,
                                "01"sv,
                                "2"sv,
                                "9"sv,
                                "10"sv,
                                "010"sv,
                                "99"sv,
                                "535"sv,
                                "20231010"sv,
                                "18446744073709551615"sv,
                                "18446744073709551616"sv,
                                "99999999999999999999999999999999"sv};
  return std::string(draw.of(kNumbers));
}

std::string drawn_part(Draw& draw, bool with_hyphen) {
  constexpr std::array kBetween{"."sv,     "."sv,      "."sv,   "+"sv,  "~"sv,
                                "~~"sv,    "a"sv,      "Z"sv,   "rc"sv, "~rc"sv,
                                "+dfsg"sv, "ubuntu"sv, ".z~"sv, "+~"sv, "-"sv};
  std::string part = drawn_number(draw);
  const std::size_t count = draw.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view between = draw.of(kBetween);
    part += between == "-" && !with_hyphen ? "." : between;
    if (!draw.one_in(5)) part += drawn_number(draw);
  }
  return part;
}

std::string drawn_version(Draw& draw) {
  constexpr std::array kEpochs{"0:"sv, "1:"sv, "00:"sv, "01:"sv, "2147483647:"sv};
  constexpr std::array kRevisions{"-0"sv, "-00"sv, "-1"sv, "-~"sv, "-+"sv, "-a"sv, "-0ubuntu1"sv};
  std::string version = draw.one_in(3) ? std::string(draw.of(kEpochs)) : "";
  if (!version.empty() && draw.one_in(6)) {
    version += drawn_part(draw, false) + ":" + drawn_part(draw, true);
  } else {
    version += drawn_part(draw, true);
  }
  if (draw.one_in(3)) {
    version += draw.of(kRevisions);
  } else if (draw.one_in(2)) {
    version += "-" + drawn_part(draw, false);
  }
  return version;
}

/// The other one of a pair: near enough that every rule decides some pairs.
std::string drawn_neighbour(Draw& draw, const std::string& version) {
  for (;;) {
    std::string near = version;
    switch (draw.below(5)) {
      case 0:
        near = drawn_version(draw);
        break;
      case 1:
        near = "0:" + near;
        break;
      case 2:
        near += draw.one_in(2) ? "-0" : "~";
        break;
      default:
        near = draw.nudged(near, kAlphabet);
    }
    if (parse(Scheme::debian, near)) return near;
  }
}

/// Lines that a shell script says about lines of input; one process for all of them.
std::vector<std::string> lines_of_dpkg(const std::string& script, const std::string& input) {
  const test::Ended ended = test::run(
      {.argv = {"/bin/sh", "-c", script}, .input = input, .deadline = std::chrono::minutes(10)});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  std::vector<std::string> found;
  for (const std::string_view line : lines(ended.out)) found.emplace_back(line);
  return found;
}

bool dpkg_is_there() { return test::run({.argv = {"/usr/bin/dpkg", "--version"}}).status == 0; }

std::string relation(std::strong_ordering order) {
  return order < 0 ? "lt" : (order > 0 ? "gt" : "eq");
}

// dpkg is asked whether it agrees, one process for each pair: lt, eq and gt exclude each other.
TEST(DebianOracle, OrdersTenThousandPairsAsDpkgDoes) {
  ASSERT_TRUE(dpkg_is_there()) << "install the package dpkg";
  Draw draw(20231010);
  std::vector<std::string> questions;
  std::string input;
  std::set<std::string> seen;
  while (questions.size() < kPairs) {
    const std::string a = drawn_version(draw);
    if (!parse(Scheme::debian, a)) continue;  // ends in a hyphen; below, dpkg judges those too
    const std::string b = drawn_neighbour(draw, a);
    const Version left{Scheme::debian, a};
    const Version right{Scheme::debian, b};
    EXPECT_EQ(order(right, left), 0 <=> order(left, right)) << a << " and " << b;
    seen.insert(relation(order(left, right)));
    questions.push_back(a + " " + relation(order(left, right)) + " " + b);
    input += questions.back() + "\n";
  }
  const std::vector<std::string> said = lines_of_dpkg(
      "while read -r a relation b; do"
      " if /usr/bin/dpkg --compare-versions \"$a\" $relation \"$b\"; then echo yes; else echo no; "
      "fi;"
      " done",
      input);
  ASSERT_EQ(said.size(), questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) EXPECT_EQ(said[i], "yes") << questions[i];
  EXPECT_EQ(seen, (std::set<std::string>{"eq", "gt", "lt"}));
}

TEST(DebianOracle, RefusesWhatDpkgRefuses) {
  ASSERT_TRUE(dpkg_is_there()) << "install the package dpkg";
  Draw draw(7);
  std::vector<std::string> texts;
  std::string input;
  while (texts.size() < kTexts) {
    std::string text = drawn_version(draw);
    const std::size_t nudges = draw.below(4);
    for (std::size_t i = 0; i < nudges; ++i) text = draw.nudged(text, "019aZ.+~-:_^!");
    // A leading hyphen is an option to dpkg, and its strtol reads a sign as part of an epoch.
    if (text.empty() || text[0] == '-' || text[0] == '+') continue;
    input += text + "\n";
    texts.push_back(text);
  }
  const std::vector<std::string> said = lines_of_dpkg(
      "while read -r a; do"
      " if /usr/bin/dpkg --validate-version \"$a\" 2>/dev/null; then echo yes; else echo no; fi;"
      " done",
      input);
  ASSERT_EQ(said.size(), texts.size());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(parse(Scheme::debian, texts[i]) ? "yes" : "no", said[i]) << texts[i];
    if (said[i] == "no") ++refused;
  }
  EXPECT_GT(refused, kTexts / 10);
  EXPECT_LT(refused, kTexts * 9 / 10);
}

}  // namespace
}  // namespace goldenv::version
