#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// Recorded machines with one trouble each, beside a twin without it where there is one, and the
// manifests that ship with the program: what is told of each is exactly what was planted.

namespace goldenv::test {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string host(const std::string& name) {
  return "root:" GOLDENV_SOURCE_DIR "/tests/hosts/" + name;
}

/// Keys of all differences, those told inside another's row too.
Keys keys_of(const Json& differences) {
  Keys keys;
  for (const Json& difference : differences) {
    keys.insert(difference.at("key"));
    if (difference.contains("with")) {
      keys.merge(keys_of(difference.at("with")));
    }
  }
  return keys;
}

Json by_key(const Json& differences, const std::string& key) {
  for (const Json& difference : differences) {
    if (difference.at("key") == key) {
      return difference;
    }
  }
  return {};
}

/// "must driver-userland: libcuda ...", in the order told; of what a scan or a check found.
std::vector<std::string> contradictions(const Json& told) {
  std::vector<std::string> lines;
  for (const Json& finding : told.value("findings", Json::array())) {
    lines.push_back(finding.at("level").get<std::string>() + " " +
                    finding.at("rule").get<std::string>() + ": " +
                    finding.at("summary").get<std::string>());
  }
  return lines;
}

/// The built program in a fresh home that is also where it runs.
class Machines : public testing::Test {
 protected:
  Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    return run({.argv = std::move(words),
                .environment = {{{"HOME", home_.path()}, {"PATH", "/usr/bin:/bin"}}},
                .folder = home_.path()});
  }

  /// The JSON that a command prints, which must end with `status`.
  Json json(std::vector<std::string> words, int status) {
    words.insert(words.end(), {"--format", "json"});
    const Ended ended = goldenv(std::move(words));
    EXPECT_EQ(ended.status, status) << ended.out << ended.err;
    return Json::parse(ended.out, nullptr, false);
  }

  Json facts_of(const std::string& machine) {
    return json({"scan", host(machine), "--all"}, 0).at("facts");
  }

  TempDir home_;
};

TEST_F(Machines, ANodeThatHangsDiffersInItsSystemAndWhatFollowsFromIt) {
  const Keys system = {
      "glibc",
      "glibc.build_id",
      "glibc.package",
      "os.name",
      "os.release",
      "gcc",
      "libstdcxx",
      "python.copies",  // the system's own; the environment's is the same
      "dpkg.package.gcc",
      "dpkg.package.gcc-7",
      "dpkg.package.gcc-9",
      "dpkg.package.libc6",
      "dpkg.package.libstdc++6",
      "dpkg.package.python3",
      "dpkg.package.python3.6",
      "dpkg.package.python3.8",
  };
  Keys expected = {
      "kernel",
      "kernel.build",
      "kernel.compiler",
      "kernel.headers",
      "kernel.headers.compiler",
      "kernel.installed",
      "kernel.package",
      "kernel.upstream",
      "next_boot.kernel",
      "driver.compiler",
      "module.ib_core.loaded.srcversion",
      "module.mlx5_core.loaded.srcversion",
      "module.mlx5_ib.loaded.srcversion",
      "sysctl.vm.compaction_proactiveness",  // from Linux 5.9 on
      "dpkg.package.linux-headers-5.15.0-76-generic",
      "dpkg.package.linux-headers-5.4.0-149-generic",
      "dpkg.package.linux-image-5.15.0-76-generic",
      "dpkg.package.linux-image-5.4.0-149-generic",
  };
  for (const std::string name :
       {"nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_peermem", "nvidia_uvm"}) {
    expected.insert("module." + name + ".on_disk.built_for");
    expected.insert("module." + name + ".on_disk.vermagic");
  }
  expected.insert(system.begin(), system.end());

  const Json diff = json({"diff", host("hang-1804"), host("fine-2004")}, 1);
  const Json& differences = diff.at("differences");
  EXPECT_EQ(keys_of(differences), expected);
  EXPECT_EQ(diff.at("count"), expected.size());
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
  EXPECT_GT(diff.at("compared"), 400);

  const Json kernel = by_key(differences, "kernel");
  EXPECT_EQ(kernel.at("a").at("value"), "5.4.0-149-generic");
  EXPECT_EQ(kernel.at("b").at("value"), "5.15.0-76-generic");
  EXPECT_EQ(kernel.at("level"), "must");
  EXPECT_EQ(kernel.at("direction"), "newer");
  EXPECT_EQ(by_key(differences, "glibc").at("a").at("value"), "2.27");
  EXPECT_EQ(by_key(differences, "os.name").at("a").at("value"), "Ubuntu 18.04.6 LTS");
}

