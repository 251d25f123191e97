// goldenv on real kernels: Debian's, booted by an emulator with a stand-in for the driver's module
// that was built against their headers. What goldenv says there is held to what the emulator was
// told and to what the guest's kernel itself says. scripts/kernels fetches the kernels.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/initramfs.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

constexpr const char* kKernels = GOLDENV_SOURCE_DIR "/build/kernels";
/// Status of an emulator whose guest said that it is done (guest_init.cpp); a panic gives 0.
constexpr int kDone = 0x10 * 2 + 1;

/// Releases of the kernels, the older one first.
std::vector<std::string> kernels() {
  std::ifstream file(std::string(kKernels) + "/releases");
  std::vector<std::string> all;
  for (std::string line; std::getline(file, line);) {
    all.push_back(line);
  }
  EXPECT_EQ(all.size(), 2U) << "no kernels are there; scripts/kernels build/kernels fetches them";
  all.resize(2);
  return all;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The stand-in for nvidia.ko of a driver release, built for a kernel.
std::string module_of(const std::string& kernel, const std::string& driver) {
  const test::TempDir folder;
  const std::string source = GOLDENV_SOURCE_DIR "/tests/kernel/module";
  folder.file("Kbuild", test::read_file(source + "/Kbuild"));
  folder.file("nvidia.c", replaced(test::read_file(source + "/nvidia.c"), "\"535.129.03\"",
                                   '"' + driver + '"'));
  const test::Ended make = test::run(
      {.argv = {"/usr/bin/make", "-C", std::string(kKernels) + "/usr/src/linux-headers-" + kernel,
                "M=" + folder.path(), "CC=gcc", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"},
       .deadline = std::chrono::minutes(2)});
  EXPECT_EQ(make.status, 0) << make.out << make.err;
  return test::read_file(folder.at("nvidia.ko"));
}

/// "srcversion" of a module's .modinfo.
std::string modinfo(const std::string& module, const std::string& name) {
  const std::string key = std::string(1, '\0') + name + "=";
  const std::size_t at = module.find(key);
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? "" : std::string(module.c_str() + at + key.size());
}

std::string module_path(const std::string& kernel) {
  return "/lib/modules/" + kernel + "/updates/dkms/nvidia.ko";
}

void add_module(test::Tree& tree, const std::string& kernel, const std::string& module) {
  tree[module_path(kernel)] = module;
  tree["/lib/modules/" + kernel + "/modules.dep"] = "updates/dkms/nvidia.ko:\n";
  tree["/boot/vmlinuz-" + kernel] = "the name is what counts\n";
}

/// What a boot loader that starts a kernel next is configured with.
void boot_next(test::Tree& tree, const std::string& kernel) {
  tree["/boot/grub/grub.cfg"] = "set default=\"0\"\nmenuentry 'Debian' {\n  linux /boot/vmlinuz-" +
                                kernel + " root=/dev/sda1 ro quiet\n}\n";
}

/// What a guest wrote.
struct Told {
  std::map<std::string, std::string> truth;   ///< first lines of the kernel's files by their paths
  std::string module;                         ///< "loaded" or why not
  std::map<std::string, std::string> output;  ///< of each command
  std::map<std::string, std::string> status;
};

constexpr const char* kScan = "/goldenv scan --format yaml";
constexpr const char* kOverview = "/goldenv";

Told told_by(const std::string& text) {
  Told told;
  std::string command;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const auto rest = [&](const std::string& mark) { return line.substr(mark.size()); };
    if (line.starts_with("@@ truth ")) {
      const std::size_t colon = line.find(": ");
      told.truth[line.substr(9, colon - 9)] = line.substr(colon + 2);
    } else if (line.starts_with("@@ module ")) {
      told.module = rest("@@ module ");
    } else if (line.starts_with("@@ begin ")) {
      command = rest("@@ begin ");
    } else if (line.starts_with("@@ end ")) {
      told.status[command] = rest("@@ end ");
    } else if (!line.starts_with("@@ ")) {
      told.output[command] += line + "\n";
    } else {
      EXPECT_EQ(line, "@@ done");
    }
  }
  return told;
}

/// Boots a kernel on a machine that the emulator's `machine` words describe, with a tree as root.
Told boot(const std::string& kernel, const std::string& boot_words,
          const std::vector<std::string>& machine, test::Tree tree) {
  tree["/init"] = test::read_file(GOLDENV_GUEST_INIT);
  tree["/goldenv"] = test::read_file(GOLDENV_PORTABLE);
  tree["/commands"] = std::string(kScan) + "\n" + kOverview + "\n";
  tree["/module"] = module_path(kernel) + "\n";
  const test::TempDir folder;
  const std::string initramfs = folder.file("initramfs", test::initramfs_of(tree));
  std::vector<std::string> argv{"/usr/bin/qemu-system-x86_64",
                                "-accel",
                                "tcg",
                                "-M",
                                "q35",
                                "-nodefaults",
                                "-no-reboot",
                                "-display",
                                "none",
                                "-serial",
                                "file:" + folder.at("console"),
                                "-serial",
                                "file:" + folder.at("told"),
                                "-device",
                                "isa-debug-exit,iobase=0xf4,iosize=0x04",
                                "-kernel",
                                std::string(kKernels) + "/boot/vmlinuz-" + kernel,
                                "-initrd",
                                initramfs,
                                "-append",
                                "console=ttyS0 quiet panic=-1 " + boot_words};
  argv.insert(argv.end(), machine.begin(), machine.end());
  const test::Ended ended = test::run({.argv = argv, .deadline = std::chrono::minutes(4)});
  EXPECT_EQ(ended.status, kDone) << ended.err << test::read_file(folder.at("console"))
                                 << test::read_file(folder.at("told"));
  return told_by(test::read_file(folder.at("told")));
}

/// Letters of the bits of /proc/sys/kernel/tainted, as a YAML list. Source: the kernel's
/// admin-guide/tainted-kernels.
std::string letters_of(const std::string& tainted) {
  constexpr std::string_view kLetters = "PFSRMBUDAWCIOELKXTN";
  const unsigned long bits = std::stoul(tainted);
  EXPECT_EQ(bits >> kLetters.size(), 0U) << tainted;
  std::set<char> letters;
  for (std::size_t bit = 0; bit < kLetters.size(); ++bit) {
    if ((bits >> bit & 1) != 0) {
      letters.insert(kLetters[bit]);
    }
  }
  std::string list;
  for (const char letter : letters) {
    list += (list.empty() ? "" : ", ") + std::string(1, letter);
  }
  return "[" + list + "]";
}

/// Whether a kernel says that a proprietary module is in it, built elsewhere and not signed. A slow
/// host may add others (a processor that waited too long).
void expect_foreign_module(const Told& told) {
  constexpr unsigned long kForeign = 1U << 0 | 1U << 12 | 1U << 13;
  EXPECT_EQ(std::stoul(told.truth.at("/proc/sys/kernel/tainted")) & kForeign, kForeign);
}

/// "6.1.170" of "Linux version 6.1.0-47-cloud-amd64 (...) #1 SMP ... Debian 6.1.170-3
/// (2026-05-08)".
std::string upstream_of(const std::string& version) {
  const std::size_t at = version.rfind("Debian ");
  EXPECT_NE(at, std::string::npos) << version;
  const std::string debian = version.substr(at == std::string::npos ? 0 : at + 7);
  return debian.substr(0, debian.find('-'));
}

/// Holds a guest's snapshot to pins, all of them at must, by goldenv itself.
void expect_pins(const Told& told, const std::map<std::string, std::string>& pins) {
  const test::TempDir folder;
  std::string manifest = "goldenv: 1\nname: truth\npins:\n";
  for (const auto& [key, want] : pins) {
    manifest += "  " + key + ": {want: " + want + ", level: must}\n";
  }
  const std::string wanted = folder.file("truth.yaml", manifest);
  const std::string snapshot = folder.file("guest.yaml", told.output.at(kScan));
  const test::Ended check = test::run({.argv = {GOLDENV_PROGRAM, "check", wanted, snapshot}});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_NE(check.out.find("(" + std::to_string(pins.size()) + " pins)"), std::string::npos)
      << check.out;
}

/// The pins that follow from what a guest's kernel says of itself.
std::map<std::string, std::string> truth_of(const Told& told) {
  const auto& truth = told.truth;
  return {{"kernel", truth.at("/proc/sys/kernel/osrelease")},
          {"kernel.upstream", upstream_of(truth.at("/proc/version"))},
          {"kernel.taint", letters_of(truth.at("/proc/sys/kernel/tainted"))},
          {"host.product", '"' + truth.at("/sys/class/dmi/id/product_name") + '"'}};
}

TEST(KernelGuest, OlderKernelIsAsItIs) {
  const std::string kernel = kernels()[0];
  const std::string next = kernels()[1];
  const std::string module = module_of(kernel, "535.129.03");
  test::Tree tree;
  add_module(tree, kernel, module);
  add_module(tree, next, module);  // which was built for this kernel, not for the next one
  boot_next(tree, next);

  const Told told =
      boot(kernel, "sysctl.kernel.watchdog_thresh=30 clocksource=hpet",
           {"-cpu", "EPYC", "-m", "768", "-smp", "2,sockets=2", "-object",
            "memory-backend-ram,id=m0,size=384M", "-object", "memory-backend-ram,id=m1,size=384M",
            "-numa", "node,cpus=0,memdev=m0", "-numa", "node,cpus=1,memdev=m1", "-smbios",
            "type=0,vendor=Firm,version=F7,date=03/04/2026", "-smbios",
            "type=1,manufacturer=Maker,product=Two Sockets"},
           tree);
  EXPECT_EQ(told.module, "loaded");
  EXPECT_EQ(told.status.at(kScan), "0");
  EXPECT_EQ(told.truth.at("/sys/module/nvidia/srcversion"), modinfo(module, "srcversion"));
  EXPECT_EQ(told.truth.at("/sys/devices/system/node/online"), "0-1");
  EXPECT_EQ(told.truth.at("/sys/class/dmi/id/product_name"), "Two Sockets");
  std::map<std::string, std::string> pins = truth_of(told);
  pins.insert({{"driver", "535.129.03"},
               {"driver.flavor", "proprietary"},
               {"module.nvidia.loaded", "535.129.03"},
               {"module.nvidia.loaded.srcversion", modinfo(module, "srcversion")},
               {"module.nvidia.on_disk", "535.129.03"},
               {"module.nvidia.on_disk.built_for", kernel},
               {"module.nvidia.state", "loaded"},
               {"module.nvidia.param.EnableGpuFirmware", "18"},
               {"module.nvidia_uvm.loaded", "absent"},
               {"sysctl.kernel.watchdog_thresh", "30"},
               {"clocksource", "hpet"},
               {"cpu.vendor", "AuthenticAMD"},
               {"cpu.count", "2"},
               {"cpu.sockets", "2"},
               {"numa.count", "2"},
               {"bios", "F7"},
               {"bios.vendor", "Firm"},
               {"bios.date", "03/04/2026"},
               {"host.vendor", "Maker"},
               {"gpu.count", "0"},
               {"next_boot.kernel", next}});
  expect_pins(told, pins);
  expect_foreign_module(told);
  // Before the next boot, which would be without a GPU.
  EXPECT_EQ(told.status.at(kOverview), "1") << told.output.at(kOverview);
  EXPECT_NE(told.output.at(kOverview).find("nvidia.ko for the next kernel " + next +
                                           " was built for " + kernel),
            std::string::npos)
      << told.output.at(kOverview);
}

TEST(KernelGuest, NewerKernelIsAsItIs) {
  const std::string kernel = kernels()[1];
  const std::string module = module_of(kernel, "550.54.14");
  test::Tree tree;
  add_module(tree, kernel, module);
  boot_next(tree, kernel);

  const Told told = boot(kernel, "sysctl.kernel.watchdog_thresh=15 clocksource=acpi_pm",
                         {"-cpu", "Skylake-Server", "-m", "512", "-smp", "1", "-smbios",
                          "type=0,vendor=Other Firm,version=2.4", "-smbios",
                          "type=1,manufacturer=Another,product=One Socket"},
                         tree);
  EXPECT_EQ(told.module, "loaded");
  EXPECT_EQ(told.status.at(kScan), "0");
  EXPECT_EQ(told.truth.at("/sys/module/nvidia/srcversion"), modinfo(module, "srcversion"));
  std::map<std::string, std::string> pins = truth_of(told);
  pins.insert({{"driver", "550.54.14"},
               {"module.nvidia.loaded", "550.54.14"},
               {"module.nvidia.loaded.srcversion", modinfo(module, "srcversion")},
               {"module.nvidia.on_disk", "550.54.14"},
               {"module.nvidia.on_disk.built_for", kernel},
               {"module.nvidia.state", "loaded"},
               {"sysctl.kernel.watchdog_thresh", "15"},
               {"clocksource", "acpi_pm"},
               {"cpu.vendor", "GenuineIntel"},
               {"cpu.count", "1"},
               {"numa.count", "1"},
               {"bios", "\"2.4\""},
               {"bios.vendor", "Other Firm"},
               {"bios.date", "absent"},
               {"host.vendor", "Another"}});
  expect_pins(told, pins);
  expect_foreign_module(told);
  EXPECT_EQ(told.status.at(kOverview), "0") << told.output.at(kOverview);
}

TEST(KernelGuest, ModuleOfAnotherKernelIsToldBeforeAnyBoot) {
  const std::string older = kernels()[0];
  const std::string kernel = kernels()[1];
  const std::string module = module_of(older, "535.129.03");
  test::Tree tree;
  add_module(tree, kernel, module);
  boot_next(tree, kernel);

  // The disk alone.
  const test::TempDir disk;
  for (const auto& [path, content] : tree) {
    disk.file(path.substr(1), content);
  }
  const test::Ended scan = test::run({.argv = {GOLDENV_PROGRAM, "scan", "root:" + disk.path()}});
  EXPECT_EQ(scan.status, 0) << scan.err;
  EXPECT_NE(scan.out.find("nvidia.ko for the next kernel " + kernel + " was built for " + older),
            std::string::npos)
      << scan.out;

  // And it comes true.
  const Told told = boot(kernel, "", {"-cpu", "EPYC", "-m", "512"}, tree);
  EXPECT_EQ(told.module, "Exec format error");
  std::map<std::string, std::string> pins = truth_of(told);
  pins.insert({{"driver", "absent"},
               {"module.nvidia.loaded", "absent"},
               {"module.nvidia.loaded.srcversion", "absent"},
               {"module.nvidia.on_disk", "535.129.03"},
               {"module.nvidia.on_disk.built_for", older},
               {"module.nvidia.state", "not loaded"}});
  expect_pins(told, pins);
  EXPECT_EQ(told.status.at(kOverview), "1") << told.output.at(kOverview);
  EXPECT_NE(told.output.at(kOverview).find("nvidia.ko for the running kernel " + kernel +
                                           " was built for " + older),
            std::string::npos)
      << told.output.at(kOverview);
}

}  // namespace
}  // namespace goldenv
