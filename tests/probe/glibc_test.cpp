#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "support/fake_host.h"
#include "support/library_fixture.h"

namespace goldenv::probe {
extern const Probe glibc;
namespace {

using test::FakeHost;
using test::library_fixture;
using test::told;

constexpr const char* kFile = "/lib/x86_64-linux-gnu/libc.so.6";
constexpr const char* kStatus =
    "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\n"
    "Version: 2.31-0ubuntu9.16\n\n";

TEST(GlibcProbe, ItsOwnTextStatesVersionAndPackage) {
  FakeHost host;
  host.file(kFile, library_fixture("libc_2_36"));
  EXPECT_EQ(told(host, glibc, "glibc"), "2.36");
  EXPECT_EQ(told(host, glibc, "glibc.package"), "2.36-9+deb12u14");
  EXPECT_EQ(told(host, glibc, "glibc.build_id"), "2362362362362362");
  const auto snapshot = test::scan(host, glibc);
  EXPECT_EQ(snapshot.find({"glibc", ""})->evidence.from, kFile);
}

TEST(GlibcProbe, OtherBuildersWriteNoPackage) {
  FakeHost host;
  host.file("/lib64/libc.so.6", library_fixture("libc_2_34"));
  EXPECT_EQ(told(host, glibc, "glibc"), "2.34");
  EXPECT_EQ(told(host, glibc, "glibc.package"), "absent (no Debian package holds it)");
  EXPECT_EQ(told(host, glibc, "glibc.build_id"), "absent (the file has no build-id)");
}

TEST(GlibcProbe, TheOldFileNameAndThePackageListDoToo) {
  FakeHost host;
  host.file("/lib/x86_64-linux-gnu/libc-2.31.so", library_fixture("libc_silent"))
      .link(kFile, "libc-2.31.so")
      .file("/var/lib/dpkg/status", kStatus);
  EXPECT_EQ(told(host, glibc, "glibc"), "2.31");
  EXPECT_EQ(told(host, glibc, "glibc.package"), "2.31-0ubuntu9.16");
}

TEST(GlibcProbe, SilenceIsUnknown) {
  FakeHost host;
  host.file(kFile, library_fixture("libc_silent"));
  EXPECT_EQ(told(host, glibc, "glibc"), "unknown (not-stated)");
}

TEST(GlibcProbe, ALibraryPathOfOneProgramIsNotTheSystem) {
  FakeHost host;
  host.file(kFile, library_fixture("libc_2_36"))
      .file("/opt/glibc/libc.so.6", library_fixture("libc_2_34"))
      .set("LD_LIBRARY_PATH", "/opt/glibc");
  EXPECT_EQ(told(host, glibc, "glibc"), "2.36");
}

TEST(GlibcProbe, MuslHasNone) {
  FakeHost host;
  host.file("/lib/ld-musl-x86_64.so.1", library_fixture("plain"));
  EXPECT_EQ(told(host, glibc, "glibc"), "absent (musl)");
  EXPECT_EQ(told(FakeHost(), glibc, "glibc"), "absent (the loader finds no libc.so.6)");
}

TEST(GlibcProbe, AFileThatMayNotBeReadOrIsCutIsUnknown) {
  FakeHost host;
  host.deny(kFile);
  EXPECT_EQ(told(host, glibc, "glibc"), "unknown (denied)");
  host.file(kFile, library_fixture("libc_2_36").substr(0, 40));
  EXPECT_EQ(told(host, glibc, "glibc"), "unknown (unreadable)");
}

}  // namespace
}  // namespace goldenv::probe
