#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "version/version.h"

namespace goldenv::version {
namespace {

TEST(VersionPrefix, EndsAtABoundaryOfTheWhole) {
  struct Row {
    std::string_view prefix, full;
    bool is;
  };
  for (const Row& row : {
           Row{"570.124", "570.124.06", true},
           Row{"570.12", "570.124.06", false},
           Row{"570.124.06", "570.124.06", true},
           Row{"570.124.06", "570.124", false},
           Row{"570.", "570.124", true},
           Row{"", "570.124", true},
           Row{"5.15.0-119-gen", "5.15.0-119-generic", false},
           Row{"5.15.0-119", "5.15.0-119-generic", true},
           Row{"2.2", "2.2rc1", true},
           Row{"571", "570.124", false},
       }) {
    EXPECT_EQ(is_prefix(row.prefix, row.full), row.is) << row.prefix << " of " << row.full;
  }
}

TEST(VersionPrefix, MeetsOnlyWhatEveryCompletionMeets) {
  struct Row {
    Scheme scheme;
    std::string_view constraint, prefix;
    Truth met;
  };
  for (const Row& row : {
           Row{Scheme::dotted, ">=570", "570.124", Truth::yes},
           Row{Scheme::dotted, ">=570.124", "570.124", Truth::yes},
           Row{Scheme::dotted, ">=570.124.06", "570.124", Truth::unknown},
           Row{Scheme::dotted, ">570.124", "570.124", Truth::unknown},
           Row{Scheme::dotted, ">570.123.99", "570.124", Truth::yes},
           Row{Scheme::dotted, "<570.125", "570.124", Truth::yes},
           Row{Scheme::dotted, "<570.124", "570.124", Truth::no},
           Row{Scheme::dotted, "<=570.124", "570.124", Truth::unknown},
           Row{Scheme::dotted, "==570.124.06", "570.124", Truth::unknown},
           Row{Scheme::dotted, "==570.125.06", "570.124", Truth::no},
           Row{Scheme::dotted, "!=570.125.06", "570.124", Truth::yes},
           Row{Scheme::dotted, "570.*", "570.124", Truth::yes},
           Row{Scheme::dotted, "570.124.*", "570.124", Truth::yes},
           Row{Scheme::dotted, "570.124.6.*", "570.124", Truth::unknown},
           Row{Scheme::dotted, "!=570.124.*", "570.124", Truth::no},
           Row{Scheme::dotted, "~=570.100", "570.124", Truth::yes},
           Row{Scheme::dotted, "~=570.100", "571", Truth::no},
           Row{Scheme::dotted, "!=570.124.*,>=570.123,<571", "570.124", Truth::no},
           Row{Scheme::dotted, ">=570.124.6,!=570.124.7.*", "570.124", Truth::unknown},
           Row{Scheme::dotted, ">=1", "", Truth::unknown},
           Row{Scheme::dotted, ">=1", "x", Truth::unknown},
           Row{Scheme::pep440, ">=2.1", "2.2", Truth::yes},
           Row{Scheme::pep440, ">=2.2", "2.2", Truth::unknown},  // 2.2rc1 is less
           Row{Scheme::pep440, "<2.2", "2.2", Truth::no},
           Row{Scheme::pep440, "<2.3", "2.2", Truth::yes},
           Row{Scheme::pep440, ">2.1", "2.2", Truth::yes},
           Row{Scheme::pep440, ">2.2.dev0", "2.2", Truth::unknown},
           Row{Scheme::pep440, "2.2.*", "2.2", Truth::yes},
           Row{Scheme::pep440, "==2.2.1", "2.2.1+cu121", Truth::yes},
           Row{Scheme::pep440, "==2.2.1+cu121.x", "2.2.1+cu121", Truth::unknown},
           Row{Scheme::pep440, "==2.2.2+cu121", "2.2.1+cu121", Truth::no},
           Row{Scheme::pep440, "==2.2.1", "2.2.1", Truth::unknown},
           Row{Scheme::debian, ">=2.31", "2.35", Truth::yes},
           Row{Scheme::debian, ">=2.31", "2.31", Truth::unknown},
           Row{Scheme::debian, "<2.31", "1:2.30", Truth::no},
           Row{Scheme::debian, "==2.31-1", "2.31", Truth::unknown},
           Row{Scheme::debian, "==2.31-1", "2.35", Truth::no},
           Row{Scheme::debian, "2.31.*", "2.31-0ubuntu9", Truth::yes},
           Row{Scheme::debian, "2.31.*", "2", Truth::unknown},
           Row{Scheme::rpm, "<3", "2.28", Truth::yes},
           Row{Scheme::conda, "~=1.1", "1.1.1", Truth::unknown},
           Row{Scheme::conda, "~=1.1", "1.2", Truth::yes},
           Row{Scheme::conda, "~=1.1", "2.2", Truth::no},
           Row{Scheme::conda, "!=1.1.*", "1.1", Truth::no},
           Row{Scheme::kernel, ">=5.5", "5.4", Truth::no},
           Row{Scheme::kernel, ">=5.4", "5.4", Truth::yes},
           Row{Scheme::kernel, ">=5.4.100", "5.4", Truth::unknown},
           Row{Scheme::kernel, ">=5.4", "5.15.0-119-gen", Truth::yes},
           Row{Scheme::kernel, "==5.15.0-119-generic", "5.15.0-119", Truth::unknown},
           Row{Scheme::kernel, "==5.15.0-119-generic", "5.15.0-118", Truth::no},
           Row{Scheme::kernel, "!=5.15.0-119-generic", "5.15.0-118", Truth::yes},
           Row{Scheme::kernel, "5.15.*", "5.15.0-118", Truth::yes},
           Row{Scheme::kernel, "5.15.0-118.*", "5.15.0-118", Truth::yes},
           Row{Scheme::kernel, "5.15.0-118.*", "5.15", Truth::unknown},
           Row{Scheme::kernel, "!=5.16.*", "5.15.0-118", Truth::yes},
       }) {
    const Result<Constraint> constraint = parse_constraint(row.scheme, row.constraint);
    ASSERT_TRUE(constraint) << row.constraint << ": " << constraint.error().message;
    EXPECT_EQ(meets_prefix(*constraint, row.prefix), row.met)
        << row.prefix << " against " << row.constraint;
  }
}

}  // namespace
}  // namespace goldenv::version
