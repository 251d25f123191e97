#include <gtest/gtest.h>

#include "base/sha256.h"
#include "module_machine.h"
#include "probe/installed_modules.h"
#include "probe/modprobe_config.h"
#include "scan.h"

namespace goldenv::probe {

extern const Probe modules_on_disk;

namespace {

using test::ModuleHost;
using test::told;

TEST(ModulesOnDiskProbe, TheFileOfTheRunningKernelIsRead) {
  const auto found = test::scan(ModuleHost(), modules_on_disk);
  EXPECT_EQ(told(found, "module.nvidia.on_disk"), "535.129.03");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.srcversion"), "0123456789ABCDEF01234567");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.built_for"), "5.15.0-91-generic");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.vermagic"),
            "5.15.0-91-generic SMP mod_unload modversions");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.license"), "NVIDIA");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.path"), "updates/dkms/nvidia.ko");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.signer"), "absent (unsigned)");
  EXPECT_EQ(told(found, "module.nvidia_uvm.on_disk.signer"),
            "node Secure Boot Module Signature key");
  EXPECT_EQ(found.find(facts::FactKey::parse("module.nvidia.on_disk"))->evidence.from,
            ModuleHost::dkms("nvidia.ko"));
}

TEST(ModulesOnDiskProbe, OtherKernelsStandBehindTheirRelease) {
  const auto found = test::scan(ModuleHost(), modules_on_disk);
  EXPECT_EQ(told(found, "module.nvidia.on_disk@5.15.0-94-generic"), "550.54.14");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.path@5.15.0-94-generic"),
            "kernel/nvidia-550/nvidia.ko");
  EXPECT_EQ(told(found, "module.nvidia.on_disk@5.15.0-91-generic"), "not recorded");
  EXPECT_EQ(told(found, "module.nvidia_uvm.on_disk@5.15.0-94-generic"), "not recorded");
}

TEST(ModulesOnDiskProbe, LabelsThatAreAskedForAreAnswered) {
  const auto request = test::only({"module.nvidia.on_disk@5.15.0-91-generic",
                                   "module.nvidia_uvm.on_disk@5.15.0-94-generic",
                                   "module.nvidia.on_disk@4.4.0", "module.nvidia.on_disk@../x"});
  const auto found = test::scan(ModuleHost(), modules_on_disk, request);
  EXPECT_EQ(told(found, "module.nvidia.on_disk@5.15.0-91-generic"), "535.129.03");
  EXPECT_EQ(told(found, "module.nvidia_uvm.on_disk@5.15.0-94-generic"), "absent (not installed)");
  EXPECT_EQ(told(found, "module.nvidia.on_disk@4.4.0"),
            "absent (no modules of this kernel are installed)");
  EXPECT_EQ(told(found, "module.nvidia.on_disk@../x"), "absent (no kernel is called so)");
  EXPECT_EQ(told(found, "module.nvidia.on_disk"), "not recorded");
}

TEST(ModulesOnDiskProbe, ReasonsForNoFileAreToldApart) {
  ModuleHost host;
  host.file(ModuleHost::folder_of("5.15.0-91-generic") + "/modules.dep",
            "updates/dkms/nvidia.ko:\nextra/gdrdrv.ko:\n");
  const auto found = test::scan(host, modules_on_disk);
  EXPECT_EQ(told(found, "module.ib_core.on_disk"), "absent (builtin)");
  EXPECT_EQ(told(found, "module.amdgpu.on_disk"), "absent (not installed)");
  EXPECT_EQ(told(found, "module.gdrdrv.on_disk"),
            "absent (modules.dep names a file that is not there)");
  EXPECT_EQ(told(ModuleHost(), modules_on_disk, "module.nouveau.on_disk"),
            "absent (has no version)");
}

TEST(ModulesOnDiskProbe, OfWhatIsNotThereOneFactSpeaksForAll) {
  const auto found = test::scan(ModuleHost(), modules_on_disk);
  EXPECT_EQ(told(found, "module.amdgpu.on_disk.license"), "not recorded");
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(
      found.read(facts::FactKey::parse("module.amdgpu.on_disk.license")).reading));
  EXPECT_FALSE(std::holds_alternative<facts::Absent>(
      found.read(facts::FactKey::parse("module.nvidia.on_disk.digest")).reading));
  const std::string key = "module.amdgpu.on_disk.license";
  EXPECT_EQ(told(ModuleHost(), modules_on_disk, key, test::also({key})), "absent (not installed)");
}

