#pragma once

#include <string>
#include <string_view>

#include "elf/module_file.h"
#include "support/fake_host.h"

namespace goldenv::test {

/// A module as NVIDIA's driver has them.
inline std::string nvidia_module(const std::string& version,
                                 const std::string& release = "5.15.0-91-generic",
                                 const std::string& flags = "SMP mod_unload modversions ") {
  const std::string end(1, '\0');
  return kernel_module("license=NVIDIA" + end + "version=" + version + end +
                       "srcversion=0123456789ABCDEF01234567" + end + "vermagic=" + release + " " +
                       flags + end);
}

/// An Ubuntu 22.04 with two kernels; NVIDIA's modules lie in updates/dkms of the running one.
class ModuleHost : public FakeHost {
 public:
  ModuleHost() {
    uname({"node", "5.15.0-91-generic", "#101-Ubuntu SMP", "x86_64"});
    file("/proc/modules", "nvidia 1 0 - Live 0x0\n").folder("/sys/module");
    file(folder_of("5.15.0-91-generic") + "/modules.dep",
         "kernel/drivers/gpu/drm/nouveau/nouveau.ko: kernel/drivers/x.ko\n"
         "updates/dkms/nvidia.ko:\nupdates/dkms/nvidia-uvm.ko: updates/dkms/nvidia.ko\n");
    file(folder_of("5.15.0-91-generic") + "/modules.builtin", "kernel/drivers/ib/ib_core.ko\n");
    file(dkms("nvidia.ko"), nvidia_module("535.129.03"));
    file(dkms("nvidia-uvm.ko"),
         nvidia_module("535.129.03") + appended(pkcs7_of("node Secure Boot Module Signature key")));
    file(folder_of("5.15.0-91-generic") + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko",
         kernel_module(std::string_view("license=GPL and additional rights\0", 34)));
    file(folder_of("5.15.0-94-generic") + "/modules.dep", "kernel/nvidia-550/nvidia.ko:\n");
    file(folder_of("5.15.0-94-generic") + "/kernel/nvidia-550/nvidia.ko",
         nvidia_module("550.54.14", "5.15.0-94-generic"));
  }
  static std::string folder_of(const std::string& release) { return "/lib/modules/" + release; }
  static std::string dkms(const std::string& name) {
    return folder_of("5.15.0-91-generic") + "/updates/dkms/" + name;
  }
};

}  // namespace goldenv::test
