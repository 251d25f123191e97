#include <gtest/gtest.h>

#include "module_machine.h"
#include "scan.h"

namespace goldenv::probe {

extern const Probe next_boot;

namespace {

using test::ModuleHost;
using test::told;

/// Boots 5.15.0-94-generic next.
class NextHost : public ModuleHost {
 public:
  explicit NextHost(const std::string& options = "", const std::string& release = kNext) {
    file("/boot/grub/grub.cfg",
         "menuentry 'Ubuntu' {\n\tlinux /boot/vmlinuz-" + release + " ro " + options + "\n}\n");
  }
  static constexpr auto kNext = "5.15.0-94-generic";
  static std::string file_of_driver() { return folder_of(kNext) + "/kernel/nvidia-550/nvidia.ko"; }
};

TEST(NextBootModules, TheNextKernelsOwnFilesCount) {
  const auto found = test::scan(NextHost(), next_boot);
  EXPECT_EQ(told(found, "next_boot.driver"), "550.54.14");
  EXPECT_EQ(told(found, "next_boot.module.nvidia.loaded"), "550.54.14");
  EXPECT_EQ(told(found, "next_boot.module.nvidia_uvm.loaded"), "absent (no file for that kernel)");
  EXPECT_EQ(told(NextHost("", "5.15.0-91-generic"), next_boot, "next_boot.driver"), "535.129.03");
}

TEST(NextBootModules, AnUnknownKernelLeavesAllOpen) {
  const auto found = test::scan(ModuleHost(), next_boot);
  EXPECT_EQ(told(found, "next_boot.driver"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "next_boot.module.nvidia.loaded"), "unknown (not-stated)");
}

TEST(NextBootModules, AKernelWithoutModulesLoadsNone) {
  EXPECT_EQ(told(NextHost("", "6.8.0-1-generic"), next_boot, "next_boot.driver"),
            "absent (no modules of this kernel are installed)");
}

TEST(NextBootModules, BlacklistsAndInstallLinesBlock) {
  NextHost listed;
  listed.file("/etc/modprobe.d/x.conf", "blacklist nvidia\n");
  const auto found = test::scan(listed, next_boot);
  EXPECT_EQ(told(found, "next_boot.driver"), "absent (blacklisted)");
  EXPECT_EQ(found.find(facts::FactKey::parse("next_boot.driver"))->evidence.from,
            "/etc/modprobe.d/x.conf");
  NextHost installed;
  installed.file("/etc/modprobe.d/x.conf", "install nvidia /bin/false\n");
  EXPECT_EQ(told(installed, next_boot, "next_boot.driver"), "absent (an install line blocks it)");
  NextHost shell;
  shell.file("/etc/modprobe.d/x.conf", "install nvidia /opt/load-nvidia\n");
  EXPECT_EQ(told(shell, next_boot, "next_boot.driver"), "unknown (ambiguous)");
  EXPECT_EQ(told(NextHost("modprobe.blacklist=nouveau,nvidia"), next_boot, "next_boot.driver"),
            "absent (blacklisted by modprobe.blacklist=)");
  NextHost denied;
  denied.deny("/etc/modprobe.d");
  EXPECT_EQ(told(denied, next_boot, "next_boot.driver"), "unknown (denied)");
}

TEST(NextBootModules, OtherVermagicsDoNotLoad) {
  NextHost host;
  host.file(NextHost::file_of_driver(),
            test::nvidia_module("550.54.14", "5.15.0-91-generic", "SMP mod_unload "));
  EXPECT_EQ(told(host, next_boot, "next_boot.driver"), "absent (built for 5.15.0-91-generic)");
  host.file(NextHost::file_of_driver(), test::nvidia_module("550.54.14", "5.15.0-91-generic"));
  EXPECT_EQ(told(host, next_boot, "next_boot.driver"), "unknown (ambiguous)");
  // Red Hat's weak-modules puts them there when all symbols agree.
  host.file(ModuleHost::folder_of(NextHost::kNext) + "/modules.dep", "weak-updates/nvidia.ko:\n");
  host.file(ModuleHost::folder_of(NextHost::kNext) + "/weak-updates/nvidia.ko",
            test::nvidia_module("550.54.14", "5.15.0-91-generic"));
  EXPECT_EQ(told(host, next_boot, "next_boot.driver"), "550.54.14");
}

TEST(NextBootModules, UnsignedOnesAreRefusedWhereSignaturesAreDemanded) {
  const std::string refused = "absent (unsigned, and the kernel demands signatures)";
  EXPECT_EQ(told(NextHost("module.sig_enforce=1"), next_boot, "next_boot.driver"), refused);
  NextHost locked;
  locked.file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(told(locked, next_boot, "next_boot.driver"), refused);
  locked.file(NextHost::file_of_driver(), test::nvidia_module("550.54.14", NextHost::kNext) +
                                              test::appended(test::pkcs7_of("MOK")));
  EXPECT_EQ(told(locked, next_boot, "next_boot.driver"), "550.54.14");
  NextHost secure;
  secure.file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
              std::string("\x06\0\0\0\x01", 5));
  EXPECT_EQ(told(secure, next_boot, "next_boot.driver"), "unknown (ambiguous)");
  secure.file("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  EXPECT_EQ(told(secure, next_boot, "next_boot.driver"), "550.54.14");
}

TEST(NextBootModules, DamagedFilesAreUnknown) {
  NextHost host;
  host.file(NextHost::file_of_driver(), "text");
  EXPECT_EQ(told(host, next_boot, "next_boot.driver"), "unknown (unreadable)");
}

TEST(NextBootModules, ParametersComeFromModprobeAndTheCommandLine) {
  NextHost host("nvidia-drm.modeset=0 nvidia.NVreg_B=3 nvidia_uvm");
  host.file("/etc/modprobe.d/nvidia.conf", "options nvidia NVreg_A=1 NVreg_B=2 NVreg_A=4\n");
  host.file("/usr/lib/modprobe.d/drm.conf", "options nvidia-drm modeset=1 fbdev=1\n");
  const auto found = test::scan(host, next_boot, test::also({"next_boot.module.nvidia.param.C"}));
  EXPECT_EQ(told(found, "next_boot.module.nvidia.param.A"), "4");
  EXPECT_EQ(told(found, "next_boot.module.nvidia.param.B"), "3");
  EXPECT_EQ(told(found, "next_boot.module.nvidia.param.C"), "absent (nothing sets it)");
  EXPECT_EQ(told(found, "next_boot.module.nvidia_drm.param.modeset"), "0");
  EXPECT_EQ(told(found, "next_boot.module.nvidia_drm.param.fbdev"), "1");
  EXPECT_EQ(found.find(facts::FactKey::parse("next_boot.module.nvidia.param.A"))->evidence.from,
            "/etc/modprobe.d/nvidia.conf");
  NextHost denied;
  denied.deny("/usr/lib/modprobe.d/drm.conf");
  EXPECT_EQ(told(denied, next_boot, "next_boot.module.nvidia.param.A",
                 test::only({"next_boot.module.nvidia.param.A"})),
            "unknown (denied)");
}

TEST(NextBootModules, OptionsFollowAnInstallLine) {
  NextHost host;
  host.file("/etc/modprobe.d/nvidia.conf",
            "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS\n"
            "options nvidia-current NVreg_A=1 NVreg_B=1\noptions nvidia NVreg_B=2\n");
  const auto found = test::scan(host, next_boot);
  EXPECT_EQ(told(found, "next_boot.module.nvidia.param.A"), "1");
  EXPECT_EQ(told(found, "next_boot.module.nvidia.param.B"), "2");
}

TEST(NextBootModules, OtherModulesOnRequest) {
  NextHost host;
  host.file(ModuleHost::folder_of(NextHost::kNext) + "/modules.dep", "extra/zfs.ko:\n");
  host.file(ModuleHost::folder_of(NextHost::kNext) + "/extra/zfs.ko",
            test::nvidia_module("2.1.5", NextHost::kNext));
  host.file("/etc/modprobe.d/zfs.conf", "options zfs zfs_arc_max=1\n");
  const auto found = test::scan(
      host, next_boot,
      test::only({"next_boot.module.zfs.loaded", "next_boot.module.zfs.param.zfs_arc_max"}));
  EXPECT_EQ(told(found, "next_boot.module.zfs.loaded"), "2.1.5");
  EXPECT_EQ(told(found, "next_boot.module.zfs.param.zfs_arc_max"), "1");
  EXPECT_EQ(found.facts.size(), 2u);
}

TEST(NextBootModules, WhatLoadsAtBootStandsBesideIt) {
  NextHost host;
  host.file("/etc/modules-load.d/nvidia.conf", "# comment\nnvidia\n");
  const auto found = test::scan(host, next_boot);
  const auto& notes = found.find(facts::FactKey::parse("next_boot.driver"))->evidence.notes;
  EXPECT_NE(std::ranges::find(notes, "loaded at boot by /etc/modules-load.d/nvidia.conf"),
            notes.end());
}

}  // namespace
}  // namespace goldenv::probe
