#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "version/version.h"

namespace goldenv::version {
namespace {

Constraint made(Scheme scheme, std::string_view text) {
  Result<Constraint> constraint = parse_constraint(scheme, text);
  EXPECT_TRUE(constraint) << text << ": " << (constraint ? "" : constraint.error().message);
  return constraint ? *constraint : Constraint{};
}

Truth met(Scheme scheme, std::string_view constraint, std::string_view version) {
  Result<Version> parsed = parse(scheme, version);
  EXPECT_TRUE(parsed) << version;
  return meets(made(scheme, constraint), Version{scheme, std::string(version)});
}

TEST(Constraint, LooksLikeOneByOperatorCommaOrWildcard) {
  for (const std::string_view text :
       {">=5.5", "==12.1", "!=2.31", "~=2.2", "<2", "12.1.*", ">=1,<2", "1,2", " >1", "=12"}) {
    EXPECT_TRUE(looks_like_constraint(text)) << text;
  }
  for (const std::string_view text :
       {"12.1", "2.2.1+cu121", "", "5.4.0-149-generic", "1.*.2", "1:2.3~rc1-1", "*"}) {
    EXPECT_FALSE(looks_like_constraint(text)) << text;
  }
}

TEST(Constraint, ParseAndRenderAreInverses) {
  for (const auto& [scheme, written, rendered] :
       std::vector<std::tuple<Scheme, std::string_view, std::string_view>>{
           {Scheme::dotted, ">=12.1,<13", ">=12.1,<13"},
           {Scheme::dotted, " >= 12.1 ,\t< 13 ", ">=12.1,<13"},
           {Scheme::dotted, "12.1.*", "12.1.*"},
           {Scheme::dotted, "==12.1.*", "12.1.*"},
           {Scheme::dotted, "!=12.1.*,!=12.3.1", "!=12.1.*,!=12.3.1"},
           {Scheme::dotted, "==535.129.03", "==535.129.03"},
           {Scheme::pep440, "~=2.2,!=2.2.1+cu118", "~=2.2,!=2.2.1+cu118"},
           {Scheme::kernel, ">=5.5,!=5.15.0-119-generic", ">=5.5,!=5.15.0-119-generic"},
           {Scheme::debian, ">1:2.31-0ubuntu9,<=1:2.35-1~", ">1:2.31-0ubuntu9,<=1:2.35-1~"},
       }) {
    const Constraint constraint = made(scheme, written);
    EXPECT_EQ(render(constraint), rendered);
    EXPECT_EQ(made(scheme, rendered), constraint);
  }
}

TEST(Constraint, MalformedTextSaysWhatIsWrongAndAtWhichByte) {
  const std::string operators = ", expected ==, !=, >=, >, <=, < or ~=";
  for (
      const auto& [scheme, text, message] :
      std::vector<std::tuple<Scheme, std::string_view, std::string>>{
          {Scheme::dotted, "", R"("" is no constraint: empty clause at byte 1)"},
          {Scheme::dotted, ">=12,", R"(">=12," is no constraint: empty clause at byte 6)"},
          {Scheme::dotted, ">=12,<",
           R"(">=12,<" is no constraint: no version after "<" at byte 6)"},
          {Scheme::dotted, "=12",
           R"("=12" is no constraint: unknown operator at byte 1)" + operators},
          {Scheme::dotted, "===12",
           R"("===12" is no constraint: unknown operator at byte 1)" + operators},
          {Scheme::dotted, ">1,  =>12",
           R"(">1,  =>12" is no constraint: unknown operator at byte 6)" + operators},
          {Scheme::dotted, ">=12,13",
           R"(">=12,13" is no constraint: no operator before "13" at byte 6)" + operators},
          {Scheme::dotted, ">=12.*",
           R"(">=12.*" is no constraint: .* goes with == and != only at byte 3)"},
          {Scheme::dotted, "~=12",
           R"("~=12" is no constraint: ~= needs two numbers at least at byte 1)"},
          {Scheme::dotted, "< 12..1",
           R"("< 12..1" is no constraint: "12..1" is no version: empty part after "12." at byte 3)"},
          {Scheme::debian, "~=1.2",
           R"("~=1.2" is no constraint: ~= has no meaning for debian versions at byte 1)"},
          {Scheme::pep440, ">=2.2+cu121",
           R"(">=2.2+cu121" is no constraint: a local label (+...) has no order at byte 1)"},
          {Scheme::pep440, "2.2rc1.*",
           R"("2.2rc1.*" is no constraint: .* stands after release numbers only at byte 1)"},
          {Scheme::conda, "~=1.2a",
           R"("~=1.2a" is no constraint: ~= takes numbers and dots alone at byte 1)"},
          {Scheme::kernel, ">=5.4.0-149",
           R"(">=5.4.0-149" is no constraint: "5.4.0-149" is no version: character "-" after "5.4.0", not a digit or a dot at byte 3; the order of kernels is that of upstream levels, like 5.4 or 6.1.192)"},
      }) {
    const Result<Constraint> constraint = parse_constraint(scheme, text);
    ASSERT_FALSE(constraint) << text;
    EXPECT_EQ(constraint.error().code, Errc::malformed);
    EXPECT_EQ(constraint.error().message, message);
  }
}

TEST(Constraint, LengthAndNumberOfClausesAreBounded) {
  EXPECT_FALSE(parse_constraint(Scheme::dotted, ">=" + std::string(2000, '1')));
  std::string many = ">=1";
  for (int i = 0; i < 32; ++i) many += ",>=1";
  EXPECT_FALSE(parse_constraint(Scheme::dotted, many));
  EXPECT_TRUE(parse_constraint(Scheme::dotted, many.substr(4)));
}

TEST(Constraint, WhatNothingCanMeetIsAnError) {
  const std::vector<std::pair<Scheme, std::string_view>> rows{
      {Scheme::dotted, ">=2,<1"},
      {Scheme::dotted, "==1,==2"},
      {Scheme::dotted, ">2,<=2.0"},
      {Scheme::dotted, "==1.5,!=1.5.0"},
      {Scheme::dotted, ">=1,<=1,!=1"},
      {Scheme::dotted, "12.1.*,12.2.*"},
      {Scheme::dotted, "12.1.*,!=12.*"},
      {Scheme::dotted, "12.1.*,>=12.2"},
      {Scheme::dotted, "12.1.*,<12.1"},
      {Scheme::dotted, "~=12.1.3,>=12.2"},
      {Scheme::dotted, "~=12.1,~=13.1"},
      {Scheme::dotted, "~=12.1.3,12.1.2.*"},
      {Scheme::dotted, ">=12.0,<12.2,!=12.0.*,!=12.1.*"},
      {Scheme::dotted, "9.*,>=10"},
      {Scheme::pep440, ">=2.2,<2.2"},
      {Scheme::pep440, ">=2.2rc1,<2.2"},
      {Scheme::pep440, "==2.2,!=2.2.0"},
      {Scheme::pep440, "==2.2+cu118,==2.2+cu121"},
      {Scheme::pep440, "==2.2,==2.2+cu121,!=2.2+cu121"},
      {Scheme::pep440, ">=2.2,<=2.2,!=2.2"},
      {Scheme::pep440, "==2.2.post1,>2.2"},
      {Scheme::pep440, "2.2.*,>=2.3.dev0"},
      {Scheme::debian, ">=1:1,<2"},
      {Scheme::debian, ">1.0,<=1.0-0"},
      {Scheme::debian, ">=1.0,<=1.0,!=1.0-0"},
      {Scheme::debian, "535.129.*,>=550"},
      {Scheme::rpm, "==1.0-1,==1.0-2"},
      {Scheme::rpm, ">=1.0-2,<1.0"},
      {Scheme::rpm, ">1.0-2,<=1.0-2"},
      {Scheme::rpm, "==1.0,>2.0-1"},
      {Scheme::conda, "==1.1.1w,<1.1.1a"},
      {Scheme::conda, "==1.1,!=1.1.0"},
      {Scheme::kernel, ">=5.5,<5.4"},
      {Scheme::kernel, "==5.4.0-149-generic,>=5.5"},
      {Scheme::kernel, "5.4.*,>=5.5"},
      {Scheme::kernel, "==5.4.0-149-generic,==5.4.0-150-generic"},
      {Scheme::kernel, "==5.4.0-149-generic,5.15.*"},
      {Scheme::kernel, "==5.4.0-149-generic,!=5.4.0-149-generic"},
  };
  for (const auto& [scheme, text] : rows) {
    const Result<Constraint> constraint = parse_constraint(scheme, text);
    ASSERT_FALSE(constraint) << name(scheme) << " " << text;
    EXPECT_EQ(constraint.error().code, Errc::malformed);
    EXPECT_EQ(constraint.error().message.rfind("no version can meet \"", 0), 0U)
        << constraint.error().message;
  }
  EXPECT_EQ(parse_constraint(Scheme::dotted, ">=2,<1").error().message,
            R"(no version can meet ">=2,<1": ">=2" and "<1" exclude each other)");
  EXPECT_EQ(
      parse_constraint(Scheme::dotted, ">=1,<=1.0,!=1").error().message,
      R"(no version can meet ">=1,<=1.0,!=1": its clauses leave only "1", which "!=1" excludes)");
}

TEST(Constraint, WhatSomethingMayMeetIsNone) {
  for (const auto& [scheme, text] : std::vector<std::pair<Scheme, std::string_view>>{
           {Scheme::dotted, ">12.1,<12.1.1"},
           {Scheme::dotted, "==1.5,==1.5.0"},
           {Scheme::dotted, "!=1,!=2"},
           {Scheme::dotted, "12.*,12.1.*,!=12.1.3"},
           {Scheme::dotted, "12.1.*,>=12.1.5"},
           {Scheme::pep440, "==2.2,==2.2+cu121"},
           {Scheme::pep440, "==2.2,!=2.2+cu121"},
           {Scheme::pep440, ">=2.2,<=2.2,!=2.2+cu121"},
           {Scheme::pep440, ">2.2,<2.2.1"},
           {Scheme::pep440, ">=2.2rc1,<2.2rc3"},
           {Scheme::debian, ">=1.0,<=1.0"},
           {Scheme::debian, ">1.0,<1.0-1"},
           {Scheme::rpm, "==1.0,>1.0-2"},
           {Scheme::rpm, "==1.0,!=1.0-2"},
           {Scheme::rpm, ">1.0-2,<=1.0"},
           {Scheme::rpm, ">=1.0-2,<=1.0"},
           {Scheme::kernel, "5.15.*,>=5.15.100"},
           {Scheme::kernel, "==5.4.0-149-generic,>=5.4.100"},
           {Scheme::kernel, "5.15.0-1.*,>=5.15.100"},
       }) {
    EXPECT_TRUE(parse_constraint(scheme, text)) << name(scheme) << " " << text;
  }
}

TEST(Constraint, VersionMeetsItOrNot) {
  struct Row {
    Scheme scheme;
    std::string_view constraint, version;
    bool met;
  };
  for (const Row& row : {
           Row{Scheme::dotted, "==12.1", "12.1.0", true},
           Row{Scheme::dotted, "==12.1.0", "12.1", true},
           Row{Scheme::dotted, "==12.1", "12.1.1", false},
           Row{Scheme::dotted, "==535.129.3", "535.129.03", true},
           Row{Scheme::dotted, "!=12.1", "12.1.0", false},
           Row{Scheme::dotted, ">=12.1", "12.10", true},
           Row{Scheme::dotted, ">=12.1.0", "12.1", true},
           Row{Scheme::dotted, "<=12.1", "12.1.0", true},
           Row{Scheme::dotted, "<=8.9.2", "8.9.2.26", false},
           Row{Scheme::dotted, ">12.1", "12.1.0", false},
           Row{Scheme::dotted, ">12.1", "12.1.1", true},
           Row{Scheme::dotted, "<13", "12.9", true},
           Row{Scheme::dotted, ">=12.1,<13", "13.0", false},
           Row{Scheme::dotted, "12.1.*", "12.1.1", true},
           Row{Scheme::dotted, "12.1.*", "12.1", true},
           Row{Scheme::dotted, "12.1.*", "12.10", false},
           Row{Scheme::dotted, "12.0.*", "12", true},
           Row{Scheme::dotted, "!=12.1.*", "12.1.1", false},
           Row{Scheme::dotted, "~=12.1", "12.4.1", true},
           Row{Scheme::dotted, "~=12.1", "13.0", false},
           Row{Scheme::dotted, "~=12.1.1", "12.1.5", true},
           Row{Scheme::dotted, "~=12.1.1", "12.2", false},
           Row{Scheme::dotted, "~=12.1.1", "12.1", false},
           Row{Scheme::pep440, "==2.2.1", "2.2.1+cu121", true},
           Row{Scheme::pep440, "==2.2.1+cu118", "2.2.1+cu121", false},
           Row{Scheme::pep440, "==2.2.1+cu121", "2.2.1", false},
           Row{Scheme::pep440, ">=2.2", "2.2.0+cu121", true},
           Row{Scheme::pep440, "<=2.2", "2.2.0+cu121", true},
           Row{Scheme::pep440, ">2.2", "2.2.0+cu121", false},
           Row{Scheme::pep440, "<2.2", "2.2rc1", false},
           Row{Scheme::pep440, "<2.2rc2", "2.2rc1", true},
           Row{Scheme::pep440, ">=2.1", "2.2.dev20231010", true},
           Row{Scheme::pep440, "2.2.*", "2.2rc1+cu118", true},
           Row{Scheme::pep440, "~=2.2.post3", "2.3", true},
           Row{Scheme::pep440, "~=1!2.0.0", "1!2.0", true},
           Row{Scheme::pep440, "1!2.0.*", "1!2", true},
           Row{Scheme::pep440, "2.0.*", "1!2", false},
           Row{Scheme::debian, ">=2.31", "2.31-0ubuntu9.9", true},
           Row{Scheme::debian, "<=2.31", "2.31-0ubuntu9.9", false},
           Row{Scheme::debian, "==2.31-0", "0:2.31", true},
           Row{Scheme::debian, "535.129.*", "535.129.03-0ubuntu1", true},
           Row{Scheme::debian, "535.12.*", "535.129.03-0ubuntu1", false},
           Row{Scheme::debian, "535.129.*", "1:535.129.03-1", false},
           Row{Scheme::debian, "!=2.31-0ubuntu9.*", "2.31-0ubuntu9.2", false},
           Row{Scheme::rpm, "<=2.28", "2.28-236.el8", true},
           Row{Scheme::rpm, "==2.28", "2.28-236.el8", true},
           Row{Scheme::rpm, ">2.28", "2.28-236.el8", false},
           Row{Scheme::rpm, ">=2.28-240", "2.28-236.el8", false},
           Row{Scheme::conda, "==1.1", "1.1.0", true},
           Row{Scheme::conda, "<1.1.1", "1.1.1a", true},
           Row{Scheme::conda, "1.1.*", "1.1.1w", true},
           Row{Scheme::conda, "1.1.*", "1.10", false},
           Row{Scheme::conda, "~=1.1.1", "1.1.9", true},
           Row{Scheme::conda, "~=1.1.1", "1.2", false},
           Row{Scheme::kernel, "==5.4.0-149-generic", "5.4.0-149-generic", true},
           Row{Scheme::kernel, "==5.4.0-149-generic", "5.4.0-149_generic", false},
           Row{Scheme::kernel, "!=5.4.0-149-generic", "5.4.0-150-generic", true},
           Row{Scheme::kernel, "5.4.*", "5.4.0-150-generic", true},
           Row{Scheme::kernel, "5.4.0.*", "5.4-arch1", false},
           Row{Scheme::kernel, "5.4.0-150.*", "5.4.0-150-generic", true},
           Row{Scheme::kernel, ">=5.5", "5.4.0-150-generic", false},
           Row{Scheme::kernel, ">=5.5,!=6.1.0-57-amd64", "6.1.0-57-amd64", false},
           Row{Scheme::kernel, ">=5.5", "6.1.0-57-amd64", true},
           Row{Scheme::kernel, ">=6.1.50", "6.1.99-arch1", true},
       }) {
    EXPECT_EQ(met(row.scheme, row.constraint, row.version), truth(row.met))
        << row.version << " against " << row.constraint;
  }
}

TEST(Constraint, KernelOrderIsThatOfTheUpstreamLevel) {
  const Constraint patched = made(Scheme::kernel, ">=6.1.100");
  EXPECT_EQ(meets(patched, Version{Scheme::dotted, "6.1.192"}), Truth::yes);
  EXPECT_EQ(meets(patched, Version{Scheme::dotted, "6.1"}), Truth::no);
  EXPECT_EQ(meets(patched, Version{Scheme::kernel, "6.1.0-57-amd64"}), Truth::unknown);
  EXPECT_EQ(meets(made(Scheme::kernel, ">=6.1"), Version{Scheme::dotted, "6.1.0"}), Truth::yes);
  EXPECT_EQ(meets(made(Scheme::kernel, "<=6.1.0"), Version{Scheme::dotted, "6.1"}), Truth::yes);

  const Version release{Scheme::kernel, "6.1.0-57-amd64"};
  const Constraint both = made(Scheme::kernel, ">=6.1.100,!=6.1.0-58-amd64");
  EXPECT_EQ(meets_kernel(both, release, Upstream{"6.1.192", true}), Truth::yes);
  EXPECT_EQ(meets_kernel(both, release, Upstream{"6.1.99", true}), Truth::no);
  EXPECT_EQ(meets_kernel(both, release, Upstream{"6.1", false}), Truth::unknown);
  EXPECT_EQ(meets_kernel(both, release, Upstream{"5.10", false}), Truth::no);
  EXPECT_EQ(meets_kernel(both, Version{Scheme::kernel, "6.1.0-58-amd64"}, Upstream{"6.1", false}),
            Truth::no);
  EXPECT_EQ(render(ordered_clauses(both)), ">=6.1.100");
  EXPECT_EQ(render(exact_clauses(both)), "!=6.1.0-58-amd64");
}

TEST(Constraint, VersionOfAnotherSchemeIsReadAnew) {
  EXPECT_EQ(meets(made(Scheme::pep440, ">=2.2"), Version{Scheme::dotted, "2.3"}), Truth::yes);
  EXPECT_EQ(meets(made(Scheme::dotted, ">=2.2"), Version{Scheme::pep440, "2.3rc1"}),
            Truth::unknown);
}

}  // namespace
}  // namespace goldenv::version
