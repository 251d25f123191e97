#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "version/version.h"

namespace goldenv::version {
namespace {

constexpr Scheme kSchemes[] = {Scheme::dotted, Scheme::kernel, Scheme::debian,
                               Scheme::rpm,    Scheme::pep440, Scheme::conda};

Version made(Scheme scheme, std::string_view text) {
  Result<Version> version = parse(scheme, text);
  EXPECT_TRUE(version) << name(scheme) << " " << text << ": "
                       << (version ? "" : version.error().message);
  return version ? *version : Version{scheme, std::string(text)};
}

/// The texts stand in rising order; each row's own texts are of equal order.
void expect_rising(Scheme scheme, const std::vector<std::vector<std::string_view>>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string_view left : rows[i]) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        for (const std::string_view right : rows[j]) {
          EXPECT_EQ(order(made(scheme, left), made(scheme, right)), i <=> j)
              << name(scheme) << ": " << left << " and " << right;
        }
      }
    }
  }
}

TEST(Scheme, NameAndParseAreInverses) {
  for (const Scheme scheme : kSchemes) {
    const Result<Scheme> read = parse_scheme(name(scheme));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, scheme);
  }
  const Result<Scheme> none = parse_scheme("semver");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::malformed);
  EXPECT_EQ(none.error().message,
            "\"semver\" is no version scheme: dotted, kernel, debian, rpm, pep440 or conda");
}

TEST(Scheme, TextIsKeptToTheLetter) {
  struct Row {
    Scheme scheme;
    std::string_view text;
  };
  for (const Row& row : {
           Row{Scheme::dotted, "535.129.03"},
           Row{Scheme::dotted, "565.77"},
           Row{Scheme::dotted, "35.3.1"},
           Row{Scheme::dotted, "12.1.1"},
           Row{Scheme::dotted, "8.9.2.26"},
           Row{Scheme::dotted, "2.18.1.0.4.0"},
           Row{Scheme::dotted, "12.10"},
           Row{Scheme::dotted, "7"},
           Row{Scheme::kernel, "5.4.0-149-generic"},
           Row{Scheme::kernel, "6.1-arch1"},
           Row{Scheme::kernel, "5.14.0-362.el9"},
           Row{Scheme::kernel, "5.15.153.1-microsoft-standard-WSL2"},
           Row{Scheme::kernel, "5.15.0-1019-aws"},
           Row{Scheme::kernel, "5.4.143.abc.7-amd64"},
           Row{Scheme::kernel, "6.4.3-0_xyz20_node_2830_g3e5ab162667d"},
           Row{Scheme::kernel, "6.12.100+deb12-amd64"},
           Row{Scheme::debian, "1:535.129.03-0ubuntu0~22.04.1"},
           Row{Scheme::debian, "2.31-13+deb11u7"},
           Row{Scheme::rpm, "2:2.28-236.el8_9.7"},
           Row{Scheme::pep440, "2.2.1+cu121"},
           Row{Scheme::pep440, "2.3.0.dev20240122+cu121"},
           Row{Scheme::pep440, "1!2.0rc1.post2"},
           Row{Scheme::pep440, "V1.0-Alpha_3"},
           Row{Scheme::conda, "1.1.1w"},
           Row{Scheme::conda, "2024a"},
       }) {
    EXPECT_EQ(made(row.scheme, row.text).text, row.text);
    EXPECT_EQ(made(row.scheme, row.text).scheme, row.scheme);
  }
}

