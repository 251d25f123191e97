// Specifier sets, markers and requirements against Python's own packaging.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "version/draw.h"
#include "wheel/packaging_oracle.h"
#include "wheel/requirement.h"

namespace goldenv::wheel {
namespace {

using namespace std::string_view_literals;
using version::Draw;

constexpr std::array kVersions{"3.8"sv,    "3.9"sv,         "3.10"sv,     "3.11"sv,
                               "3.11.7"sv, "3.11.0"sv,      "3.12.0a1"sv, "2.7"sv,
                               "4"sv,      "3.11.8.dev1"sv, "1.0+cu12"sv, "3.11.7.post1"sv};
constexpr std::array kOperators{"=="sv, "!="sv, ">="sv, "<="sv, ">"sv, "<"sv, "~="sv, "==="sv};

std::string drawn_specifiers(Draw& draw) {
  std::string out;
  const std::size_t count = 1 + draw.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += draw.one_in(2) ? "," : " , ";
    std::string version(draw.of(kVersions));
    const std::string_view op = draw.of(kOperators);
    if (draw.one_in(4) && (op == "==" || op == "!=")) version += ".*";
    out += std::string(op) + (draw.one_in(5) ? " " : "") + version;
  }
  return out;
}

std::string drawn_comparison(Draw& draw) {
  constexpr std::array kVariables{"python_version"sv,
                                  "python_full_version"sv,
                                  "os_name"sv,
                                  "os.name"sv,
                                  "sys_platform"sv,
                                  "sys.platform"sv,
                                  "platform_system"sv,
                                  "platform_machine"sv,
                                  "platform.machine"sv,
                                  "platform_release"sv,
                                  "implementation_name"sv,
                                  "implementation_version"sv,
                                  "platform_python_implementation"sv,
                                  "python_implementation"sv,
                                  "extra"sv};
  constexpr std::array kTexts{"posix"sv,    "linux"sv, "Linux"sv,         "x86_64"sv,  "CPython"sv,
                              "cpython"sv,  "win32"sv, "Foo_Bar"sv,       "foo-bar"sv, ""sv,
                              "3.9 3.11"sv, "6.1"sv,   "6.1.0-57-amd64"sv};
  const std::string variable(draw.of(kVariables));
  const bool about_version = variable.find("version") != std::string::npos;
  std::string literal(about_version == draw.one_in(6) ? draw.of(kTexts) : draw.of(kVersions));
  if (about_version && draw.one_in(5)) literal += ".*";
  const std::string quote = draw.one_in(2) ? "'" : "\"";
  literal = quote + literal + quote;
  std::string op(draw.one_in(4) ? (draw.one_in(2) ? " in "sv : " not in "sv) : draw.of(kOperators));
  if (draw.one_in(2)) op = " " + op + " ";
  return draw.one_in(5) ? literal + op + variable : variable + op + literal;
}

std::string drawn_marker(Draw& draw, std::size_t depth = 0) {
  std::string out = depth < 3 && draw.one_in(3) ? "(" + drawn_marker(draw, depth + 1) + ")"
                                                : drawn_comparison(draw);
  while (draw.one_in(3)) {
    out += draw.one_in(2) ? " and " : " or ";
    out += drawn_comparison(draw);
  }
  return out;
}

TEST(SpecifiersOracle, SetsContainWhatTheyDoInPackaging) {
  Draw draw(1440);
  std::vector<std::pair<std::string, std::string>> rows;
  std::string input;
  while (rows.size() < 3000) {
    std::string specifiers = drawn_specifiers(draw);
    if (draw.one_in(6)) specifiers = draw.nudged(specifiers, "=<>~.1*, ");
    const std::string version(draw.of(kVersions));
    input += specifiers + "\t" + version + "\n";
    rows.emplace_back(std::move(specifiers), version);
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging.specifiers import InvalidSpecifier, SpecifierSet
for line in sys.stdin:
    specifier, version = line.rstrip('\n').split('\t')
    try:
        print('yes' if SpecifierSet(specifier).contains(version, prereleases=True) else 'no')
    except InvalidSpecifier:
        print('invalid')
)",
                                                           input);
  ASSERT_EQ(said.size(), rows.size());
  std::set<std::string> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto specifiers = parse_specifiers(rows[i].first);
    const std::string mine =
        specifiers ? (contains(*specifiers, rows[i].second) ? "yes" : "no") : "invalid";
    EXPECT_EQ(mine, said[i]) << rows[i].first << " and " << rows[i].second;
    seen.insert(mine);
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST(MarkerOracle, MarkersHoldWhereTheyDoInPackaging) {
  Draw draw(508);
  std::vector<std::string> markers;
  std::string input;
  while (markers.size() < 3000) {
    std::string marker = drawn_marker(draw);
    if (draw.one_in(8)) marker = draw.nudged(marker, "()'\" aodn=<");
    input += marker + "\n";
    markers.push_back(std::move(marker));
  }
  // packaging 23 gives up where a value that is no version meets one that is; later ones compare
  // the texts, which is what is done here. It also lets pass what stands behind a marker, and takes
  // the name of a variable for its value where both sides are variables.
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging import markers
from packaging.version import InvalidVersion
plain = markers._eval_op
def compare(left, op, right):
    try:
        return plain(left, op, right)
    except InvalidVersion:
        if op.serialize() == '===':
            return left.lower() == right.lower()
        operator = markers._operators.get(op.serialize())
        if operator is None:
            raise markers.UndefinedComparison('')
        return operator(left, right)
markers._eval_op = compare
environment = {
    'implementation_name': 'cpython', 'implementation_version': '3.11.7', 'os_name': 'posix',
    'platform_machine': 'x86_64', 'platform_release': '6.1.0-57-amd64',
    'platform_system': 'Linux', 'platform_version': '#1 SMP', 'python_full_version': '3.11.7',
    'platform_python_implementation': 'CPython', 'python_version': '3.11',
    'sys_platform': 'linux', 'extra': 'foo.bar'}
for line in sys.stdin:
    text = line.rstrip('\n')
    try:
        # Through a requirement, which reads a marker to its end.
        from packaging.requirements import InvalidRequirement, Requirement
        marker = Requirement('a;' + text).marker
        print('yes' if marker.evaluate(environment) else 'no')
    except InvalidRequirement:
        print('invalid')
    except markers.UndefinedComparison:
        print('unknown')
    except (KeyError, SyntaxError):
        print('skip')
)",
                                                           input);
  ASSERT_EQ(said.size(), markers.size());
  MarkerEnvironment environment = linux_environment("3.11.7", "x86_64");
  environment.platform_release = "6.1.0-57-amd64";
  environment.platform_version = "#1 SMP";
  environment.extra = "foo.bar";
  std::set<std::string> seen;
  std::size_t left_aside = 0;
  for (std::size_t i = 0; i < markers.size(); ++i) {
    const auto marker = parse_marker(markers[i]);
    std::string mine = "invalid";
    if (marker) {
      const Truth holds = evaluate(*marker, environment);
      mine = holds == Truth::yes ? "yes" : (holds == Truth::no ? "no" : "unknown");
    }
    seen.insert(mine);
    // Where one comparison has no answer the rest may still decide here.
    if (said[i] == "skip" || said[i] == "unknown") {
      ++left_aside;
      continue;
    }
    EXPECT_EQ(mine, said[i]) << markers[i];
  }
  EXPECT_LT(left_aside, 400U);
  EXPECT_EQ(seen.size(), 4U);
}

