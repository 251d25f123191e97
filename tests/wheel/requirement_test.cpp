#include "wheel/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MarkerEnvironment target() { return linux_environment("3.11.7", "x86_64"); }

Truth judged(std::string_view text, const MarkerEnvironment& environment = target()) {
  const auto marker = parse_marker(text);
  EXPECT_TRUE(marker) << marker.error().message;
  return marker ? evaluate(*marker, environment) : Truth::unknown;
}

std::string marker_fault(std::string_view text) {
  const auto marker = parse_marker(text);
  return marker ? "parsed" : marker.error().message;
}

std::string fault(std::string_view text) {
  const auto requirement = parse_requirement(text);
  return requirement ? "parsed" : requirement.error().message;
}

TEST(Requirement, HasAllItsParts) {
  const auto requirement =
      parse_requirement("Foo.bar [x, Y] (>=1.0 , !=1.5) ; extra == 'test' and os_name=='posix'");
  ASSERT_TRUE(requirement) << requirement.error().message;
  EXPECT_EQ(requirement->name, "Foo.bar");
  EXPECT_THAT(requirement->extras, ElementsAre("x", "Y"));
  EXPECT_EQ(render(requirement->specifiers), ">=1.0,!=1.5");
  EXPECT_EQ(render(*requirement->marker), "extra == \"test\" and os_name == \"posix\"");
  const auto url = parse_requirement("a[b] @ https://h/a.whl#sha256=1 ; os_name == 'nt'");
  ASSERT_TRUE(url) << url.error().message;
  EXPECT_EQ(url->url, "https://h/a.whl#sha256=1");
  EXPECT_TRUE(url->marker);
}

TEST(Requirement, RenderIsReadBackAsTheSame) {
  const auto rendered = [](std::string_view text) { return render(*parse_requirement(text)); };
  EXPECT_EQ(rendered("foo"), "foo");
  EXPECT_EQ(rendered("foo @ file:///etc/passwd"), "foo @ file:///etc/passwd");
  EXPECT_EQ(rendered("Foo.bar [x, Y] (>=1.0 , !=1.5) ; os_name=='nt'"),
            "Foo.bar[x,Y]>=1.0,!=1.5; os_name == \"nt\"");
  for (const std::string_view text :
       {"a", "a[b]", "a[b,c]==1.*,!=1.2", "a===x", "a @ https://h/a.whl#sha256=1;x",
        "a[b] @ https://h/a.whl ; os_name == 'nt'", "a~=1.0; extra == 'x' or os_name == 'nt'"}) {
    const auto first = parse_requirement(text);
    ASSERT_TRUE(first) << text;
    EXPECT_EQ(parse_requirement(render(*first)).value_or(Requirement{}), *first) << render(*first);
  }
}