// Ubuntu 18.04 has /lib beside /usr/lib, and a Python too old for this torch.
TEST_F(Machines, ANodeThatHangsRunsTheSameFrameworkAsItsTwin) {
  for (const std::string machine : {"hang-1804", "fine-2004"}) {
    const Json facts = facts_of(machine);
    EXPECT_EQ(facts.at("torch").at("value"), "2.2.1+cu121") << machine;
    EXPECT_EQ(facts.at("nccl").at("value"), "2.19.3") << machine;
    EXPECT_EQ(facts.at("cuda").at("value"), "12.1.1") << machine;
    EXPECT_EQ(facts.at("python").at("value"), "3.10.14") << machine;
    EXPECT_EQ(facts.at("python.package.transformers").at("value"), "4.44.2") << machine;
    EXPECT_EQ(facts.at("gpu.count").at("value"), 4) << machine;
    EXPECT_EQ(facts.at("module.nvidia.on_disk").at("value"), "535.129.03") << machine;
  }
}

struct Checked {
  std::string manifest;
  std::string machine;
  int status;
  Keys differing;  ///< keys of pins that are not met
};

TEST_F(Machines, TheManifestsThatShipAreMetByTheMachinesTheyAreFor) {
  const std::vector<Checked> all = {
      {"train-torch221-cu121", "fine-2004", 0, {}},
      {"train-torch221-cu121", "hang-1804", 1, {"kernel"}},
      {"train-torch212-a100x8", "rack-a", 0, {}},
      {"train-torch212-a100x8", "rack-a-twin", 0, {}},
      {"train-torch212-a100x8", "third-gpu-missing", 1, {"gpu.count"}},
      // At level should: told, and no failure.
      {"train-torch212-a100x8",
       "rack-b",
       0,
       {"clocksource", "cpu.governor", "sysctl.kernel.watchdog_thresh"}},
      {"driver550-h100", "stale-drm", 0, {}},
      {"driver550-h100",
       "mixed-driver",
       1,
       {"driver.libcuda", "driver.nvml", "module.nvidia.on_disk", "next_boot.driver"}},
  };
  std::set<std::string> tested;
  for (const Checked& one : all) {
    const std::string file = GOLDENV_SOURCE_DIR "/manifests/" + one.manifest + ".yaml";
    const Json check = json({"check", file, host(one.machine)}, one.status);
    EXPECT_EQ(keys_of(check.at("differences")), one.differing) << one.manifest << one.machine;
    EXPECT_EQ(check.at("matches"), one.differing.empty()) << one.manifest << one.machine;
    EXPECT_THAT(check.at("unknown"), IsEmpty()) << one.manifest << one.machine;
    tested.insert(one.manifest + ".yaml");
  }
  std::set<std::string> shipped;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDENV_SOURCE_DIR "/manifests")) {
    shipped.insert(entry.path().filename().string());
  }
  EXPECT_EQ(shipped, tested);
}