TEST(RequirementOracle, RequirementsAreReadAsPackagingDoes) {
  Draw draw(1508);
  constexpr std::array kNames{"numpy"sv, "Foo.bar"sv, "a"sv, "nvidia-nccl-cu12"sv, "x1"sv};
  constexpr std::array kExtras{""sv, ""sv, "[a]"sv, " [a, B]"sv, "[]"sv, "[a b]"sv};
  std::vector<std::string> rows;
  std::string input;
  while (rows.size() < 3000) {
    std::string row = std::string(draw.of(kNames)) + std::string(draw.of(kExtras));
    switch (draw.below(5)) {
      case 0:
        break;
      case 1:
        row += " @ https://h/a-1-py3-none-any.whl ";
        break;
      case 2:
        row += " (" + drawn_specifiers(draw) + ")";
        break;
      default:
        row += (draw.one_in(2) ? " " : "") + drawn_specifiers(draw);
    }
    if (draw.one_in(3)) row += "; " + drawn_marker(draw);
    if (draw.one_in(5)) row = draw.nudged(row, "[]();,<=>1 ");
    // packaging has other rules for the ends of names and what may be a host.
    if (row.find("://h/") == std::string::npos && row.find('@') != std::string::npos) continue;
    if (row.find_first_of("._-[]") == 0) continue;
    // To packaging what follows === swallows commas, and of two equal clauses one is left.
    if (row.substr(0, row.find(';')).find("===") != std::string::npos) continue;
    if (row.find("3.11.0") != std::string::npos) continue;
    input += row + "\n";
    rows.push_back(std::move(row));
  }
  const std::vector<std::string> said = lines_of_packaging(R"(
import sys
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier
for line in sys.stdin:
    try:
        r = Requirement(line.rstrip('\n'))
        clauses = sorted(s.operator + s.version for s in r.specifier)
        print(r.name, ' '.join(sorted(r.extras)), ','.join(clauses), r.url or '',
              'marker' if r.marker else '', sep='|')
    except (InvalidRequirement, InvalidSpecifier, SyntaxError):
        print('invalid')
)",
                                                           input);
  ASSERT_EQ(said.size(), rows.size());
  std::size_t invalid = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto requirement = parse_requirement(rows[i]);
    std::string mine = "invalid";
    if (requirement) {
      std::set<std::string> extras(requirement->extras.begin(), requirement->extras.end());
      std::set<std::string> clauses;
      for (const Specifier& clause : requirement->specifiers.clauses) {
        clauses.insert(render(Specifiers{{clause}}));
      }
      mine = requirement->name + "|" + join({extras.begin(), extras.end()}, " ") + "|" +
             join({clauses.begin(), clauses.end()}, ",") + "|" + requirement->url + "|" +
             (requirement->marker ? "marker" : "");
    }
    EXPECT_EQ(mine, said[i]) << rows[i];
    if (!requirement) ++invalid;
  }
  EXPECT_GT(invalid, 300U);
  EXPECT_LT(invalid, 2500U);
}

}  // namespace
}  // namespace goldenv::wheel
