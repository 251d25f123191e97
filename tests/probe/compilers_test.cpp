#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "support/fake_host.h"
#include "support/library_fixture.h"

namespace goldenv::probe {
extern const Probe compilers;
namespace {

using test::FakeHost;
using test::told;

std::string object(const std::string& made_by) {
  return std::string(
             "\x7f"
             "ELF\0\0.comment\0",
             15) +
         "GCC: " + made_by + std::string(1, '\0') + "rest";
}

/// Debian: /usr/bin/gcc -> gcc-12 -> x86_64-linux-gnu-gcc-12, and the folder is named by the major
/// number.
struct Debian : FakeHost {
  Debian() {
    set("PATH", "/usr/local/bin:/usr/bin");
    link("/usr/bin/gcc", "gcc-12");
    link("/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12");
    file("/usr/bin/x86_64-linux-gnu-gcc-12", "");
    file("/usr/lib/gcc/x86_64-linux-gnu/12/crtbegin.o",
         object("(Debian 12.2.0-14+deb12u1) 12.2.0"));
    file("/usr/lib/gcc/x86_64-linux-gnu/11/crtbegin.o", object("(Debian 11.3.0-12) 11.3.0"));
  }
};

TEST(CompilersProbe, GccIsKnownByTheObjectsItMade) {
  const Debian host;
  EXPECT_EQ(told(host, compilers, "gcc"), "12.2.0");
  EXPECT_EQ(told(host, compilers, "gcc@/usr/bin/gcc-12"), "12.2.0");
}

TEST(CompilersProbe, RedHatsTextIsReadToo) {
  FakeHost host;
  host.set("PATH", "/usr/bin")
      .file("/usr/bin/gcc", "")
      .file("/usr/lib/gcc/x86_64-redhat-linux/11/crtbegin.o",
            object("(GNU) 11.4.1 20231218 (Red Hat 11.4.1-3)"));
  EXPECT_EQ(told(host, compilers, "gcc"), "11.4.1");
}

TEST(CompilersProbe, NestedAndUnclosedParenthesesDoNotConfuse) {
  FakeHost host;
  host.set("PATH", "/usr/bin").file("/usr/bin/gcc", "");
  const std::string file = "/usr/lib/gcc/x86_64-linux-gnu/9/crtbegin.o";
  host.file(file, object("(crosstool-NG (a) b) 9.5.0"));
  EXPECT_EQ(told(host, compilers, "gcc"), "9.5.0");
  for (const char* text : {"(GNU 9.5.0", "(GNU)", "(GNU) nine", ""}) {
    host.file(file, object(text));
    EXPECT_EQ(told(host, compilers, "gcc"), "9...") << text;
  }
}

TEST(CompilersProbe, ACcThatIsClangIsNoGcc) {
  FakeHost host;
  host.set("PATH", "/usr/bin").link("/usr/bin/cc", "clang-14").file("/usr/bin/clang-14", "");
  EXPECT_EQ(told(host, compilers, "gcc"), "absent (cc is clang-14)");
  EXPECT_EQ(told(FakeHost(), compilers, "gcc"), "absent (no gcc on PATH)");
}

TEST(CompilersProbe, CcacheIsPassedOver) {
  Debian host;
  host.set("PATH", "/usr/lib/ccache:/usr/bin")
      .link("/usr/lib/ccache/gcc", "../../bin/ccache")
      .file("/usr/bin/ccache", "");
  EXPECT_EQ(told(host, compilers, "gcc"), "12.2.0");
}

TEST(CompilersProbe, APathThatMayNotBeSearchedLeavesItUnknown) {
  Debian host;
  host.deny("/usr/local/bin");
  EXPECT_EQ(told(host, compilers, "gcc"), "unknown (denied)");
}

TEST(CompilersProbe, ClangIsKnownByItsOwnFolder) {
  FakeHost host;
  host.set("PATH", "/usr/bin")
      .link("/usr/bin/clang", "../lib/llvm-14/bin/clang")
      .file("/usr/lib/llvm-14/bin/clang", test::library_fixture("plain"))
      .folder("/usr/lib/llvm-14/lib/clang/14.0.6");
  EXPECT_EQ(told(host, compilers, "clang"), "14.0.6");
}

TEST(CompilersProbe, LaterClangsNameOnlyTheMajor) {
  FakeHost host;
  host.set("PATH", "/usr/bin")
      .link("/usr/bin/clang", "../lib/llvm-17/bin/clang")
      .file("/usr/lib/llvm-17/bin/clang", test::library_fixture("plain"))
      .folder("/usr/lib/llvm-17/lib/clang/17");
  EXPECT_EQ(told(host, compilers, "clang"), "17...");
  EXPECT_EQ(told(FakeHost(), compilers, "clang"), "absent (no clang on PATH)");
}

TEST(CompilersProbe, CmakeIsOfItsPackageOrItsFolder) {
  FakeHost host;
  host.set("PATH", "/usr/bin")
      .file("/usr/bin/cmake", "")
      .folder("/usr/share/cmake-3.25")
      .folder("/usr/share/cmake");
  EXPECT_EQ(told(host, compilers, "cmake"), "3.25...");
  host.file("/var/lib/dpkg/status",
            "Package: cmake\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 3.25.1-1\n\n");
  EXPECT_EQ(told(host, compilers, "cmake"), "3.25.1");
  // The package says nothing of a cmake of another place.
  host.set("PATH", "/opt/cmake/bin")
      .file("/opt/cmake/bin/cmake", "")
      .folder("/opt/cmake/share/cmake-3.30");
  EXPECT_EQ(told(host, compilers, "cmake"), "3.30...");
  EXPECT_EQ(told(FakeHost(), compilers, "cmake"), "absent (no cmake on PATH)");
}

}  // namespace
}  // namespace goldenv::probe
