// What is said of constraints that nothing meets and of known prefixes, against a universe of small
// versions in which all of them can be tried.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "version/draw.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

using namespace std::string_view_literals;

/// Numbers up to 4 in up to five places; drawn operands stay below 4 and three places, so that
/// something lies between and beyond all of them.
const std::vector<std::string>& universe() {
  static const std::vector<std::string> versions = [] {
    std::vector<std::string> all;
    std::vector<std::string> longest{"0", "1", "2", "3", "4"};
    for (int places = 1; places <= 5; ++places) {
      all.insert(all.end(), longest.begin(), longest.end());
      std::vector<std::string> longer;
      for (const std::string& version : longest) {
        for (const char last : "01234"sv) longer.push_back(version + "." + last);
      }
      longest = longer;
    }
    return all;
  }();
  return versions;
}

std::string drawn_version(Draw& draw, std::size_t places) {
  std::string version(1, draw.of("0123"sv));
  for (std::size_t i = 1; i < places; ++i) version += std::string(".") + draw.of("0123"sv);
  return version;
}

std::string drawn_constraint(Draw& draw) {
  constexpr std::array kOperators{"=="sv, "!="sv, ">="sv, ">"sv, "<="sv, "<"sv, "!="sv};
  std::string text;
  const std::size_t count = 1 + draw.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ",";
    switch (draw.below(4)) {
      case 0:
        text += draw.one_in(3) ? "==" : "!=";
        text += drawn_version(draw, 1 + draw.below(3)) + ".*";
        break;
      case 1:
        text += "~=" + drawn_version(draw, 2 + draw.below(2));
        break;
      default:
        text += std::string(draw.of(kOperators)) + drawn_version(draw, 1 + draw.below(3));
    }
  }
  return text;
}

TEST(Satisfiable, DottedConstraintsAreRefusedExactlyWhereNothingMeetsThem) {
  Draw draw(31);
  std::size_t refused = 0;
  for (int round = 0; round < 250; ++round) {
    const std::string text = drawn_constraint(draw);
    const Result<Constraint> constraint = parse_constraint(Scheme::dotted, text);
    if (constraint) {
      bool met = false;
      for (const std::string& version : universe()) {
        met = met || meets(*constraint, Version{Scheme::dotted, version}) == Truth::yes;
        if (met) break;
      }
      EXPECT_TRUE(met) << text << " is accepted, and nothing meets it";
      continue;
    }
    ++refused;
    ASSERT_EQ(constraint.error().message.rfind("no version can meet", 0), 0U)
        << constraint.error().message;
    // Clause by clause, which parse on its own: all must refuse each version together.
    std::vector<Constraint> clauses;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const Result<Constraint> clause = parse_constraint(Scheme::dotted, rest.substr(0, comma));
      if (!clause) break;  // one clause that nothing meets: <0
      clauses.push_back(*clause);
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
    if (!rest.empty()) continue;
    for (const std::string& version : universe()) {
      bool all = true;
      for (const Constraint& clause : clauses) {
        all = all && meets(clause, Version{Scheme::dotted, version}) == Truth::yes;
        if (!all) break;
      }
      ASSERT_FALSE(all) << text << " is refused, and " << version << " meets it";
    }
  }
  EXPECT_GT(refused, 25U);
  EXPECT_LT(refused, 225U);
}

TEST(Satisfiable, PrefixIsDecidedExactlyWhereAllItsCompletionsAgree) {
  Draw draw(32);
  std::array<std::size_t, 3> seen{};
  for (int round = 0; round < 200; ++round) {
    const std::string text = drawn_constraint(draw);
    const std::string prefix = drawn_version(draw, 1 + draw.below(3));
    const Result<Constraint> constraint = parse_constraint(Scheme::dotted, text);
    if (!constraint) continue;
    bool some = false;
    bool others = false;
    for (const std::string& version : universe()) {
      if (!is_prefix(prefix, version)) continue;
      const bool met = meets(*constraint, Version{Scheme::dotted, version}) == Truth::yes;
      (met ? some : others) = true;
    }
    const Truth expected = some && others ? Truth::unknown : truth(some);
    EXPECT_EQ(meets_prefix(*constraint, prefix), expected) << prefix << " against " << text;
    ++seen[static_cast<std::size_t>(expected)];
  }
  for (const std::size_t count : seen) EXPECT_GT(count, 5U);
}