TEST(Scheme, MalformedTextSaysWhatIsWrongAndWhere) {
  struct Row {
    Scheme scheme;
    std::string_view text;
    std::string_view message;
  };
  for (
      const Row& row : {
          Row{Scheme::dotted, "535..03", R"("535..03" is no version: empty part after "535.")"},
          Row{Scheme::dotted, "535.", R"("535." is no version: empty part after "535.")"},
          Row{Scheme::dotted, ".5", R"(".5" is no version: empty part before ".5")"},
          Row{Scheme::dotted, "", R"("" is no version: it is empty)"},
          Row{Scheme::dotted, "v12.1",
              R"("v12.1" is no version: character "v" at its start, not a digit or a dot)"},
          Row{Scheme::dotted, "12.1rc",
              R"("12.1rc" is no version: character "r" after "12.1", not a digit or a dot)"},
          Row{Scheme::dotted, "12.1 ",
              R"("12.1 " is no version: character " " after "12.1", not a digit or a dot)"},
          Row{Scheme::dotted, "1\n",
              R"("1\x0a" is no version: character "\x0a" after "1", not a digit or a dot)"},
          Row{Scheme::kernel, "generic",
              R"("generic" is no version: character "g" at its start, not a number)"},
          Row{Scheme::kernel, "5..4", R"("5..4" is no version: empty part after "5.")"},
          Row{Scheme::kernel, "5.-1", R"("5.-1" is no version: empty part after "5.")"},
          Row{Scheme::kernel, "5.4 x", R"("5.4 x" is no version: character " " after "5.4")"},
          Row{Scheme::debian, "1:", R"("1:" is no version: no upstream version)"},
          Row{Scheme::debian, ":1", R"(":1" is no version: no epoch before its colon)"},
          Row{Scheme::debian, "a:1",
              R"("a:1" is no version: character "a" at its start in the epoch, which is a number)"},
          Row{Scheme::debian, "9999999999:1",
              R"("9999999999:1" is no version: its epoch is larger than 2147483647)"},
          Row{Scheme::debian, "a1",
              R"("a1" is no version: its upstream version starts with "a", not with a digit)"},
          Row{Scheme::debian, "1_2",
              R"("1_2" is no version: character "_" after "1" in the upstream version)"},
          Row{Scheme::debian, "1-", R"("1-" is no version: empty revision after "1-")"},
          Row{Scheme::debian, "1:1-1:2",
              R"("1:1-1:2" is no version: character ":" after "1:1-1" in the revision)"},
          Row{Scheme::rpm, "1.0-", R"("1.0-" is no version: empty release after "1.0-")"},
          Row{Scheme::rpm, "-1", R"("-1" is no version: no version at its start)"},
          Row{Scheme::rpm, "1:-1", R"("1:-1" is no version: no version after the epoch)"},
          Row{Scheme::rpm, "1-2-3", R"("1-2-3" is no version: character "-" after "1-2")"},
          Row{Scheme::pep440, "2..1", R"("2..1" is no version: empty part after "2.")"},
          Row{Scheme::pep440, "v", R"("v" is no version: no release number after "v")"},
          Row{Scheme::pep440, "torch",
              R"("torch" is no version: character "t" at its start, not a release number)"},
          Row{Scheme::pep440, "1.0+", R"("1.0+" is no version: empty local label after "1.0+")"},
          Row{Scheme::pep440, "1.0+a..b",
              R"("1.0+a..b" is no version: empty local label after "1.0+a.")"},
          Row{Scheme::pep440, "1.0+a!",
              R"("1.0+a!" is no version: character "!" after "1.0+a" in the local label)"},
          Row{Scheme::pep440, "1.0.x",
              R"("1.0.x" is no version: character "x" after "1.0.", where a, b, rc, post, dev or a local label may stand)"},
          Row{Scheme::conda, "1..2", R"("1..2" is no version: empty part after "1.")"},
          Row{Scheme::conda, "1_2-3", R"("1_2-3" is no version: character "-" after "1_2")"},
          Row{Scheme::conda, "x!1", R"("x!1" is no version: its epoch, before "!", is no number)"},
          Row{Scheme::conda, "1+", R"("1+" is no version: empty part after "1+")"},
      }) {
    const Result<Version> version = parse(row.scheme, row.text);
    ASSERT_FALSE(version) << name(row.scheme) << " " << row.text;
    EXPECT_EQ(version.error().code, Errc::malformed);
    EXPECT_EQ(version.error().message, row.message);
  }
}

TEST(Scheme, OverlongTextIsMalformedInEveryScheme) {
  for (const Scheme scheme : kSchemes) {
    EXPECT_TRUE(parse(scheme, std::string(256, '1')));
    const Result<Version> version = parse(scheme, std::string(257, '1'));
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code, Errc::malformed);
    EXPECT_NE(version.error().message.find("257 bytes"), std::string::npos);
    EXPECT_LT(version.error().message.size(), 200U);
  }
}

TEST(Scheme, NumbersBeyondMachineWordsKeepTheirOrder) {
  const std::string nines(200, '9');
  for (const Scheme scheme : kSchemes) {
    const Version large = made(scheme, "1." + nines);
    const Version larger = made(scheme, "1.1" + nines);
    const Version zeros = made(scheme, "1.000" + nines);
    EXPECT_TRUE(order(large, larger) < 0) << name(scheme);
    EXPECT_TRUE(order(large, zeros) == 0) << name(scheme);
    EXPECT_TRUE(order(made(scheme, "1.18446744073709551616"), made(scheme, "1.0")) > 0);
  }
}

TEST(DottedVersion, OrdersNumberByNumber) {
  expect_rising(Scheme::dotted, {{"7"},
                                 {"11.8"},
                                 {"12.1", "12.01", "012.1"},
                                 {"12.1.0", "12.1.00"},
                                 {"12.1.0.0"},
                                 {"12.1.1"},
                                 {"12.2"},
                                 {"12.10"},
                                 {"535.54.03"},
                                 {"535.129.01"},
                                 {"535.129.03", "535.129.3"},
                                 {"535.129.30"}});
}

