#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// The recorded machines under tests/hosts/ are written by a script, so that a fixture says where
// each of its lines comes from and can be changed in one place. These tests hold both together.

namespace goldenv::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

const std::string kHosts = GOLDENV_SOURCE_DIR "/tests/hosts";
const std::vector<std::string> kMachines = {
    "amd-2004",    "conda-llvm", "container",  "cpu-only",          "fine-2004",
    "gh200",       "hang-1804",  "intel-2004", "mixed-driver",      "rack-a",
    "rack-a-twin", "rack-b",     "stale-drm",  "third-gpu-missing", "wsl"};

/// Path below `top` -> content, or "-> target" of a link.
std::map<std::string, std::string> files_below(const std::string& top) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    const std::string path = "/" + entry.path().lexically_relative(top).string();
    if (entry.is_symlink()) {
      files[path] = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      files[path] = read_file(entry.path().string());
    }
  }
  return files;
}

struct Origin {
  std::vector<std::string> patterns;
  bool checked = false;
};

/// The blocks of a PROVENANCE file: a heading that ends in [checked] or [unverified], then
/// patterns, indented.
std::vector<Origin> origins(const std::string& text) {
  std::vector<Origin> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("[checked]") || line.ends_with("[unverified]")) {
      all.push_back({{}, line.ends_with("[checked]")});
    } else if (line.starts_with("  ") && !all.empty()) {
      all.back().patterns.push_back(line.substr(2));
    }
  }
  return all;
}

std::vector<std::string> without_origin(const std::string& machine, bool only_checked) {
  const std::vector<Origin> known = origins(read_file(kHosts + "/" + machine + "/PROVENANCE"));
  std::vector<std::string> bare;
  for (const auto& [path, content] : files_below(kHosts + "/" + machine)) {
    bool found = path == "/PROVENANCE";
    for (const Origin& origin : known) {
      for (const std::string& pattern : origin.patterns) {
        found = found || ((origin.checked || !only_checked) &&
                          fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0);
      }
    }
    if (!found) {
      bare.push_back(path);
    }
  }
  return bare;
}

TEST(RecordedHosts, AreWhatTheirGeneratorWrites) {
  const TempDir made;
  const Ended ended = run({.argv = {"/usr/bin/env", "python3", kHosts + "/generate", made.path()}});
  ASSERT_EQ(ended.status, 0) << ended.err;
  for (const std::string& machine : kMachines) {
    const auto committed = files_below(kHosts + "/" + machine);
    const auto generated = files_below(made.at(machine));
    ASSERT_GT(committed.size(), 50u) << machine;
    for (const auto& [path, content] : generated) {
      const auto found = committed.find(path);
      ASSERT_NE(found, committed.end()) << machine << path << " is not committed";
      EXPECT_EQ(found->second, content) << machine << path;
    }
    EXPECT_EQ(committed.size(), generated.size()) << machine << " holds files nobody writes";
  }
}

TEST(RecordedHosts, SayOfEveryFileWhatItsFormFollows) {
  for (const std::string& machine : kMachines) {
    EXPECT_THAT(without_origin(machine, false), IsEmpty()) << machine;
  }
}

// What the two racks differ in on purpose stands in these files.
TEST(RecordedHosts, PlantedDifferencesStandOnCheckedSources) {
  const std::set<std::string> planted = {
      "/sys/module/nvidia_uvm/version",
      "/sys/module/nvidia_uvm/srcversion",
      "/proc/sys/kernel/watchdog_thresh",
      "/etc/alternatives/cuda",
      "/usr/local/cuda-12.1/bin/nvcc",
      "/usr/local/cuda-12.2/bin/nvcc",
      "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
      "/sys/devices/system/clocksource/clocksource0/current_clocksource"};
  for (const std::string& machine : {std::string("rack-a"), std::string("rack-b")}) {
    for (const std::string& path : without_origin(machine, true)) {
      EXPECT_FALSE(planted.contains(path)) << machine << path;
    }
    const auto files = files_below(kHosts + "/" + machine);
    for (const std::string& path : planted) {
      EXPECT_TRUE(files.contains(path)) << machine << path;
    }
  }
}

// So do the troubles of the machines that have one.
TEST(RecordedHosts, PlantedTroublesStandOnCheckedSources) {
  const std::string modules = "/usr/lib/modules/5.15.0-91-generic/updates/dkms/";
  const std::map<std::string, std::vector<std::string>> planted = {
      {"hang-1804",
       {"/proc/sys/kernel/osrelease", "/usr/lib/os-release", "/lib/x86_64-linux-gnu/libc-2.27.so"}},
      {"fine-2004",
       {"/proc/sys/kernel/osrelease", "/usr/lib/os-release",
        "/usr/lib/x86_64-linux-gnu/libc-2.31.so"}},
      {"mixed-driver",
       {"/sys/module/nvidia/version", modules + "nvidia.ko",
        "/usr/lib/x86_64-linux-gnu/libcuda.so.550.90.12",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.90.12"}},
      {"stale-drm",
       {modules + "nvidia-drm.ko",
        "/usr/src/linux-headers-5.15.0-107-lowlatency/include/generated/utsrelease.h"}}};
  for (const auto& [machine, paths] : planted) {
    const auto files = files_below(kHosts + "/" + machine);
    const std::vector<std::string> bare = without_origin(machine, true);
    for (const std::string& path : paths) {
      EXPECT_TRUE(files.contains(path)) << machine << path;
      EXPECT_THAT(bare, Not(Contains(path))) << machine;
    }
  }
}

// Equal machines are made to differ in all that is their own, else silence about it proves nothing.
TEST(RecordedHosts, TwinsShareNoIdentity) {
  const auto a = files_below(kHosts + "/rack-a");
  const auto twin = files_below(kHosts + "/rack-a-twin");
  for (const std::string path :
       {"/etc/hostname", "/etc/machine-id", "/proc/cmdline", "/proc/uptime", "/proc/swaps",
        "/proc/meminfo", "/proc/self/mountinfo", "/proc/self/environ",
        "/proc/sys/kernel/random/boot_id", "/sys/class/net/eth0", "/record.yaml"}) {
    ASSERT_TRUE(a.contains(path) && twin.contains(path)) << path;
    EXPECT_NE(a.at(path), twin.at(path)) << path;
  }
  for (const auto& [path, content] : a) {
    if (path.starts_with("/proc/driver/nvidia/gpus/")) {
      EXPECT_FALSE(twin.contains(path)) << path;
    }
  }
}

}  // namespace
}  // namespace goldenv::test
