#include "findings/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "facts/catalogue.h"
#include "findings/rule.h"

namespace goldenv::findings {
namespace {

using facts::Absent;
using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Snapshot;
using facts::Unknown;
using facts::Value;
using facts::Why;

Snapshot machine(std::vector<std::pair<std::string, Reading>> readings) {
  std::vector<Fact> all;
  for (auto& [key, reading] : readings) {
    all.push_back({FactKey::parse(key), std::move(reading), {}});
  }
  return facts::make_snapshot("m", {}, std::move(all));
}

std::pair<std::string, Reading> says(std::string key, std::string text) {
  return {std::move(key), Value::scalar(std::move(text))};
}

/// "must driver-userland: libcuda ...", a line each.
std::vector<std::string> found_in(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const Finding& finding : contradictions(snapshot)) {
    EXPECT_FALSE(finding.means.empty());
    EXPECT_FALSE(finding.remedy.empty());
    EXPECT_GE(finding.facts.size(), 1U);
    for (const FactKey& key : finding.facts) {
      EXPECT_NE(facts::entry_of(key.name), nullptr) << key.text();
    }
    lines.push_back(std::string(facts::name(finding.level)) + " " + std::string(finding.rule) +
                    ": " + finding.summary);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Findings, RulesAskForKeysOfTheCatalogue) {
  std::set<std::string_view> names;
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(names.insert(rule->name).second) << rule->name;
    EXPECT_FALSE(rule->keys.empty());
    for (const std::string_view key : rule->keys) {
      const bool is_family = facts::entry_of(std::string(key) + ".x") != nullptr;
      EXPECT_TRUE(facts::entry_of(key) != nullptr || is_family) << key;
    }
  }
}

TEST(Findings, AWholeDriverIsNoContradiction) {
  EXPECT_EQ(
      found_in(machine(
          {says("module.nvidia.loaded", "550.90.07"), says("module.nvidia_uvm.loaded", "550.90.07"),
           says("driver.libcuda", "550.90.07"), says("driver.nvml", "550.90.07"),
           says("driver.gsp", "550.90.07"), says("driver.fabricmanager", "550.90.07")})),
      Lines{});
}

TEST(Findings, PartsOfAnotherRelease) {
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                              says("module.nvidia_uvm.loaded", "550.90.12"),
                              says("driver.libcuda", "550.90.12"),
                              {"driver.nvml", Value::prefix("550.54")},
                              says("driver.fabricmanager", "550.127.05")})),
            (Lines{"must driver-modules: nvidia_uvm 550.90.12 beside nvidia 550.90.07",
                   "must driver-userland: libcuda 550.90.12 beside module 550.90.07",
                   "must driver-userland: libnvidia-ml 550.54... beside module 550.90.07",
                   "must driver-userland: fabric manager 550.127.05 beside module 550.90.07"}));
}

TEST(Findings, AVersionThatIsCutOffContradictsOnlyAnotherBeginning) {
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "570.124.06"),
                              {"driver.nvml", Value::prefix("570.124")}})),
            Lines{});
}

TEST(Findings, ForwardCompatibilityAndWindowsAreMeant) {
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "535.129.03"),
                              says("driver.libcuda", "550.90.07"),
                              says("driver.libcuda.origin", "forward-compat")})),
            Lines{});
  EXPECT_EQ(
      found_in(machine({says("module.nvidia.loaded", "552.22"), says("driver.numbering", "windows"),
                        says("driver.libcuda", "550.76.01")})),
      Lines{});
}

TEST(Findings, UnknownAndAbsentContradictNothing) {
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                              {"driver.libcuda", Unknown{Why::denied, "", "root"}},
                              {"driver.nvml", Absent{}},
                              {"kernel.headers", Unknown{Why::unreadable, "", ""}},
                              says("kernel", "5.15.0-76-generic"),
                              {"next_boot.kernel", Unknown{Why::ambiguous, "", ""}},
                              {"module.nvidia.on_disk@6.1", Absent{}}})),
            Lines{});
}