TEST_F(Machines, ADriverUpgradedUnderItsModuleContradictsItself) {
  const Json scan = json({"scan", host("mixed-driver")}, 0);
  EXPECT_THAT(
      contradictions(scan),
      ElementsAre("must driver-userland: libcuda 550.90.12 beside module 550.90.07",
                  "must driver-userland: libnvidia-ml 550.90.12 beside module 550.90.07",
                  "should module-files: nvidia.ko on disk is 550.90.12, in memory is 550.90.07",
                  "should next-boot: the next boot loads driver 550.90.12, in memory is "
                  "550.90.07"));
  const Json& facts = scan.at("facts");
  EXPECT_EQ(facts.at("driver").at("value"), "550.90.07");
  EXPECT_EQ(facts.at("driver.gsp").at("value"), "550.90.07");
  EXPECT_EQ(facts.at("driver.libcuda").at("value"), "550.90.12");

  const Ended text = goldenv({"scan", host("mixed-driver")});
  EXPECT_THAT(text.out,
              HasSubstr("contradiction (must): libcuda 550.90.12 beside module 550.90.07\n"));
}

TEST_F(Machines, ADriverModuleAndHeadersOfAnotherKernelContradictTheRunningOne) {
  const Json scan = json({"scan", host("stale-drm")}, 0);
  EXPECT_THAT(
      contradictions(scan),
      ElementsAre("should kernel-headers: headers of 5.15.0-107-lowlatency for the running kernel "
                  "5.15.0-91-generic",
                  "should module-files: nvidia-drm.ko for the running kernel 5.15.0-91-generic "
                  "was built for 5.15.0-107-lowlatency"));
}

TEST_F(Machines, ThoseWithoutATroubleContradictNothing) {
  for (const std::string machine : {"fine-2004", "hang-1804", "amd-2004", "intel-2004", "wsl",
                                    "gh200", "conda-llvm", "user-service"}) {
    EXPECT_THAT(contradictions(json({"scan", host(machine)}, 0)), IsEmpty()) << machine;
  }
}

