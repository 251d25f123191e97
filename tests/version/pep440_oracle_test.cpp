// Python versions and specifiers against Python's own packaging.
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
constexpr std::size_t kSpecifiers = 6'000;

std::string drawn_number(Draw& draw) {
  constexpr std::array kNumbers{"0"sv,
                                "1"sv,
                                "2"sv,
                                "3"sv,
                                "10"sv,
                                "01"sv,
                                "00"sv,
                                "20231010"sv,
                                "18446744073709551616"sv,
                                "99999999999999999999999999999999"sv};
  return std::string(kNumbers[draw.below(draw.one_in(3) ? kNumbers.size() : 5)]);
}

std::string drawn_release(Draw& draw) {
  std::string release = drawn_number(draw);
  const std::size_t count = draw.below(4);
  for (std::size_t i = 0; i < count; ++i) release += "." + drawn_number(draw);
  return release;
}

/// [-_.]? word [-_.]? number?, in the spellings that are normalised away too.
template <std::size_t N>
std::string drawn_suffix(Draw& draw, const std::array<std::string_view, N>& words) {
  constexpr std::array kSeparators{""sv, ""sv, "."sv, "-"sv, "_"sv};
  std::string suffix(draw.of(kSeparators));
  suffix += draw.of(words);
  suffix += draw.of(kSeparators);
  if (!draw.one_in(4)) suffix += drawn_number(draw);
  return suffix;
}

std::string drawn_local(Draw& draw) {
  constexpr std::array kLabels{"cu118"sv, "cu121"sv, "CU121"sv,  "5"sv,   "05"sv,
                               "0"sv,     "abc"sv,   "git1a2"sv, "cpu"sv, "10"sv};
  constexpr std::array kSeparators{"."sv, "-"sv, "_"sv};
  std::string local = "+" + std::string(draw.of(kLabels));
  while (draw.one_in(3)) {
    local += draw.of(kSeparators);
    local += draw.of(kLabels);
  }
  return local;
}

std::string drawn_version(Draw& draw) {
  constexpr std::array kPre{"a"sv,    "b"sv,   "c"sv,       "rc"sv, "alpha"sv,
                            "beta"sv, "pre"sv, "preview"sv, "RC"sv, "Alpha"sv};
  constexpr std::array kPost{"post"sv, "rev"sv, "r"sv, "POST"sv};
  constexpr std::array kDev{"dev"sv, "DEV"sv};
  std::string version = draw.one_in(8) ? "v" : "";
  if (draw.one_in(6)) version += drawn_number(draw) + "!";
  version += drawn_release(draw);
  if (draw.one_in(3)) version += drawn_suffix(draw, kPre);
  if (draw.one_in(8)) {
    version += "-" + drawn_number(draw);
  } else if (draw.one_in(4)) {
    version += drawn_suffix(draw, kPost);
  }
  if (draw.one_in(4)) version += drawn_suffix(draw, kDev);
  if (draw.one_in(3)) version += drawn_local(draw);
  return version;
}

std::string drawn_neighbour(Draw& draw, const std::string& version) {
  switch (draw.below(5)) {
    case 0:
      return drawn_version(draw);
    case 1:
      return version + (draw.one_in(2) ? ".0" : drawn_local(draw));
    case 2:
      return version.substr(0, version.find('+'));
    default:
      return draw.nudged(version, "0190aAbcrdpv.-_+!");
  }
}

/// One line of answer per line of input, from one Python process with `packaging` at hand.
std::vector<std::string> lines_of_packaging(const std::string& program, const std::string& input) {
  const test::Ended ended = test::run({.argv = {"/usr/bin/python3", "-I", "-c", program},
                                       .input = input,
                                       .deadline = std::chrono::minutes(5)});
  EXPECT_EQ(ended.status, 0) << "install the package python3-packaging (and python3)\n"
                             << ended.err;
  std::vector<std::string> found;
  for (const std::string_view line : lines(ended.out)) found.emplace_back(line);
  return found;
}

std::string relation(const std::string& a, const std::string& b) {
  const Result<Version> left = parse(Scheme::pep440, a);
  const Result<Version> right = parse(Scheme::pep440, b);
  if (!left || !right)
    return std::string(left ? "valid " : "invalid ") + (right ? "valid" : "invalid");
  const auto seen = order(*left, *right);
  return seen < 0 ? "<" : (seen > 0 ? ">" : "=");
}