TEST(ModulesOnDiskProbe, OtherModulesAreReadOnRequest) {
  ModuleHost host;
  host.file(ModuleHost::folder_of("5.15.0-91-generic") + "/modules.dep", "extra/zfs.ko:\n");
  host.file(ModuleHost::folder_of("5.15.0-91-generic") + "/extra/zfs.ko",
            test::nvidia_module("2.1.5"));
  const auto found = test::scan(host, modules_on_disk, test::only({"module.zfs.on_disk"}));
  EXPECT_EQ(told(found, "module.zfs.on_disk"), "2.1.5");
  EXPECT_EQ(found.facts.size(), 1u);
}

TEST(ModulesOnDiskProbe, DigestsAreTakenOnRequest) {
  const std::string key = "module.nvidia.on_disk.digest";
  EXPECT_EQ(told(ModuleHost(), modules_on_disk, key), "not recorded");
  const std::string expected = Sha256::of(test::nvidia_module("535.129.03")).hex();
  EXPECT_EQ(told(ModuleHost(), modules_on_disk, key, test::only({key})), expected);
  EXPECT_EQ(told(ModuleHost(), modules_on_disk, key, test::also({key})), expected);
}

TEST(ModulesOnDiskProbe, ModulesThatAreNoneAreUnknown) {
  for (const std::string& bytes :
       {std::string(), std::string("text"), test::nvidia_module("1").substr(0, 300),
        std::string("\x28\xb5\x2f\xfd", 4),
        std::string("\xfd"
                    "7zXZ\0rest",
                    10),
        std::string("\x1f\x8b\x08", 3)}) {
    ModuleHost host;
    host.file(ModuleHost::dkms("nvidia.ko"), bytes);
    const auto found = test::scan(host, modules_on_disk);
    EXPECT_EQ(told(found, "module.nvidia.on_disk"), "unknown (unreadable)");
    EXPECT_EQ(told(found, "module.nvidia.on_disk.signer"), "unknown (unreadable)");
    EXPECT_EQ(told(found, "module.nvidia.on_disk.path"), "updates/dkms/nvidia.ko");
    EXPECT_EQ(told(found, "module.nvidia_uvm.on_disk"), "535.129.03");
  }
}

TEST(ModulesOnDiskProbe, CompressedModulesAreReadByTheirContent) {
  // One stored block of deflate: what gzip -0 writes.
  const std::string module = test::nvidia_module("550.90.07");
  const auto size = static_cast<unsigned>(module.size());
  std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  bytes += test::number_bytes(size, 2) + test::number_bytes(~size & 0xffffu, 2) + module;
  std::uint32_t crc = 0xffffffffu;
  for (const char c : module) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0);
    }
  }
  bytes += test::number_bytes(~crc, 4) + test::number_bytes(size, 4);
  ModuleHost host;
  host.file(ModuleHost::dkms("nvidia.ko"), bytes);
  const std::string digest = "module.nvidia.on_disk.digest";
  const auto found = test::scan(host, modules_on_disk, test::also({digest}));
  EXPECT_EQ(told(found, "module.nvidia.on_disk"), "550.90.07");
  EXPECT_EQ(told(found, digest), Sha256::of(module).hex());
  host.file(ModuleHost::dkms("nvidia.ko"), bytes.substr(0, bytes.size() - 6));
  EXPECT_EQ(told(host, modules_on_disk, "module.nvidia.on_disk"), "unknown (unreadable)");
}

// 2100 blocks of zstd, each 128 KiB of one repeated byte.
TEST(ModulesOnDiskProbe, AFileThatGrowsWithoutEndIsUnknown) {
  std::string bytes("\x28\xb5\x2f\xfd\0\x38", 6);
  for (int i = 0; i < 2100; ++i) {
    bytes += test::number_bytes(131072u << 3 | 1u << 1, 3) + "x";
  }
  ModuleHost host;
  host.file(ModuleHost::dkms("nvidia.ko"), bytes);
  const auto found = test::scan(host, modules_on_disk, test::only({"module.nvidia.on_disk"}));
  const auto* fact = found.find(facts::FactKey::parse("module.nvidia.on_disk"));
  ASSERT_NE(fact, nullptr);
  const auto* unknown = std::get_if<facts::Unknown>(&fact->reading);
  ASSERT_NE(unknown, nullptr);
  EXPECT_NE(unknown->detail.find("holds more than 268435456 bytes"), std::string::npos)
      << unknown->detail;
}