TEST(Findings, AGspOfOneGpuThatDiffersIsSeenInTheTally) {
  EXPECT_EQ(
      found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                        {"driver.gsp", Value::tally({{"550.90.07", "7"}, {"550.54.15", "1"}})}}))
          .size(),
      1U);
}

TEST(Findings, WhatTheDriverItselfSaysOfAMismatch) {
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                              says("driver.nvml.status", "version mismatch"),
                              {"log.api_mismatch", Value::set({"535.54.03 against 550.90.07",
                                                               "1.2 against 535.54.03"})}})),
            (Lines{"must driver-userland: NVML refuses module 550.90.07: driver/library version "
                   "mismatch",
                   "should driver-userland: the kernel's log tells of a client of another release: "
                   "535.54.03 against 550.90.07"}));
  // Told once: the library's own version shows it.
  EXPECT_EQ(
      found_in(machine({says("module.nvidia.loaded", "550.90.07"), says("driver.nvml", "550.54.15"),
                        says("driver.nvml.status", "version mismatch")}))
          .size(),
      1U);
  EXPECT_EQ(found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                              says("driver.nvml.status", "ok"),
                              {"log.api_mismatch", Value::set({})}})),
            Lines{});
}

TEST(Findings, FirmwareFilesOfAnotherRelease) {
  const auto with = [](std::vector<std::string> files) {
    return found_in(machine({says("module.nvidia.loaded", "550.90.07"),
                             says("driver.gsp", "550.90.07"),
                             {"driver.gsp.on_disk", Value::set(std::move(files))}}));
  };
  EXPECT_EQ(with({"550.54.15"}), Lines{"should driver-userland: GSP firmware on disk is of "
                                       "550.54.15, not of module 550.90.07"});
  EXPECT_EQ(with({"550.54.15", "550.90.07"}), Lines{});
  EXPECT_EQ(with({}), Lines{});  // a container shows none
}

TEST(Findings, GpusThatAreThereAndCannotBeUsed) {
  EXPECT_EQ(found_in(machine({says("gpu.count", "8"), says("gpu.count.bound", "7"),
                              says("gpu.count.usable", "4")})),
            (Lines{"should gpu-counts: 1 of 8 GPUs on the bus not held by their driver",
                   "should gpu-counts: 3 of 7 GPUs that the driver holds not open to this "
                   "process"}));
  EXPECT_EQ(found_in(machine({says("gpu.count", "8"),
                              says("gpu.count.bound", "8"),
                              {"gpu.count.usable", Unknown{Why::not_live, "", ""}}})),
            Lines{});
}

TEST(Findings, AFabricManagerThatDoesNotRun) {
  const auto with = [](const std::string& switches, const std::string& state) {
    return found_in(
        machine({says("nvswitch.count", switches), says("service.nvidia-fabricmanager", state)}));
  };
  EXPECT_EQ(with("6", "failed"), Lines{"must fabric-manager: the fabric manager has failed on a "
                                       "machine with 6 NVSwitches"});
  EXPECT_EQ(with("6", "active"), Lines{});
  EXPECT_EQ(with("0", "inactive"), Lines{});
  EXPECT_EQ(found_in(machine({says("nvswitch.count", "6"),
                              {"service.nvidia-fabricmanager", Absent{"no systemd"}}})),
            Lines{});
}

TEST(Findings, HeadersOfAnotherKernel) {
  EXPECT_EQ(found_in(machine({says("kernel", "5.15.0-76-generic"),
                              says("kernel.headers", "5.15.0-78-generic")})),
            Lines{"should kernel-headers: headers of 5.15.0-78-generic for the running kernel "
                  "5.15.0-76-generic"});
}

