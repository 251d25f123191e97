#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader/loader.h"
#include "support/fake_host.h"

namespace goldenv {
namespace {

using loader::configured_folders;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(LoaderConfiguration, IncludesStandWhereTheyAreWrittenInTheOrderOfTheirNames) {
  test::FakeHost host;
  host.file("/etc/ld.so.conf",
            "# first\n/opt/first/lib  # of ours\ninclude /etc/ld.so.conf.d/*.conf\n/opt/last/\n");
  host.file("/etc/ld.so.conf.d/b.conf", "/opt/b\n");
  host.file("/etc/ld.so.conf.d/a.conf", "\t/opt/a\r\nhwcap 1 nosegneg\n");
  host.file("/etc/ld.so.conf.d/.hidden.conf", "/opt/hidden\n");
  host.file("/etc/ld.so.conf.d/c.conf.bak", "/opt/bak\n");
  EXPECT_THAT(configured_folders(host),
              ElementsAre("/opt/first/lib", "/opt/a", "/opt/b", "/opt/last"));
}

TEST(LoaderConfiguration, RelativeIncludesAndOldSuffixesAreUnderstood) {
  test::FakeHost host;
  host.file("/etc/ld.so.conf", "include ld.so.conf.d/*.conf other.conf\n/usr/X11R6/lib=libc5\n");
  host.file("/etc/ld.so.conf.d/x.conf", "/opt/x\n/opt/x\nrelative/folder\n");
  host.file("/etc/other.conf", "/opt/other\n");
  EXPECT_THAT(configured_folders(host), ElementsAre("/opt/x", "/opt/other", "/usr/X11R6/lib"));
}

TEST(LoaderConfiguration, AFileThatIncludesItselfEnds) {
  test::FakeHost host;
  host.file("/etc/ld.so.conf", "/opt/a\ninclude /etc/*.conf\ninclude /etc/ld.so.conf\n");
  EXPECT_THAT(configured_folders(host), ElementsAre("/opt/a"));
}

TEST(LoaderConfiguration, NoFileOrADeniedOneNamesNothing) {
  test::FakeHost host;
  EXPECT_THAT(configured_folders(host), IsEmpty());
  host.deny("/etc/ld.so.conf");
  EXPECT_THAT(configured_folders(host), IsEmpty());
}

}  // namespace
}  // namespace goldenv