/// For the schemes whose order is looser: what is decided must hold for every completion tried.
TEST(Satisfiable, PrefixIsNeverDecidedAgainstACompletion) {
  struct Row {
    Scheme scheme;
    std::vector<std::string_view> operands, prefixes, tails;
  };
  const std::vector<Row> rows{
      {Scheme::pep440,
       {"1.0", "1.2", "1.2rc1", "1.2.post1", "1.2.dev3", "1.2.1", "2.0", "1!1.2", "1.2.0"},
       {"1", "1.2", "1.2.0", "1.2rc1", "1.2.post1", "2", "1!1.2"},
       {"", ".0", ".1", ".99", "rc1", ".dev0", ".post2", "+cu121", ".1rc1+cpu", ".0.post1"}},
      {Scheme::debian,
       {"1.2", "1.02", "1.2~rc1", "1.2-1", "1:1.2", "1.2+b1-0", "0.9", "1.10-1"},
       {"1", "1.2", "1.02", "1:1.2", "1.2-1", "1.2~rc1"},
       {"", ".1", "-1", "~1", "+b1", "-0ubuntu1~22.04", ".0-1"}},
      {Scheme::rpm,
       {"1.2", "1.2-1", "1.2~rc1", "1:1.2", "1.10-3", "0.9"},
       {"1", "1.2", "1:1.2", "1.2~rc1"},
       {"", ".1", "-1", "~1", "^2", "-1.el9", ".0-1"}},
      {Scheme::conda,
       {"1.2", "1.2.0", "1.2rc1", "1.2post", "1!1.2", "1.10"},
       {"1", "1.2", "1.2.0", "1!1.2"},
       {"", ".1", ".0", "_1", "rc1", ".dev0", "post1", "+1"}},
      {Scheme::kernel,
       {"5.4", "5.4.100", "5.15.0", "6.1.0-57-amd64", "5.4.0-149-generic", "5.4.0-150-generic"},
       {"5.4.0-149", "5.4.0-149-generic", "6.1.0-57", "5.15.3-x"},
       {"", "-generic", "-aws", "-amd64", ".1"}},
  };
  for (const Row& row : rows) {
    std::size_t decided = 0;
    for (const std::string_view operand : row.operands) {
      for (const std::string_view sign : {"==", "!=", ">=", ">", "<=", "<", "~=", "w", "W"}) {
        const std::string text = sign == "w"   ? std::string(operand) + ".*"
                                 : sign == "W" ? "!=" + std::string(operand) + ".*"
                                               : std::string(sign) + std::string(operand);
        const Result<Constraint> constraint = parse_constraint(row.scheme, text);
        if (!constraint) continue;  // this operator does not take that operand
        for (const std::string_view prefix : row.prefixes) {
          const Truth known = meets_prefix(*constraint, prefix);
          if (known == Truth::unknown) continue;
          ++decided;
          for (const std::string_view tail : row.tails) {
            const std::string whole = std::string(prefix) + std::string(tail);
            if (!parse(row.scheme, whole)) continue;
            const Truth met = meets(*constraint, Version{row.scheme, whole});
            EXPECT_TRUE(met == known || met == Truth::unknown)
                << name(row.scheme) << ": " << prefix << " is decided against " << text << ", "
                << whole << " is not so";
          }
        }
      }
    }
    EXPECT_GT(decided, 20U) << name(row.scheme);
  }
}

}  // namespace
}  // namespace goldenv::version
