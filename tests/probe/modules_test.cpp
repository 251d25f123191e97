#include <gtest/gtest.h>

#include "probe/module_files.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe modules;
namespace {

using test::FakeHost;
using test::told;

struct LoadedHost : FakeHost {
  LoadedHost() {
    file("/proc/modules",
         "nvidia_uvm 1540096 4 - Live 0x0000000000000000 (POE)\n"
         "nvidia 56713216 1190 nvidia_uvm, Live 0x0000000000000000 (POE)\n"
         "old_style 16384 0 - Live 0x0000000000000000\n")
        .file("/sys/module/nvidia/initstate", "live\n")
        .file("/sys/module/nvidia/version", "535.129.03\n")
        .file("/sys/module/nvidia/srcversion", "0123456789ABCDEF01234567\n")
        .file("/sys/module/nvidia_uvm/initstate", "live\n")
        .file("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm", "N\n")
        .file("/sys/module/ib_core/parameters/recv_queue_size", "512\n")
        .file("/proc/driver/nvidia/params",
              "EnableStreamMemOPs: 0\nEnableGpuFirmware: 18\nRegistryDwords: \"\"\n")
        .file("/lib/modules/5.15.0-91-generic/modules.dep",
              "updates/dkms/nvidia.ko:\nupdates/dkms/nvidia-drm.ko.zst: updates/dkms/nvidia.ko\n"
              "kernel/drivers/gpu/drm/nouveau/nouveau.ko: kernel/drivers/x.ko\n")
        .file("/lib/modules/5.15.0-91-generic/modules.builtin", "kernel/drivers/ib/ib_uverbs.ko\n");
  }
};

TEST(ModulesProbe, AParameterIsNotAbsentWhereTheDriversListCannotBeRead) {
  const std::string params = "/proc/driver/nvidia/params";
  const std::string key = "module.nvidia.param.EnableStreamMemOPs";
  const auto of = [&](FakeHost& host) { return told(host, modules, key, test::only({key})); };
  LoadedHost host;
  EXPECT_EQ(of(host), "0");
  EXPECT_EQ(of(static_cast<FakeHost&>(LoadedHost().deny(params))), "unknown (denied)");
  EXPECT_EQ(of(static_cast<FakeHost&>(LoadedHost().fail(params, Errc::too_large))),
            "unknown (unreadable)");
  EXPECT_EQ(of(static_cast<FakeHost&>(LoadedHost().file(params, ""))), "unknown (unreadable)");
  EXPECT_EQ(of(static_cast<FakeHost&>(LoadedHost().fail(params, Errc::absent))),
            "absent (no such parameter)");
}

TEST(ModulesProbe, StatesAreToldApart) {
  const auto found = test::scan(LoadedHost(), modules);
  EXPECT_EQ(told(found, "module.nvidia.state"), "loaded");
  EXPECT_EQ(told(found, "module.ib_core.state"), "builtin");
  EXPECT_EQ(told(found, "module.ib_uverbs.state"), "builtin");
  EXPECT_EQ(told(found, "module.nvidia_drm.state"), "not loaded");
  EXPECT_EQ(told(found, "module.nouveau.state"), "not loaded");
  EXPECT_EQ(told(found, "module.amdgpu.state"), "not installed");
}

TEST(ModulesProbe, VersionsComeFromMemory) {
  const auto found = test::scan(LoadedHost(), modules);
  EXPECT_EQ(told(found, "module.nvidia.loaded"), "535.129.03");
  EXPECT_EQ(told(found, "module.nvidia.loaded.srcversion"), "0123456789ABCDEF01234567");
  EXPECT_EQ(told(found, "module.nvidia_drm.loaded"), "absent (not loaded)");
}

// nvidia_uvm states its version only from the 525 branch on.
TEST(ModulesProbe, LoadedModuleWithoutVersionSaysSo) {
  EXPECT_EQ(told(LoadedHost(), modules, "module.nvidia_uvm.loaded"), "absent (has no version)");
}

TEST(ModulesProbe, ListIsASetOfNames) {
  EXPECT_EQ(told(LoadedHost(), modules, "module.list"), "nvidia, nvidia_uvm, old_style");
}

TEST(ModulesProbe, ParametersOfNvidiaModulesAreRead) {
  const auto found = test::scan(LoadedHost(), modules);
  EXPECT_EQ(told(found, "module.nvidia.param.EnableGpuFirmware"), "18");
  EXPECT_EQ(told(found, "module.nvidia.param.RegistryDwords"), "");
  EXPECT_EQ(told(found, "module.nvidia_uvm.param.uvm_disable_hmm"), "N");
  EXPECT_EQ(told(found, "module.ib_core.param.recv_queue_size"), "not recorded");
}

TEST(ModulesProbe, OtherModulesAndParametersAreReadOnRequest) {
  const auto request = test::only({"module.ib_core.param.recv_queue_size", "module.zfs.state",
                                   "module.nvidia.param.NoSuch", "module.zfs.param.zfs_arc_max"});
  const auto found = test::scan(LoadedHost(), modules, request);
  EXPECT_EQ(told(found, "module.ib_core.param.recv_queue_size"), "512");
  EXPECT_EQ(told(found, "module.zfs.state"), "not installed");
  EXPECT_EQ(told(found, "module.nvidia.param.NoSuch"), "absent (no such parameter)");
  EXPECT_EQ(told(found, "module.zfs.param.zfs_arc_max"), "absent (not loaded)");
  EXPECT_EQ(found.facts.size(), 4u);
}

TEST(ModulesProbe, WriteOnlyParameterNeedsRoot) {
  LoadedHost host;
  host.deny("/sys/module/nvidia_uvm/parameters/uvm_secret");
  EXPECT_EQ(told(host, modules, "module.nvidia_uvm.param.uvm_secret"),
            "unknown (denied, needs root)");
}

// A container sees the host's memory but not its /lib/modules.
TEST(ModulesProbe, WithoutModuleFilesItDoesNotClaimThatNoneIsInstalled) {
  FakeHost host;
  host.file("/proc/modules", "nvidia 1 0 - Live 0x0\n").folder("/sys/module/nvidia");
  EXPECT_EQ(told(host, modules, "module.nvidia.state"), "loaded");
  EXPECT_EQ(told(host, modules, "module.nouveau.state"), "not installed or not loaded");
  EXPECT_EQ(told(host, modules, "module.nouveau.loaded"), "absent (not loaded)");
}

TEST(ModulesProbe, KernelWithoutLoadableModulesHasNoList) {
  FakeHost host;
  host.folder("/proc").folder("/sys/module/nvme");
  EXPECT_EQ(told(host, modules, "module.list"), "absent (kernel without loadable modules)");
}

TEST(ModulesProbe, DeniedIsUnknown) {
  FakeHost host;
  host.deny("/sys/module").deny("/proc/modules");
  EXPECT_EQ(told(host, modules, "module.nvidia.state"), "unknown (denied)");
  EXPECT_EQ(told(host, modules, "module.nvidia.loaded"), "unknown (denied)");
  EXPECT_EQ(told(host, modules, "module.list"), "unknown (denied)");
}

TEST(ModulesProbe, WhatIsNoListOfModulesDecidesNothing) {
  for (const char* text : {"", "cut"}) {
    FakeHost host;
    host.live(false).file("/proc/modules", text).file("/lib/modules/5.15.0-91-generic/x", "");
    EXPECT_EQ(told(host, modules, "module.mlx5_core.state"), "unknown (unreadable)") << text;
    EXPECT_EQ(told(host, modules, "module.list"), "unknown (unreadable)") << text;
  }
}

TEST(ModulesProbe, TreeOfFilesKnowsNothingOfMemory) {
  FakeHost host;
  host.fail("/proc", Errc::not_live).fail("/sys", Errc::not_live).live(false);
  EXPECT_EQ(told(host, modules, "module.nvidia.state"), "unknown (not-live)");
  EXPECT_EQ(told(host, modules, "module.list"), "unknown (not-live)");
}

TEST(ModulesProbe, ModuleThatIsJustLoadingIsNeither) {
  LoadedHost host;
  host.file("/sys/module/nvidia/initstate", "coming\n");
  EXPECT_EQ(told(host, modules, "module.nvidia.state"), "unknown (ambiguous)");
}

TEST(ModuleFiles, NamesAreReadFromAllForms) {
  const auto files = parse_module_files(
      "kernel/a/b-c.ko.xz: kernel/d.ko\nextra/e.ko:\nnonsense\n\n/x\n", "kernel/f.ko\r\n");
  EXPECT_EQ(files.loadable, (std::set<std::string, std::less<>>{"b_c", "e"}));
  EXPECT_EQ(files.builtin, (std::set<std::string, std::less<>>{"f"}));
  EXPECT_TRUE(parse_module_names("").empty());
  EXPECT_TRUE(parse_module_names("cut").empty());
}

}  // namespace
}  // namespace goldenv::probe
