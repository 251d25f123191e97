#include <gtest/gtest.h>

#include "scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {

extern const Probe dkms;

namespace {

using test::told;

class DkmsHost : public test::FakeHost {
 public:
  DkmsHost() {
    uname({"node", "5.15.0-91-generic", "", "x86_64"});
    add("535.129.03");
    build("535.129.03", "5.15.0-91-generic");
    link(kTree + "/kernel-5.15.0-91-generic-x86_64", "535.129.03/5.15.0-91-generic/x86_64");
  }
  void add(const std::string& version) {
    link(kTree + "/" + version + "/source", "/usr/src/nvidia-" + version);
  }
  void build(const std::string& version, const std::string& kernel) {
    file(kTree + "/" + version + "/" + kernel + "/x86_64/module/nvidia.ko.zst", "");
    file(kTree + "/" + version + "/" + kernel + "/x86_64/log/make.log", "");
  }
  const std::string kTree = "/var/lib/dkms/nvidia";
};

TEST(DkmsProbe, WhatTheLinkLeadsToIsInstalled) {
  const auto found = test::scan(DkmsHost(), dkms);
  EXPECT_EQ(told(found, "dkms.nvidia"), "535.129.03");
  EXPECT_EQ(told(found, "dkms.nvidia.state"), "installed");
  EXPECT_EQ(told(found, "dkms.nvidia@5.15.0-91-generic"), "not recorded");
}

TEST(DkmsProbe, BuiltAndAddedAreToldApart) {
  DkmsHost host;
  host.uname({"node", "5.15.0-94-generic", "", "x86_64"});
  auto found = test::scan(host, dkms);
  EXPECT_EQ(told(found, "dkms.nvidia"), "535.129.03");
  EXPECT_EQ(told(found, "dkms.nvidia.state"), "added");
  EXPECT_EQ(told(found, "dkms.nvidia@5.15.0-91-generic"), "535.129.03");
  EXPECT_EQ(told(found, "dkms.nvidia.state@5.15.0-91-generic"), "installed");
  host.build("535.129.03", "5.15.0-94-generic");
  EXPECT_EQ(told(host, dkms, "dkms.nvidia.state"), "built");
}

TEST(DkmsProbe, AFailedBuildHasALogAndNoModule) {
  DkmsHost host;
  host.uname({"node", "6.8.0-40-generic", "", "x86_64"});
  host.file(host.kTree + "/535.129.03/6.8.0-40-generic/x86_64/log/make.log", "error");
  EXPECT_EQ(told(host, dkms, "dkms.nvidia.state"), "added");
}

TEST(DkmsProbe, TheInstalledOneOfSeveralCounts) {
  DkmsHost host;
  host.add("550.54.14");
  host.build("550.54.14", "5.15.0-91-generic");
  EXPECT_EQ(told(host, dkms, "dkms.nvidia"), "535.129.03");
  host.uname({"node", "5.15.0-94-generic", "", "x86_64"});
  const auto found = test::scan(host, dkms);
  EXPECT_EQ(told(found, "dkms.nvidia"), "unknown (ambiguous)");
  EXPECT_EQ(told(found, "dkms.nvidia.state"), "added");
}

TEST(DkmsProbe, ALinkThatLeadsNowhereInstallsNothing) {
  DkmsHost host;
  host.link(host.kTree + "/kernel-5.15.0-91-generic-x86_64", "1.0/5.15.0-91-generic/x86_64");
  EXPECT_EQ(told(host, dkms, "dkms.nvidia.state"), "built");
  host.link(host.kTree + "/kernel-5.15.0-91-generic-x86_64", "/");
  EXPECT_EQ(told(host, dkms, "dkms.nvidia.state"), "built");
}

TEST(DkmsProbe, AbsentAndUnknownAreToldApart) {
  const auto request = test::only({"dkms.nvidia", "dkms.nvidia@4.4.0", "dkms.zfs.state"});
  test::FakeHost none;
  none.uname({"node", "5.15.0-91-generic", "", "x86_64"});
  EXPECT_EQ(told(none, dkms, "dkms.nvidia", request), "absent (no DKMS)");
  const auto found = test::scan(DkmsHost(), dkms, request);
  EXPECT_EQ(told(found, "dkms.nvidia"), "535.129.03");
  EXPECT_EQ(told(found, "dkms.nvidia@4.4.0"), "absent (DKMS does not have it)");
  EXPECT_EQ(told(found, "dkms.zfs.state"), "absent (DKMS does not have it)");
  DkmsHost denied;
  denied.deny("/var/lib/dkms");
  EXPECT_EQ(told(denied, dkms, "dkms.nvidia", request), "unknown (denied)");
  DkmsHost half;
  half.deny(half.kTree + "/535.129.03");
  EXPECT_EQ(told(half, dkms, "dkms.nvidia", request), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe
