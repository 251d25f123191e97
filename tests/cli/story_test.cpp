#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// What the program is for, told on the recorded machines of tests/hosts/: each differs from its
// like in what was planted, and in everything that is a machine's own.

namespace goldenv::test {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Keys kRackKeys = {
    "clocksource",
    "cpu.governor",
    "cuda.toolkit",
    "cuda.toolkit.link",
    "cuda.toolkit.nvcc",
    "cuda.toolkit.path",
    "module.nvidia_uvm.loaded",
    "module.nvidia_uvm.loaded.srcversion",
    "sysctl.kernel.watchdog_thresh",
};
const Keys kProcessorKeys = {"cpu.flags", "cpu.microcode", "cpu.model", "cpu.stepping",
                             "cpu.vendor"};

std::string host(const std::string& name) {
  return "root:" GOLDENV_SOURCE_DIR "/tests/hosts/" + name;
}

/// The built program in a fresh home that is also where it runs.
class Story : public testing::Test {
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

  /// Compares with tests/golden/<name>, wherever this project lies; with GOLDENV_ACCEPT=1 rewrites
  /// it, and the test counts as skipped.
  static void expect_golden(const std::string& name, std::string text) {
    const std::string top = GOLDENV_SOURCE_DIR "/";
    for (std::size_t at = 0; (at = text.find(top, at)) != std::string::npos;) {
      text.erase(at, top.size());
    }
    const std::string path = GOLDENV_SOURCE_DIR "/tests/golden/" + name;
    if (std::getenv("GOLDENV_ACCEPT") != nullptr) {
      std::ofstream(path, std::ios::binary) << text;
      GTEST_SKIP() << "accepted as " << path;
    }
    EXPECT_EQ(read_file(path), text);
  }

  TempDir home_;
};

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

TEST_F(Story, TheManifestOfTheReadmeIsMetByRackA) {
  const std::string readme = read_file(GOLDENV_SOURCE_DIR "/README.md");
  constexpr std::string_view kFence = "```yaml\n";
  const std::size_t begin = readme.find(kFence) + kFence.size();
  home_.file("train.yaml", readme.substr(begin, readme.find("```", begin) - begin));
  const Ended check = goldenv({"check", "train.yaml", host("rack-a")});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("(6 pins)"));
}

TEST_F(Story, ACountOfEqualGpusIsMetAndTheOneBeyondIsAbsent) {
  home_.file("m.yaml",
             "goldenv: 1\npins:\n  gpu.vbios: {92.00.45.00.03: 8}\n  gpu.vbios@9: absent\n");
  const Ended check = goldenv({"check", "m.yaml", host("rack-a")});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  const Json beyond = json({"explain", "gpu.vbios@9", host("rack-a")}, 0).at("fact");
  EXPECT_EQ(beyond.at("absent"), "there are 8, 0 to 7");
}

TEST_F(Story, TwoRacksDifferInWhatWasPlantedAndNothingElse) {
  const Json diff = json({"diff", host("rack-a"), host("rack-b")}, 1);
  const Json& differences = diff.at("differences");
  EXPECT_EQ(keys_of(differences), kRackKeys);
  EXPECT_EQ(diff.at("count"), kRackKeys.size());
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
  EXPECT_GT(diff.at("compared"), 200);

  const Json uvm = by_key(differences, "module.nvidia_uvm.loaded");
  EXPECT_EQ(uvm.at("a").at("value"), "535.129.01");
  EXPECT_EQ(uvm.at("b").at("value"), "535.129.03");
  EXPECT_EQ(uvm.at("kind"), "version");
  EXPECT_EQ(uvm.at("direction"), "newer");
  EXPECT_EQ(uvm.at("part"), "patch");
  EXPECT_EQ(uvm.at("level"), "must");
  const Json toolkit = by_key(differences, "cuda.toolkit");
  EXPECT_EQ(toolkit.at("a").at("value"), "12.1.1");
  EXPECT_EQ(toolkit.at("b").at("value"), "12.2.2");
  EXPECT_EQ(toolkit.at("part"), "minor");
  const Json watchdog = by_key(differences, "sysctl.kernel.watchdog_thresh");
  EXPECT_EQ(watchdog.at("a").at("value"), "60");
  EXPECT_EQ(watchdog.at("b").at("value"), "30");
  EXPECT_EQ(watchdog.at("kind"), "changed");
  EXPECT_EQ(by_key(differences, "cpu.governor").at("b").at("value"), "powersave");
  EXPECT_EQ(by_key(differences, "clocksource").at("b").at("value"), "hpet");
}

TEST_F(Story, TheDifferenceOfTwoRacksAsPeopleReadIt) {
  const Ended ended = goldenv({"diff", host("rack-a"), host("rack-b")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, IsEmpty());
  expect_golden("story_racks.txt", ended.out);
}

TEST_F(Story, TheReadmeShowsWhatIsPrinted) {
  EXPECT_THAT(read_file(GOLDENV_SOURCE_DIR "/README.md"),
              HasSubstr(read_file(GOLDENV_SOURCE_DIR "/tests/golden/story_racks.txt")));
}

TEST_F(Story, SnapshotFilesDifferAsTheMachinesDo) {
  ASSERT_EQ(goldenv({"scan", host("rack-a"), "-o", "a.yaml"}).status, 0);
  ASSERT_EQ(goldenv({"scan", host("rack-b"), "-o", "b.json"}).status, 0);
  const Json of_trees = json({"diff", host("rack-a"), host("rack-b")}, 1);
  const Json of_files = json({"diff", "a.yaml", "b.json"}, 1);
  EXPECT_EQ(of_files.at("differences"), of_trees.at("differences"));
  EXPECT_EQ(of_files.at("compared"), of_trees.at("compared"));
}

TEST_F(Story, ALockMatchesTheEqualTwinInSilence) {
  for (const bool all : {false, true}) {
    std::vector<std::string> lock = {"lock", host("rack-a"), "-o", "golden.yaml"};
    if (all) {
      lock.push_back("--all");
    }
    ASSERT_EQ(goldenv(lock).status, 0);
    const Json check = json({"check", "golden.yaml", host("rack-a-twin")}, 0);
    EXPECT_EQ(check.at("matches"), true);
    EXPECT_GT(check.at("pins"), 60);
    EXPECT_THAT(check.at("differences"), IsEmpty());
    EXPECT_THAT(check.at("unknown"), IsEmpty());
    const Ended text = goldenv({"check", "golden.yaml", host("rack-a-twin")});
    EXPECT_EQ(text.status, 0) << text.out;
    EXPECT_THAT(text.out, HasSubstr("matches"));
  }
}

TEST_F(Story, ALibraryFolderThatMayNotBeReadLeavesTheVerdictOpen) {
  ASSERT_EQ(goldenv({"lock", host("rack-a"), "-o", "golden.yaml"}).status, 0);
  const std::string copy = home_.at("closed");
  std::filesystem::copy(
      GOLDENV_SOURCE_DIR "/tests/hosts/rack-a", copy,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  std::string record = read_file(copy + "/record.yaml");
  const std::string answers = "answers:\n";
  record.insert(record.find(answers) + answers.size(),
                "  /opt/venv/lib/python3.10/site-packages: denied\n");
  std::ofstream(copy + "/record.yaml", std::ios::binary) << record;
  const Json check = json({"check", "golden.yaml", "root:" + copy}, 3);
  EXPECT_THAT(check.at("differences"), IsEmpty());
  const Keys unknown = keys_of(check.at("unknown"));
  for (const std::string key : {"torch", "cuda", "cuda.runtime", "cudnn", "nccl"}) {
    EXPECT_TRUE(unknown.contains(key)) << key;
  }
  // What cannot be pinned for it is named.
  const Ended lock = goldenv({"lock", "root:" + copy, "-o", "closed.yaml"});
  EXPECT_EQ(lock.status, 0);
  EXPECT_THAT(lock.err, HasSubstr("not locked, unknown here: "));
  for (const std::string key : {"torch", "cudnn", "nccl"}) {
    EXPECT_THAT(lock.err, HasSubstr(key + " (denied)"));
    EXPECT_THAT(read_file(home_.at("closed.yaml")), Not(HasSubstr("\n  " + key + ":")));
  }
  EXPECT_THAT(goldenv({"lock", host("rack-a")}).err, Not(HasSubstr("not locked")));
}

TEST_F(Story, TwinsDifferInNothingUnlessTheirOwnIsAskedFor) {
  const Json diff = json({"diff", host("rack-a"), host("rack-a-twin")}, 0);
  EXPECT_THAT(diff.at("differences"), IsEmpty());
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
  const Keys own =
      keys_of(json({"diff", "--all", host("rack-a"), host("rack-a-twin")}, 1).at("differences"));
  for (const std::string key :
       {"host.name", "host.machine_id", "host.boot_id", "host.uptime", "gpu.uuid", "gpu.bus",
        "gpu.iommu_group", "gpu.pcie.speed", "nic.mac", "rdma.guid", "driver.libcuda.path",
        "shm.free", "memory.anon_hugepages", "leftover.shm_nccl", "log.xid"}) {
    EXPECT_TRUE(own.contains(key)) << key;
  }
}

TEST_F(Story, TheOtherRackDiffersInAllThatIsItsOwnAndOnlyThePlantedIsTold) {
  const Keys all =
      keys_of(json({"diff", "--all", host("rack-a"), host("rack-b")}, 1).at("differences"));
  for (const std::string key :
       {"host.name", "host.machine_id", "host.boot_id", "host.uptime", "gpu.uuid", "gpu.bus",
        "gpu.iommu_group", "gpu.pcie.speed", "nic.mac", "rdma.guid", "driver.libcuda.path",
        "shm.free", "memory.anon_hugepages", "leftover.shm_nccl", "leftover.shm_torch", "log.xid",
        "log.lockup", "log.api_mismatch", "log.module_rejected"}) {
    EXPECT_TRUE(all.contains(key)) << key;
  }
  EXPECT_EQ(keys_of(json({"diff", host("rack-a"), host("rack-b")}, 1).at("differences")),
            kRackKeys);
}

TEST_F(Story, ALockSaysWhatTheOtherRackHasElse) {
  ASSERT_EQ(goldenv({"lock", host("rack-a"), "-o", "golden.yaml"}).status, 0);
  const Json check = json({"check", "golden.yaml", host("rack-b")}, 1);
  EXPECT_EQ(check.at("matches"), false);
  Keys locked = kRackKeys;
  for (const std::string key : {"cuda.toolkit.nvcc", "cuda.toolkit.path"}) {
    locked.erase(key);  // level info, which only --all locks
  }
  EXPECT_EQ(keys_of(check.at("differences")), locked);
  EXPECT_EQ(by_key(check.at("differences"), "sysctl.kernel.watchdog_thresh").at("wanted"), "60");

  ASSERT_EQ(goldenv({"lock", host("rack-a"), "--all", "-o", "all.yaml"}).status, 0);
  EXPECT_EQ(keys_of(json({"check", "all.yaml", host("rack-b")}, 1).at("differences")), kRackKeys);

  const Ended text = goldenv({"check", "golden.yaml", host("rack-b")});
  EXPECT_EQ(text.status, 1);
  expect_golden("story_check.txt", text.out);
}

TEST_F(Story, OneOfThreeIsTheOddOneOut) {
  const Json diff = json({"diff", host("rack-a"), host("rack-b"), host("rack-a-twin")}, 1);
  const Json& groups = diff.at("groups");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups.at(0).at("machines").size(), 2u);
  EXPECT_EQ(groups.at(1).at("machines").size(), 1u);
  EXPECT_EQ(keys_of(groups.at(1).at("differences")), kRackKeys);
}

TEST_F(Story, TwinsOnTwoProcessorsDifferInTheProcessor) {
  const Json diff = json({"diff", host("amd-2004"), host("intel-2004")}, 1);
  EXPECT_EQ(keys_of(diff.at("differences")), kProcessorKeys);
  EXPECT_EQ(by_key(diff.at("differences"), "cpu.vendor").at("a").at("value"), "AuthenticAMD");
  EXPECT_EQ(by_key(diff.at("differences"), "cpu.vendor").at("b").at("value"), "GenuineIntel");
  EXPECT_THAT(diff.at("not_comparable"), IsEmpty());
}

TEST_F(Story, APinAppliesOnTheProcessorThatItIsFor) {
  home_.file("golden.yaml",
             "goldenv: 1\n"
             "pins:\n"
             "  glibc: {want: '!=2.31', when: 'cpu.vendor == AuthenticAMD', why: lost wake-ups}\n");
  const Json amd = json({"check", "golden.yaml", host("amd-2004")}, 1);
  EXPECT_EQ(keys_of(amd.at("differences")), Keys{"glibc"});
  const Json intel = json({"check", "golden.yaml", host("intel-2004")}, 0);
  EXPECT_EQ(intel.at("not_applying"), 1);
}

TEST_F(Story, AKernelThatIsTooOldIsTold) {
  home_.file("golden.yaml", "goldenv: 1\npins:\n  kernel: '>=5.5'\n");
  const Json old = json({"check", "golden.yaml", host("amd-2004")}, 1);
  EXPECT_EQ(keys_of(old.at("differences")), Keys{"kernel"});
  json({"check", "golden.yaml", host("rack-a")}, 0);
}

/// Keys of the driver and its GPUs that speak of one: not 0, not an empty set, not the state of a
/// module that is not there ("not installed or not loaded" where no folder of modules tells which).
Keys driver_values(const Json& facts) {
  const std::set<Json> none = {nullptr, 0, Json::array(), "not installed", "not loaded"};
  const Json no_module = {"not installed", "not loaded"};
  Keys keys;
  for (const auto& [key, fact] : facts.items()) {
    const bool is_of_driver = key.starts_with("driver") || key.starts_with("module.nvidia") ||
                              key.starts_with("gpu.") || key == "cuda.driver_api";
    if (is_of_driver && (!none.contains(fact.value("value", Json())) || fact.contains("prefix") ||
                         fact.value("one_of", no_module) != no_module)) {
      keys.insert(key);
    }
  }
  return keys;
}

TEST_F(Story, AMachineWithoutGpusHasNoDriver) {
  const Json facts = json({"scan", host("cpu-only")}, 0).at("facts");
  EXPECT_TRUE(facts.at("driver").contains("absent")) << facts.at("driver");
  EXPECT_TRUE(facts.at("driver.libcuda").contains("absent")) << facts.at("driver.libcuda");
  EXPECT_EQ(facts.at("gpu.count").at("value"), 0);
  EXPECT_EQ(facts.at("module.nvidia.state").at("value"), "not installed");
  EXPECT_THAT(driver_values(facts), IsEmpty());
  EXPECT_TRUE(facts.at("torch").contains("absent")) << facts.at("torch");
  EXPECT_EQ(facts.at("glibc").at("value"), "2.36");
  EXPECT_EQ(facts.at("kernel.upstream").at("value"), "6.1.76");
}

// Its toolkit holds lib64/stubs/libcuda.so, which is no driver.
TEST_F(Story, AContainerWithoutTheDriverHasTheRest) {
  const Json facts = json({"scan", host("container")}, 0).at("facts");
  EXPECT_TRUE(facts.at("driver").contains("absent")) << facts.at("driver");
  EXPECT_TRUE(facts.at("driver.libcuda").contains("absent")) << facts.at("driver.libcuda");
  EXPECT_THAT(driver_values(facts), IsEmpty());
  EXPECT_EQ(facts.at("torch").at("value"), "2.1.2+cu121");
  EXPECT_EQ(facts.at("nccl").at("value"), "2.18.1");
  EXPECT_EQ(facts.at("cudnn").at("value"), "8.9.2.26");
  EXPECT_EQ(facts.at("cuda.runtime").at("value"), "12.1.105");
  EXPECT_EQ(facts.at("cuda").at("value"), "12.1.1");
}

TEST_F(Story, TheLibrariesOfAVirtualEnvironmentAreInForce) {
  const Json facts = json({"scan", host("rack-a")}, 0).at("facts");
  // The system folder holds NCCL 2.18.3; torch's search path names the wheel's.
  EXPECT_EQ(facts.at("nccl").at("value"), "2.18.1");
  EXPECT_EQ(facts.at("nccl.origin").at("value"), "wheel");
  EXPECT_EQ(facts.at("cuda").at("value"), "12.1.1");
  EXPECT_EQ(facts.at("driver").at("value"), "535.129.03");
  EXPECT_EQ(facts.at("driver.libcuda").at("value"), "535.129.03");
  EXPECT_EQ(facts.at("gpu.count").at("value"), 8);
  EXPECT_EQ(facts.at("gpu.name").at("value"), "NVIDIA A100-SXM4-80GB");
}

TEST_F(Story, NoSecretIsEverShown) {
  for (const std::string& name : {std::string("rack-a"), std::string("container")}) {
    for (const std::string format : {"text", "json", "yaml"}) {
      const Ended ended = goldenv({"scan", host(name), "--all", "--format", format});
      EXPECT_EQ(ended.status, 0) << ended.err;
      EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("not-a-real-secret")));
      EXPECT_THAT(ended.out, HasSubstr("NCCL_DEBUG"));
    }
  }
}

}  // namespace
}  // namespace goldenv::test