// What .bashrc exports reaches no service: neither its unit nor its process has it.
TEST_F(Machines, AServiceOfTheUsersLacksWhatTheShellExports) {
  const Json diff = json({"diff", host("fine-2004"), host("user-service")}, 1);
  EXPECT_EQ(keys_of(diff.at("differences")), Keys{"env.CUDA_VISIBLE_DEVICES"});
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
  const Json visible = by_key(diff.at("differences"), "env.CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(visible.at("a").at("value"), "0,1");
  EXPECT_TRUE(visible.at("b").contains("absent")) << visible;

  home_.file(
      "m.yaml",
      "goldenv: 1\npins:\n  env.CUDA_VISIBLE_DEVICES@user-unit:jupyter: \"0,1\"\n"
      "  env.NCCL_DEBUG@user-unit:jupyter: WARN\n  limits.memlock@user-unit:jupyter: absent\n");
  const Json check = json({"check", "m.yaml", host("user-service")}, 1);
  EXPECT_EQ(keys_of(check.at("differences")), Keys{"env.CUDA_VISIBLE_DEVICES@user-unit:jupyter"});
  EXPECT_THAT(check.at("unknown"), IsEmpty());
}

TEST_F(Machines, AGpuThatIsMissingOnTheBusIsCountedOutAndNothingElse) {
  const Json diff = json({"diff", host("rack-a"), host("third-gpu-missing")}, 1);
  EXPECT_EQ(
      keys_of(diff.at("differences")),
      (Keys{"gpu.count", "gpu.count.bound", "gpu.cpu_affinity", "gpu.numa_node", "iommu.groups"}));
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
  const Json count = by_key(diff.at("differences"), "gpu.count");
  EXPECT_EQ(count.at("a").at("value"), 8);
  EXPECT_EQ(count.at("b").at("value"), 7);
  const Json nodes = by_key(diff.at("differences"), "gpu.numa_node");
  EXPECT_EQ(nodes.at("b").at("value"), (Json{{"0", 3}, {"1", 4}}));
}

// No file tells the Windows driver's version: it is unknown, and neither absent nor a number.
TEST_F(Machines, UnderWindowsTheDriverIsUnknownAndTheRestIsTold) {
  const Json facts = facts_of("wsl");
  EXPECT_EQ(facts.at("host.platform").at("value"), "wsl2");
  EXPECT_EQ(facts.at("kernel").at("value"), "5.15.167.4-microsoft-standard-WSL2");
  EXPECT_EQ(facts.at("driver").at("unknown"), "not-probed");
  EXPECT_EQ(facts.at("driver").at("needs"), "nvml");
  EXPECT_EQ(facts.at("gpu.count").at("unknown"), "not-probed");
  EXPECT_TRUE(facts.at("driver.libcuda").contains("unknown")) << facts.at("driver.libcuda");
  EXPECT_EQ(facts.at("driver.libcuda.origin").at("value"), "wsl");
  EXPECT_EQ(facts.at("driver.numbering").at("value"), "windows");
  EXPECT_TRUE(facts.at("driver.flavor").contains("absent")) << facts.at("driver.flavor");
  EXPECT_EQ(facts.at("torch").at("value"), "2.2.1+cu121");
  EXPECT_EQ(facts.at("nccl").at("value"), "2.19.3");

  home_.file("m.yaml", "goldenv: 1\npins:\n  driver: 535.129.03\n  torch: 2.2.1+cu121\n");
  const Json check = json({"check", "m.yaml", host("wsl")}, 3);
  EXPECT_THAT(check.at("differences"), IsEmpty());
  EXPECT_EQ(keys_of(check.at("unknown")), Keys{"driver"});
}

TEST_F(Machines, AnArmServerIsReadInItsOwnForms) {
  const Json facts = facts_of("gh200");
  EXPECT_EQ(facts.at("cpu.arch").at("value"), "aarch64");
  EXPECT_EQ(facts.at("cpu.vendor").at("value"), "ARM");
  EXPECT_EQ(facts.at("cpu.model").at("value"), "Neoverse-V2");
  EXPECT_EQ(facts.at("memory.page_size").at("value"), 65536);
  EXPECT_EQ(facts.at("kernel").at("value"), "6.5.0-1019-nvidia-64k");
  EXPECT_EQ(facts.at("driver").at("value"), "550.90.07");
  EXPECT_EQ(facts.at("driver.flavor").at("value"), "open");
  EXPECT_EQ(facts.at("driver.libcuda.path").at("value"),
            "/usr/lib/aarch64-linux-gnu/libcuda.so.550.90.07");
  EXPECT_EQ(facts.at("module.nvidia.on_disk.license").at("value"), "Dual MIT/GPL");
  EXPECT_EQ(facts.at("gpu.name").at("value"), "NVIDIA GH200 480GB");
  EXPECT_EQ(facts.at("nccl").at("value"), "2.18.3");
  EXPECT_EQ(facts.at("cuda").at("value"), "12.1.1");
  EXPECT_EQ(facts.at("glibc").at("value"), "2.35");
}

// The interpreter's own search path finds conda's libstdc++ first, and both LLVMs.
TEST_F(Machines, CondaHasItsOwnLlvmBesideTheSystems) {
  const Json facts = facts_of("conda-llvm");
  EXPECT_EQ(facts.at("python.kind").at("value"), "conda");
  EXPECT_EQ(facts.at("conda.package.libllvm15").at("value"), "15.0.7");
  EXPECT_EQ(facts.at("llvm@/opt/conda/envs/train/lib/libLLVM-15.so").at("value"), "15.0.7");
  EXPECT_EQ(facts.at("llvm@/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1").at("value"), "14.0.6");
  EXPECT_EQ(facts.at("llvm").at("unknown"), "ambiguous");
  EXPECT_EQ(facts.at("llvm.copies").at("value"), (Json{{"14.0.6", 1}, {"15.0.7", 1}}));
  EXPECT_EQ(facts.at("libstdcxx").at("value"), "3.4.32");
  EXPECT_EQ(facts.at("libstdcxx.origin").at("value"), "conda");
}

}  // namespace
}  // namespace goldenv::test