TEST(Requirement, FaultsSayWhereAndWhat) {
  EXPECT_EQ(fault(""), "\"\" is no requirement: expected the name of a package at byte 1");
  EXPECT_EQ(fault("a b"), "\"b\" is no specifier: expected ==, !=, >=, >, <=, <, ~= or ===");
  EXPECT_EQ(fault("a 3.8.*"),
            "\"3.8.*\" is no specifier: expected ==, !=, >=, >, <=, <, ~= or ===");
  EXPECT_EQ(fault("a[b"), "\"a[b\" is no requirement: expected \",\" or \"]\" at byte 4");
  EXPECT_EQ(fault("a (>=1"), "\"a (>=1\" is no requirement: expected \")\" at byte 7");
  EXPECT_EQ(fault("a @ b"), "\"a @ b\" is no requirement: expected a URL behind @ at byte 5");
  EXPECT_EQ(fault("a>=1,,<2"), "\"a>=1,,<2\" is no requirement: empty clause at byte 2");
  EXPECT_EQ(fault("a>=1)"), "\"a>=1)\" is no requirement: expected \";\" or the end at byte 5");
  EXPECT_EQ(fault("a @ https://u:secret@h/a ,"),
            "\"a @ https://***@h/a ,\" is no requirement: expected \";\" or the end at byte 26");
  EXPECT_THAT(fault(std::string(40'000, 'a')), HasSubstr("longer than 32768 bytes"));
}

TEST(Specifiers, WhatNothingCanMeetIsNoError) {
  const auto none = parse_specifiers(">=2,<1");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(contains(*none, "1.5"));
  EXPECT_TRUE(contains(*parse_specifiers(""), "1.5"));
  EXPECT_TRUE(contains(*parse_specifiers("===foo"), "Foo"));
  EXPECT_FALSE(contains(*parse_specifiers(">=0"), "foo"));
}

TEST(Specifiers, OnlyOneVersionIsExact) {
  const auto exact = [](std::string_view text) { return exact_version(*parse_specifiers(text)); };
  EXPECT_EQ(exact("==2.2.1+cu121"), "2.2.1+cu121");
  EXPECT_EQ(exact("=== 1.0"), "1.0");
  for (const std::string_view loose : {"==2.*", ">=2", "~=2.0", "==2,!=3", "", "===latest"}) {
    EXPECT_EQ(exact(loose), "") << loose;
  }
}

TEST(Marker, AndBindsTighterThanOr) {
  EXPECT_EQ(judged("os_name == 'posix' or os_name == 'nt' and os_name == 'x'"), Truth::yes);
  EXPECT_EQ(judged("(os_name == 'posix' or os_name == 'nt') and os_name == 'x'"), Truth::no);
}

TEST(Marker, VersionsAreComparedAsVersionsAndTextsAsTexts) {
  EXPECT_EQ(judged("python_version >= '3.9'"), Truth::yes);
  EXPECT_EQ(judged("'3.9' <= python_version"), Truth::yes);
  EXPECT_EQ(judged("python_full_version < '3.11.10'"), Truth::yes);
  EXPECT_EQ(judged("python_version in '3.9 3.11'"), Truth::yes);
  EXPECT_EQ(judged("python_version not in '3.9 3.10'"), Truth::yes);
  EXPECT_EQ(judged("platform_machine >= 'x86'"), Truth::yes);
  EXPECT_EQ(judged("sys.platform == 'linux' and python_implementation == 'CPython'"), Truth::yes);
}

TEST(Marker, WhatIsNotKnownStaysUnknownUnlessTheRestDecides) {
  EXPECT_EQ(judged("platform_release >= '5'"), Truth::unknown);
  EXPECT_EQ(judged("platform_release >= '5' and os_name == 'nt'"), Truth::no);
  EXPECT_EQ(judged("platform_release >= '5' or os_name == 'posix'"), Truth::yes);
  EXPECT_EQ(judged("os_name ~= 'posix'"), Truth::unknown);
  EXPECT_EQ(judged("platform_machine == 'x86_64'", linux_environment("3.11.7", "")),
            Truth::unknown);
  EXPECT_EQ(judged("python_full_version >= '3.11.1'", linux_environment("3.11", "x86_64")),
            Truth::unknown);
}

TEST(Marker, ExtrasAreNormalisedAndAnyOneSuffices) {
  const auto marker = parse_marker("extra == 'Foo_Bar'");
  ASSERT_TRUE(marker);
  EXPECT_EQ(holds(*marker, target(), {"x", "foo.bar"}), Truth::yes);
  EXPECT_EQ(holds(*marker, target(), {"x"}), Truth::no);
  EXPECT_EQ(holds(*marker, target(), {}), Truth::no);
  MarkerEnvironment environment = target();
  environment.extras = {"A-b"};
  environment.dependency_groups = {"dev"};
  EXPECT_EQ(judged("'a_b' in extras and 'test' not in dependency_groups", environment), Truth::yes);
  EXPECT_EQ(judged("'dev' in extras", environment), Truth::no);
}

TEST(Marker, FaultsSayWhereAndWhat) {
  EXPECT_EQ(marker_fault("os_name = 'x'"),
            "\"os_name = 'x'\" is no marker: expected an operator (<=, <, !=, ==, >=, >, ~=, ===, "
            "in, not in) at byte 9");
  EXPECT_EQ(marker_fault("foo == 'x'"),
            "\"foo == 'x'\" is no marker: expected a variable or a text in quotes at byte 1");
  EXPECT_EQ(marker_fault("os_name == 'x"),
            "\"os_name == 'x\" is no marker: unclosed quote at byte 12");
  EXPECT_EQ(marker_fault("os_name == 'x' os_name"),
            "\"os_name == 'x' os_name\" is no marker: expected and, or, or the end at byte 16");
  EXPECT_EQ(marker_fault("(os_name == 'x'"),
            "\"(os_name == 'x'\" is no marker: expected \")\" at byte 16");
  EXPECT_THAT(marker_fault(std::string(10'000, '(')), HasSubstr("nested too deeply at byte 65"));
  EXPECT_THAT(marker_fault(std::string(20'000, ' ')), HasSubstr("longer than 16384 bytes"));
}

TEST(Marker, RenderIsReadBackAsTheSame) {
  for (const std::string_view text :
       {"os_name == 'a\"b'", "(os_name == 'a' or os_name == 'b') and 'c' in extras",
        "os_name == 'a' or (os_name == 'b' and (os_name == 'c' or os_name == 'd'))"}) {
    const auto marker = parse_marker(text);
    ASSERT_TRUE(marker) << text;
    EXPECT_EQ(parse_marker(render(*marker)).value_or(Marker{}), *marker) << render(*marker);
  }
}

}  // namespace
}  // namespace goldenv::wheel
