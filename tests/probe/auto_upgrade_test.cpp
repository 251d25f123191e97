#include <gtest/gtest.h>

#include "probe/apt_settings.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe auto_upgrade;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kKey = "packages.auto_upgrade";

/// A Debian system with everything set up.
struct Debian : FakeHost {
  Debian() {
    file("/etc/apt/apt.conf.d/20auto-upgrades",
         "APT::Periodic::Update-Package-Lists \"1\";\nAPT::Periodic::Unattended-Upgrade \"1\";\n");
    file("/usr/bin/unattended-upgrade", "");
    file("/lib/systemd/system/apt-daily-upgrade.timer", "");
    link("/etc/systemd/system/timers.target.wants/apt-daily-upgrade.timer",
         "/lib/systemd/system/apt-daily-upgrade.timer");
  }
};

TEST(AutoUpgradeProbe, AptUpgradesWhereSettingProgramAndTimerAreThere) {
  const auto found = test::scan(Debian(), auto_upgrade);
  EXPECT_EQ(told(found, kKey), "true");
  const facts::Fact* fact = found.find({kKey, ""});
  EXPECT_EQ(fact->evidence.from, "/etc/apt/apt.conf.d/20auto-upgrades");
  EXPECT_EQ(fact->evidence.line, 2u);
}

TEST(AutoUpgradeProbe, EachOfThemAloneTurnsItOff) {
  Debian later;
  later.file("/etc/apt/apt.conf.d/99local", "APT { Periodic { Unattended-Upgrade \"0\"; }; };");
  EXPECT_EQ(told(later, auto_upgrade, kKey), "false");
  Debian disabled;
  disabled.file("/etc/apt/apt.conf", "apt::periodic::enable 0;");
  EXPECT_EQ(told(disabled, auto_upgrade, kKey), "false");
  Debian masked;
  masked.file("/dev/null", "");
  masked.link("/etc/systemd/system/apt-daily-upgrade.timer", "/dev/null");
  EXPECT_EQ(told(masked, auto_upgrade, kKey), "false");
  FakeHost unset;
  unset.folder("/etc/apt/apt.conf.d");
  EXPECT_EQ(told(unset, auto_upgrade, kKey), "false");
  FakeHost no_program;
  no_program.file("/etc/apt/apt.conf.d/20", "APT::Periodic::Unattended-Upgrade \"always\";");
  EXPECT_EQ(told(no_program, auto_upgrade, kKey), "false");
}

TEST(AutoUpgradeProbe, FilesThatAptPassesOverSetNothing) {
  Debian host;
  host.file("/etc/apt/apt.conf.d/99off.dpkg-old", "APT::Periodic::Enable \"0\";");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "true");
}

TEST(AutoUpgradeProbe, WhatCannotBeReadIsNotOff) {
  Debian host;
  host.deny("/etc/apt/apt.conf.d/20auto-upgrades");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "unknown (denied)");
  Debian folder;
  folder.deny("/etc/systemd/system");
  EXPECT_EQ(told(folder, auto_upgrade, kKey), "unknown (denied)");
  EXPECT_EQ(told(FakeHost(), auto_upgrade, kKey), "unknown (unsupported)");
}

TEST(AutoUpgradeProbe, DnfAppliesWhatItsFileSays) {
  FakeHost host;
  host.file("/etc/dnf/automatic.conf", "[commands]\nupgrade_type = default\napply_updates = yes\n");
  host.file("/usr/lib/systemd/system/dnf-automatic.timer", "");
  host.file("/usr/lib/systemd/system/dnf-automatic-install.timer", "");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "false");
  host.link("/etc/systemd/system/timers.target.wants/dnf-automatic.timer",
            "/usr/lib/systemd/system/dnf-automatic.timer");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "true");
  host.file("/etc/dnf/automatic.conf", "[commands]\napply_updates = no\n");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "false");
  host.link("/etc/systemd/system/timers.target.wants/dnf-automatic-install.timer",
            "/usr/lib/systemd/system/dnf-automatic-install.timer");
  EXPECT_EQ(told(host, auto_upgrade, kKey), "true");
  FakeHost none;
  none.folder("/etc/dnf");
  EXPECT_EQ(told(none, auto_upgrade, kKey), "false");
}

TEST(AptSettingsText, SectionsCommentsAndDamage) {
  const auto found = parse_apt_settings(
      "// one\n# two\n/* three\n */ A::B \"x y\";\nC { D { E 1; }; F \"2\"; };\n#clear A::B;\nG "
      "\"cut");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].name, "A::B");
  EXPECT_EQ(found[0].value, "x y");
  EXPECT_EQ(found[0].line, 4u);
  EXPECT_EQ(found[1].name, "C::D::E");
  EXPECT_EQ(found[2].name, "C::F");
  EXPECT_EQ(found[3].name, "A::B");
  EXPECT_EQ(found[3].value, "");
  EXPECT_TRUE(parse_apt_settings("}").empty());
  EXPECT_TRUE(parse_apt_settings(std::string(100'000, '{')).empty());
}

}  // namespace
}  // namespace goldenv::probe