TEST(Pep440Oracle, OrdersAndRefusesTenThousandPairsAsPackagingDoes) {
  Draw draw(440);
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string input;
  while (pairs.size() < kPairs) {
    std::string a = drawn_version(draw);
    if (draw.one_in(10)) a = draw.nudged(a, "_-.+!x");
    std::string b = drawn_neighbour(draw, a);
    if (draw.one_in(2)) std::swap(a, b);
    input += a + "\t" + b + "\n";
    pairs.emplace_back(a, b);
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging.version import InvalidVersion, Version
def read(text):
    try:
        return Version(text)
    except InvalidVersion:
        return None
for line in sys.stdin:
    a, b = map(read, line.rstrip('\n').split('\t'))
    if a is None or b is None:
        print('invalid' if a is None else 'valid', 'invalid' if b is None else 'valid')
    else:
        print('<' if a < b else '>' if a > b else '=')
)",
                                                           input);
  ASSERT_EQ(said.size(), pairs.size());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [a, b] = pairs[i];
    EXPECT_EQ(relation(a, b), said[i]) << a << " and " << b;
    seen.insert(said[i]);
  }
  EXPECT_EQ(seen.size(), 6U) << "every relation, and each side invalid or both";
}

std::string drawn_specifier(Draw& draw, const std::string& version) {
  constexpr std::array kOperators{"=="sv, "!="sv, ">="sv, ">"sv, "<="sv, "<"sv};
  constexpr std::array kSuffixes{""sv, ""sv, "a1"sv, ".dev1"sv, ".post1"sv, "rc2.post1.dev3"sv};
  // packaging 23 knows suffixes after ~= in their normal spelling only.
  switch (draw.below(6)) {
    case 0:
      return "~=" + drawn_release(draw) + "." + drawn_number(draw) +
             std::string(draw.of(kSuffixes));
    case 1:
      return (draw.one_in(3) ? "!=" : "==") + drawn_release(draw) + ".*";
    case 2: {
      const Result<Version> parsed = parse(Scheme::pep440, version);
      const std::size_t end = version.find_first_not_of("0123456789.");
      const std::string release = parsed ? version.substr(0, end) : "";
      if (!release.empty() && release.back() != '.' &&
          (end == std::string::npos || version[end] != '!')) {
        return (draw.one_in(3) ? "!=" : "==") + release + ".*";
      }
      return ">=" + drawn_release(draw);
    }
    case 3:
      return std::string(draw.of(kOperators)) + version.substr(0, version.find('+'));
    case 4:
      return (draw.one_in(2) ? "==" : "!=") + version;
    default:
      return std::string(draw.of(kOperators)) + drawn_version(draw);
  }
}

TEST(Pep440Oracle, SpecifiersContainWhatTheyDoInPackaging) {
  Draw draw(508);
  struct Row {
    std::string specifier, version;
  };
  std::vector<Row> rows;
  std::string input;
  while (rows.size() < kSpecifiers) {
    std::string version = drawn_version(draw);
    const std::string base = draw.one_in(4) ? version : drawn_neighbour(draw, version);
    std::string specifier = drawn_specifier(draw, base);
    while (draw.one_in(3)) specifier += "," + drawn_specifier(draw, base);
    // packaging 23 takes an epoch for no number when it pads a version with zeros for a wildcard,
    // so that "==0.*" contains "1!3.10"; later ones do not.
    if (specifier.find_first_of("*~") != std::string::npos) {
      version.erase(0, version.find('!') + 1);
    }
    input += specifier + "\t" + version + "\n";
    rows.push_back({specifier, version});
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging.specifiers import InvalidSpecifier, SpecifierSet
for line in sys.stdin:
    specifier, version = line.rstrip('\n').split('\t')
    try:
        contained = SpecifierSet(specifier).contains(version, prereleases=True)
        print('yes' if contained else 'no')
    except InvalidSpecifier:
        print('invalid')
)",
                                                           input);
  ASSERT_EQ(said.size(), rows.size());
  std::size_t conflicts = 0;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    seen.insert(said[i]);
    const Result<Constraint> constraint = parse_constraint(Scheme::pep440, row.specifier);
    if (!constraint && constraint.error().message.rfind("no version can meet", 0) == 0) {
      EXPECT_EQ(said[i], "no") << row.specifier << " and " << row.version;
      ++conflicts;
      continue;
    }
    std::string mine = "invalid";
    if (constraint) {
      const Truth met = meets(*constraint, Version{Scheme::pep440, row.version});
      mine = met == Truth::yes ? "yes" : (met == Truth::no ? "no" : "unknown");
    }
    EXPECT_EQ(mine, said[i]) << row.specifier << " and " << row.version;
  }
  EXPECT_EQ(seen, (std::set<std::string>{"invalid", "no", "yes"}));
  EXPECT_GT(conflicts, 50U);
  EXPECT_LT(conflicts, kSpecifiers / 2);
}

}  // namespace
}  // namespace goldenv::version