TEST(ModulesOnDiskProbe, DeniedIsUnknownAndNotAbsent) {
  ModuleHost file;
  file.deny(ModuleHost::dkms("nvidia.ko"));
  EXPECT_EQ(told(file, modules_on_disk, "module.nvidia.on_disk"), "unknown (denied)");
  ModuleHost dep;
  dep.deny(ModuleHost::folder_of("5.15.0-91-generic") + "/modules.dep");
  EXPECT_EQ(told(dep, modules_on_disk, "module.nvidia.on_disk"), "unknown (denied)");
  ModuleHost config;
  config.deny("/etc/modprobe.d");
  EXPECT_EQ(told(config, modules_on_disk, "module.nvidia.on_disk"), "535.129.03");
  EXPECT_EQ(told(config, modules_on_disk, "module.amdgpu.on_disk"), "unknown (denied)");
}

TEST(ModulesOnDiskProbe, AMissingModulesDepSaysSo) {
  test::FakeHost host;
  host.file("/lib/modules/5.15.0-91-generic/kernel/x.ko", "").file("/proc/modules", "");
  host.uname({"node", "5.15.0-91-generic", "", "x86_64"});
  const auto found = test::scan(host, modules_on_disk);
  const auto* fact = found.find(facts::FactKey::parse("module.nvidia.on_disk"));
  ASSERT_NE(fact, nullptr);
  const auto* unknown = std::get_if<facts::Unknown>(&fact->reading);
  ASSERT_NE(unknown, nullptr);
  EXPECT_EQ(unknown->why, facts::Why::not_stated);
  EXPECT_NE(unknown->detail.find("modules.dep is missing"), std::string::npos);
}

TEST(ModulesOnDiskProbe, MachinesWithoutModules) {
  test::FakeHost container;
  container.file("/proc/modules", "nvidia 1 0 - Live 0x0\n");
  EXPECT_EQ(told(container, modules_on_disk, "module.nvidia.on_disk"), "unknown (not-stated)");
  test::FakeHost monolithic;
  monolithic.folder("/sys/module").folder("/proc");
  EXPECT_EQ(told(monolithic, modules_on_disk, "module.nvidia.on_disk"),
            "absent (kernel without loadable modules)");
  ModuleHost removed;  // an update took the running kernel's modules away
  removed.uname({"node", "5.15.0-67-generic", "", "x86_64"});
  EXPECT_EQ(told(removed, modules_on_disk, "module.nvidia.on_disk"),
            "absent (no modules of this kernel are installed)");
}

// Debian's packages call the files nvidia-current*.ko and lead modprobe there.
TEST(ModulesOnDiskProbe, InstallLinesLeadToTheFile) {
  ModuleHost host;
  host.file(ModuleHost::folder_of("5.15.0-91-generic") + "/modules.dep",
            "updates/dkms/nvidia-current.ko:\n");
  host.file(ModuleHost::dkms("nvidia-current.ko"), test::nvidia_module("525.147.05"));
  host.file("/etc/modprobe.d/nvidia.conf",
            "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS\n");
  const auto found = test::scan(host, modules_on_disk);
  EXPECT_EQ(told(found, "module.nvidia.on_disk"), "525.147.05");
  EXPECT_EQ(told(found, "module.nvidia.on_disk.path"), "updates/dkms/nvidia-current.ko");
}

TEST(ModulePaths, OnlyFilesOfTheFolderCount) {
  const ModulePaths paths = parse_module_paths(
      "a/b-c.ko.xz: d.ko\r\nextra/e.ko:\nother/e.ko:\n/etc/x.ko:\n../y.ko:\na/../../z.ko:\n"
      "no colon.ko\n:\nf.ko\n\n.ko:\n");
  EXPECT_EQ(paths, (ModulePaths{{"b_c", "a/b-c.ko.xz"}, {"e", "extra/e.ko"}}));
}

}  // namespace
}  // namespace goldenv::probe