TEST(KernelVersion, OrdersNumbersThenCandidatesThenWords) {
  expect_rising(Scheme::kernel, {{"5.4.0-9-generic"},
                                 {"5.4.0-149-aws"},
                                 {"5.4.0-149-generic", "5.4.0-149_generic"},
                                 {"5.4.0-150-generic"},
                                 {"5.15.0-1019-aws"},
                                 {"5.15.153.1-microsoft-standard-WSL2"},
                                 {"6.1-rc2"},
                                 {"6.1-rc3", "6.1.0-rc3"},
                                 {"6.1-rc10"},
                                 {"6.1", "6.1.0"},
                                 {"6.1-arch1", "6.1.0-arch1"},
                                 {"6.1-arch2"},
                                 {"6.1.0-9-amd64"},
                                 {"6.1.0-57-amd64"},
                                 {"6.1.2-arch1"}});
}

TEST(DebianVersion, OrdersAsPolicySays) {
  expect_rising(Scheme::debian, {{"1.0~~"},
                                 {"1.0~~a"},
                                 {"1.0~"},
                                 {"1.0~rc1-1"},
                                 {"1.0", "1.0-0", "0:1.0", "00:1.00"},
                                 {"1.0-1~bpo1"},
                                 {"1.0-1", "1.0-01"},
                                 {"1.0-1+b1"},
                                 {"1.0a-1"},
                                 {"1.0+dfsg-1"},
                                 {"1.0-1-1"},
                                 {"1.0.1-1"},
                                 {"1.10"},
                                 {"1:0.1"}});
}

// rpm 4.18's own rpm.vercmp orders their versions and releases alike.
TEST(RpmVersion, OrdersAsRpmDoes) {
  expect_rising(Scheme::rpm, {{"1.0~rc1"},
                              {"1.0~rc2"},
                              {"1.0"},
                              {"1.0-1~x"},
                              {"1.0-1", "0:1.0-1", "1.0-01", "1.00-1", "1_0-1"},
                              {"1.0-1.el8"},
                              {"1.0-1.el9"},
                              {"1.0-1.1"},
                              {"1.0^20240101-1"},
                              {"1.0a-1"},
                              {"1.0b-1"},
                              {"1.0.1-1"},
                              {"1.10-1"},
                              {"1:0.1-1"}});
}

TEST(Pep440Version, OrdersAsThePepSays) {
  expect_rising(Scheme::pep440, {{"1.dev0"},
                                 {"1.0.dev456", "1.0dev456", "1-DEV-456"},
                                 {"1.0a1.dev1"},
                                 {"1.0a1", "1.0alpha1", "v1.0.a.1", "1.0_A1"},
                                 {"1.0a2"},
                                 {"1.0b1.dev456"},
                                 {"1.0b1"},
                                 {"1.0b1.post345.dev456"},
                                 {"1.0b1.post345"},
                                 {"1.0rc0", "1.0c", "1.0rc", "1.0-pre", "1.0preview0"},
                                 {"1.0rc1"},
                                 {"1.0", "1", "1.0.0", "0!1.0", "01.00"},
                                 {"1.0+abc.5"},
                                 {"1.0+abc.7"},
                                 {"1.0+cu118", "1.0+CU118"},
                                 {"1.0+cu121"},
                                 {"1.0+5", "1.0+05"},
                                 {"1.0+5.a", "1.0+5-a", "1.0+5_A"},
                                 {"1.0+5.0"},
                                 {"1.0.post456.dev34"},
                                 {"1.0.post456", "1.0-456", "1.0r456", "1.0.rev456"},
                                 {"1.0.15"},
                                 {"1.1.dev1"},
                                 {"1!0.1"}});
}

// The order in conda's own documentation of VersionOrder, and its examples for openssl.
TEST(CondaVersion, OrdersAsCondaDoes) {
  expect_rising(Scheme::conda, {{"0.4", "0.4.0"},
                                {"0.4.1.rc", "0.4.1.RC"},
                                {"0.4.1"},
                                {"0.5a1"},
                                {"0.5b3"},
                                {"0.5C1"},
                                {"0.5"},
                                {"0.9.6"},
                                {"0.960923"},
                                {"1.0"},
                                {"1.0.1dev"},
                                {"1.0.1_"},
                                {"1.0.1a"},
                                {"1.0.1"},
                                {"1.0.1post.a"},
                                {"1.1dev1"},
                                {"1.1_"},
                                {"1.1a1"},
                                {"1.1.0dev1", "1.1.dev1"},
                                {"1.1.a1"},
                                {"1.1.0rc1"},
                                {"1.1+a"},
                                {"1.1.0", "1.1"},
                                {"1.1+0.1", "1.1+0_1"},
                                {"1.1.0post1", "1.1.post1"},
                                {"1.1post1"},
                                {"1996.07.12", "1996_7_12", "1996-7-12"},
                                {"1!0.4.1"},
                                {"1!3.1.1.6"},
                                {"2!0.4.1"}});
}

}  // namespace
}  // namespace goldenv::version