TEST(Findings, ModulesForAnotherKernelAndNoneForTheNext) {
  EXPECT_EQ(found_in(machine({says("kernel", "5.15.0-76-generic"),
                              says("module.nvidia.on_disk", "535.129.03"),
                              says("module.nvidia.on_disk.built_for", "5.15.0-73-generic")})),
            Lines{"must module-files: nvidia.ko for the running kernel 5.15.0-76-generic was built "
                  "for 5.15.0-73-generic"});
  EXPECT_EQ(found_in(machine({says("kernel", "5.15.0-76-generic"),
                              says("next_boot.kernel", "5.15.0-91-generic"),
                              says("module.nvidia.loaded", "535.129.03"),
                              says("module.nvidia.on_disk", "535.129.03"),
                              {"module.nvidia.on_disk@5.15.0-91-generic", Absent{}}})),
            Lines{"must module-files: no nvidia.ko for the next kernel 5.15.0-91-generic"});
}

TEST(Findings, OneModuleOfTheDriverForAnotherKernel) {
  const auto built = [](const std::string& module, const std::string& kernel) {
    return says("module." + module + ".on_disk.built_for", kernel);
  };
  EXPECT_EQ(
      found_in(machine({says("kernel", "5.15.0-76-generic"), built("nvidia", "5.15.0-76-generic"),
                        built("nvidia_drm", "5.15.0-73-generic"),
                        built("nvidia_uvm", "5.15.0-73-generic")})),
      (Lines{"must module-files: nvidia-uvm.ko for the running kernel 5.15.0-76-generic was "
             "built for 5.15.0-73-generic",
             "should module-files: nvidia-drm.ko for the running kernel 5.15.0-76-generic "
             "was built for 5.15.0-73-generic"}));
  // All of one build are told once.
  EXPECT_EQ(
      found_in(machine({says("kernel", "5.15.0-76-generic"), built("nvidia", "5.15.0-73-generic"),
                        built("nvidia_drm", "5.15.0-73-generic")})),
      Lines{"must module-files: nvidia.ko for the running kernel 5.15.0-76-generic was built "
            "for 5.15.0-73-generic"});
}

TEST(Findings, ADriverThatWasReplacedUnderItsModule) {
  EXPECT_EQ(found_in(machine({says("kernel", "5.15.0-76-generic"), says("driver", "535.129.03"),
                              says("module.nvidia.loaded", "535.129.03"),
                              says("module.nvidia.on_disk", "535.154.05"),
                              says("next_boot.driver", "535.154.05")})),
            (Lines{"should module-files: nvidia.ko on disk is 535.154.05, in memory is 535.129.03",
                   "should next-boot: the next boot loads driver 535.154.05, in memory is "
                   "535.129.03"}));
}

TEST(Findings, ASettingThatTheNextBootChanges) {
  EXPECT_EQ(found_in(machine({says("sysctl.kernel.watchdog_thresh", "30"),
                              says("next_boot.sysctl.kernel.watchdog_thresh", "60"),
                              says("sysctl.vm.swappiness", "10"),
                              says("next_boot.sysctl.vm.swappiness", "10"),
                              {"next_boot.sysctl.vm.overcommit_memory", Absent{}},
                              says("sysctl.vm.overcommit_memory", "1")})),
            Lines{"should next-boot: kernel.watchdog_thresh is 30, the next boot sets 60"});
}

TEST(Findings, AskForWhatIsNowOfAllThatTheNextBootSets) {
  const Snapshot snapshot = machine({says("next_boot.sysctl.kernel.pid_max", "4194304"),
                                     says("next_boot.sysctl.vm.swappiness", "10"),
                                     says("sysctl.vm.swappiness", "10"),
                                     {"next_boot.driver", Unknown{Why::not_stated, "", ""}}});
  const std::vector<FactKey> beside = keys_beside(snapshot);
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_EQ(beside.front().text(), "sysctl.kernel.pid_max");
}

TEST(Findings, AskForTheModulesOfTheKernelThatIsNext) {
  const auto asked = [](std::string next) {
    const std::vector<FactKey> beside = keys_beside(
        machine({says("kernel", "6.1.0-47-amd64"), says("next_boot.kernel", std::move(next)),
                 says("module.nvidia.on_disk@6.12.117-amd64", "535.129.03")}));
    Lines lines;
    for (const FactKey& key : beside) {
      lines.push_back(key.text());
    }
    return lines;
  };
  EXPECT_THAT(asked("6.12.117-amd64"),
              testing::Contains("module.nvidia.on_disk.built_for@6.12.117-amd64"));
  EXPECT_THAT(asked("6.12.117-amd64"),
              testing::Not(testing::Contains("module.nvidia.on_disk@6.12.117-amd64")));
  EXPECT_EQ(asked("6.1.0-47-amd64"), Lines{});
}

