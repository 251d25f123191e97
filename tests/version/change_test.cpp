#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "version/version.h"

namespace goldenv::version {
namespace {

TEST(VersionChange, SaysWhichPartDiffersAndWhichWay) {
  struct Row {
    Scheme scheme;
    std::string_view a, b;
    Direction direction;
    Part part;
  };
  for (const Row& row : {
           Row{Scheme::dotted, "535.129.01", "535.129.03", Direction::newer, Part::patch},
           Row{Scheme::dotted, "535.129.03", "535.54.03", Direction::older, Part::minor},
           Row{Scheme::dotted, "535.129.03", "550.54.14", Direction::newer, Part::major},
           Row{Scheme::dotted, "8.9.2.26", "8.9.2.25", Direction::older, Part::build},
           Row{Scheme::dotted, "12.1", "12.1.1", Direction::newer, Part::patch},
           Row{Scheme::dotted, "12.1", "12.1.0", Direction::newer, Part::patch},
           Row{Scheme::dotted, "12.1", "12.1", Direction::same, Part::none},
           Row{Scheme::dotted, "535.129.03", "535.129.3", Direction::same, Part::build},
           Row{Scheme::pep440, "2.2.1+cu118", "2.2.1+cu121", Direction::newer, Part::build},
           Row{Scheme::pep440, "2.2.1", "2.2.0", Direction::older, Part::patch},
           Row{Scheme::pep440, "2.2", "2.2.0+cu121", Direction::newer, Part::build},
           Row{Scheme::pep440, "2.2", "2.2.0", Direction::same, Part::build},
           Row{Scheme::pep440, "2.2rc1", "2.2", Direction::newer, Part::build},
           Row{Scheme::pep440, "2.2", "1!2.2", Direction::newer, Part::epoch},
           Row{Scheme::kernel, "5.4.0-149-generic", "5.4.0-150-generic", Direction::newer,
               Part::build},
           Row{Scheme::kernel, "5.4.0-149-generic", "5.15.0-149-generic", Direction::newer,
               Part::minor},
           Row{Scheme::kernel, "6.1-arch1", "6.1.1-arch1", Direction::newer, Part::patch},
           Row{Scheme::kernel, "6.1-rc3", "6.1", Direction::newer, Part::build},
           Row{Scheme::debian, "535.129.03-0ubuntu1", "535.129.03-0ubuntu0.22.04.1",
               Direction::older, Part::build},
           Row{Scheme::debian, "535.129.03-1", "535.154.05-1", Direction::newer, Part::minor},
           Row{Scheme::debian, "9-1", "1:1-1", Direction::newer, Part::epoch},
           Row{Scheme::debian, "2.31-13", "0:2.31-13", Direction::same, Part::build},
           Row{Scheme::rpm, "2.28-225.el8", "2.28-236.el8", Direction::newer, Part::build},
           Row{Scheme::rpm, "2:1.0-1", "1:1.0-1", Direction::older, Part::epoch},
           Row{Scheme::rpm, "2.28-1", "2.34-1", Direction::newer, Part::minor},
           Row{Scheme::conda, "1.1.1v", "1.1.1w", Direction::newer, Part::build},
           Row{Scheme::conda, "1.1", "1.1.1", Direction::newer, Part::patch},
           Row{Scheme::conda, "1!1", "2", Direction::older, Part::epoch},
       }) {
    const Change seen =
        change(Version{row.scheme, std::string(row.a)}, Version{row.scheme, std::string(row.b)});
    EXPECT_EQ(seen, (Change{row.direction, row.part}))
        << row.a << " -> " << row.b << ": " << name(seen.direction) << " " << name(seen.part);
  }
}

TEST(VersionChange, IsNamedInWords) {
  EXPECT_EQ(name(Part::epoch), "epoch");
  EXPECT_EQ(name(Part::none), "none");
  EXPECT_EQ(name(Direction::same), "same");
  EXPECT_EQ(name(Direction::older), "older");
}

}  // namespace
}  // namespace goldenv::version