TEST(Findings, AFolderThatHoldsAnotherToolkitThanItsName) {
  const auto toolkit = [](std::string link, std::string version) {
    return found_in(machine({says("cuda.toolkit.link", link), says("cuda.toolkit.path", link),
                             says("cuda.toolkit", std::move(version))}));
  };
  EXPECT_EQ(toolkit("/usr/local/cuda-12.1", "12.1.1"), Lines{});
  EXPECT_EQ(
      toolkit("/usr/local/cuda-12.1", "12.10.1"),
      Lines{"should cuda-link: /usr/local/cuda ends in /usr/local/cuda-12.1, which holds CUDA "
            "12.10.1"});
  EXPECT_EQ(toolkit("/usr/local/cuda-12.1", "12.2.2").size(), 1U);
  EXPECT_EQ(toolkit("/opt/cuda-old", "12.2.2"), Lines{});
  // nvcc on PATH is of another folder: the link says nothing of it.
  EXPECT_EQ(found_in(machine({says("cuda.toolkit.link", "/usr/local/cuda-12.1"),
                              says("cuda.toolkit.path", "/usr/local/cuda-12.2"),
                              says("cuda.toolkit", "12.2.2")})),
            Lines{});
}

TEST(Findings, WheelsThatWriteOnePath) {
  EXPECT_EQ(found_in(machine({says("nccl", "2.21.5"), says("nccl.origin", "wheel"),
                              says("python.package.nvidia-nccl-cu12", "2.21.5")})),
            Lines{});
  EXPECT_EQ(
      found_in(machine({says("nccl", "2.27.3"), says("nccl.origin", "wheel"),
                        says("python.package.nvidia-nccl-cu12", "2.21.5")})),
      Lines{"must python-wheels: nccl in force is 2.27.3, installed is nvidia-nccl-cu12 2.21.5"});
  EXPECT_EQ(found_in(machine({says("nccl", "2.27.3"), says("nccl.origin", "wheel"),
                              says("python.package.nvidia-nccl-cu12", "2.21.5"),
                              says("python.package.nvidia-nccl-cu13", "2.27.3")})),
            Lines{"should python-wheels: nccl in force is 2.27.3, installed are nvidia-nccl-cu12 "
                  "2.21.5, nvidia-nccl-cu13 2.27.3"});
  // What the system's loader finds is none of pip's business.
  EXPECT_EQ(found_in(machine({says("nccl", "2.27.3"), says("nccl.origin", "system"),
                              says("python.package.nvidia-nccl-cu12", "2.21.5")})),
            Lines{});
}

TEST(Findings, CudnnInPiecesAndNcclOfAnotherCuda) {
  EXPECT_EQ(found_in(machine({says("cudnn", "8.9.2.26"),
                              {"cudnn.parts", Value::map({{"8.9.2", "1"}, {"8.9.7", "6"}})},
                              says("cuda", "12.1.1"),
                              says("nccl.cuda", "11.8")})),
            (Lines{"must cuda-libraries: cuDNN's libraries are of several versions: 8.9.2, 8.9.7",
                   "should cuda-libraries: NCCL was built for CUDA 11.8, the runtime is CUDA "
                   "12.1.1"}));
}

TEST(Findings, TwoDistInfosOfOneName) {
  EXPECT_EQ(found_in(machine({{"python.duplicates", Value::set({"numpy"})}})),
            Lines{"should python-wheels: two dist-infos of one name: numpy"});
  EXPECT_EQ(found_in(machine({{"python.duplicates", Value::set({})}})), Lines{});
}

}  // namespace
}  // namespace goldenv::findings
