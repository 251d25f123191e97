#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"

// --only on machines: a pattern takes of a machine what it takes of a snapshot of all of it.

namespace goldenv::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string host(const std::string& name) {
  return "root:" GOLDENV_SOURCE_DIR "/tests/hosts/" + name;
}

class OnlySome : public testing::Test {
 protected:
  Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    return run({.argv = std::move(words),
                .environment = {{{"HOME", home_.path()}, {"PATH", "/usr/bin:/bin"}}},
                .folder = home_.path()});
  }

  Json facts(std::vector<std::string> words) {
    words.insert(words.begin(), "scan");
    words.insert(words.end(), {"--format", "json"});
    const Ended ended = goldenv(std::move(words));
    EXPECT_EQ(ended.status, 0) << ended.err;
    const Json whole = Json::parse(ended.out, nullptr, false);
    return whole.contains("facts") ? whole.at("facts") : Json();
  }

  TempDir home_;
};

TEST_F(OnlySome, APatternTakesOfAMachineWhatItTakesOfAScanOfAllOfIt) {
  const std::vector<std::vector<std::string>> patterns = {
      {"sysctl"},
      {"sysctl.**"},
      {"sysctl.kernel.*"},
      {"sysctl.kernel.watchdog*"},
      {"sysctl.vm"},
      {"sysctl.*.nr_open"},
      {"**.nr_hugepages"},
      {"module"},
      {"module.**"},
      {"module.*.state"},
      {"module.nvidia"},
      {"limits"},
      {"limits.*"},
      {"**.hard"},
      {"cpu.mitigation"},
      {"env"},
      {"env.*PATH"},
      {"device_node"},
      {"library.path"},
      {"python.package"},
      {"python.package.n*"},
      {"layer:tuning"},
      {"layer:packages"},
      {"layer:framework"},
      {"gpu@0"},
      {"gpu.**"},
      {"nic@*"},
      {"nccl@*"},
      {"driver"},
      {"driver.*"},
      {"cuda.toolkit", "!cuda.toolkit.path"},
      {"os"},
      {"kernel"},
      {"host.*"},
      {"**"},
      {"*"},
  };
  for (const std::string machine : {"rack-a", "container", "cpu-only", "amd-2004"}) {
    const Ended all = goldenv({"scan", host(machine), "--all", "-o", "all.json"});
    ASSERT_EQ(all.status, 0) << all.err;
    const Json plain = facts({host(machine)});
    for (const std::vector<std::string>& some : patterns) {
      std::vector<std::string> of_machine = {host(machine)};
      std::vector<std::string> of_snapshot = {"all.json"};
      for (const std::string& pattern : some) {
        of_machine.insert(of_machine.end(), {"--only", pattern});
        of_snapshot.insert(of_snapshot.end(), {"--only", pattern});
      }
      const Json wanted = facts(of_snapshot);
      const Json found = facts(of_machine);
      Json of_plain = Json::object();
      for (const auto& [key, fact] : wanted.items()) {
        if (plain.contains(key)) {
          of_plain[key] = fact;
        }
      }
      EXPECT_EQ(found, of_plain) << machine << " " << some.front() << "\n"
                                 << Json::diff(of_plain, found).dump(1);
      of_machine.emplace_back("--all");
      const Json whole = facts(of_machine);
      EXPECT_EQ(whole, wanted) << machine << " " << some.front() << "\n"
                               << Json::diff(wanted, whole).dump(1);
    }
  }
}

TEST_F(OnlySome, WhatIsTakenAwayLeavesThePlainScan) {
  Json rest = facts({host("rack-a")});
  std::vector<std::string> gone;
  for (const auto& [key, fact] : rest.items()) {
    if (key.starts_with("env.") || key.find('@') != std::string::npos) {
      gone.push_back(key);
    }
  }
  ASSERT_FALSE(gone.empty());
  for (const std::string& key : gone) {
    rest.erase(key);
  }
  EXPECT_EQ(facts({host("rack-a"), "--only", "!env"}), rest);
}

TEST_F(OnlySome, ADifferenceIsFoundWhateverPatternTakesIt) {
  for (const char* pattern : {"sysctl", "sysctl.**", "sysctl.kernel.*", "sysctl.kernel.watchdog*",
                              "sysctl.kernel.watchdog_thresh", "layer:tuning", "**"}) {
    const Ended ended = goldenv({"diff", host("rack-a"), host("rack-b"), "--only", pattern});
    EXPECT_EQ(ended.status, 1) << pattern << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("sysctl.kernel.watchdog_thresh")) << pattern;
  }
  for (const char* pattern : {"module.**", "module", "module.nvidia_uvm"}) {
    const Ended ended = goldenv({"diff", host("rack-a"), host("rack-b"), "--only", pattern});
    EXPECT_EQ(ended.status, 1) << pattern << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("module.nvidia_uvm.loaded")) << pattern;
  }
  const Ended limits = goldenv({"diff", host("rack-a"), host("rack-b"), "--only", "limits.*"});
  EXPECT_EQ(limits.status, 0) << limits.err;
  EXPECT_THAT(limits.out, testing::Not(HasSubstr("in 0 facts")));
}

TEST_F(OnlySome, APatternThatTakesNothingIsNoMatch) {
  const Ended none =
      goldenv({"diff", host("rack-a"), host("rack-b"), "--only", "sysctl.kernel.nothing*"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err,
            "goldenv: --only sysctl.kernel.nothing*: no fact of either side is selected; goldenv "
            "scan --all shows what there is\n");
  const Ended own = goldenv({"diff", host("rack-a"), host("rack-b"), "--only", "host.name"});
  EXPECT_EQ(own.status, 2);
  EXPECT_THAT(own.err, HasSubstr("--all compares it"));
  EXPECT_EQ(
      goldenv({"diff", host("rack-a"), host("rack-b"), "--only", "host.name", "--all"}).status, 1);
  const Ended scan = goldenv({"scan", host("rack-a"), "--only", "sysctl.kernel.nothing*"});
  EXPECT_EQ(scan.status, 0);
  EXPECT_THAT(scan.err, HasSubstr("selects no fact here"));
}

TEST_F(OnlySome, AFolderOfSettingsIsNoUnknown) {
  const Json vm = facts({host("rack-a"), "--only", "sysctl.vm"});
  EXPECT_FALSE(vm.contains("sysctl.vm"));
  EXPECT_TRUE(vm.contains("sysctl.vm.swappiness"));
  const Ended explained = goldenv({"explain", "sysctl.vm", host("rack-a")});
  EXPECT_THAT(explained.out, HasSubstr("absent"));
}

TEST_F(OnlySome, TheHeadlineCountsWhatIsSelected) {
  const Ended ended = goldenv({"scan", host("rack-a"), "--only", "sysctl.vm.*"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::string headline = ended.out.substr(0, ended.out.find('\n'));
  std::size_t rows = 0;
  for (std::size_t at = ended.out.find("sysctl.vm."); at != std::string::npos;
       at = ended.out.find("sysctl.vm.", at + 1)) {
    ++rows;
  }
  EXPECT_GT(rows, 1u);
  EXPECT_THAT(headline, testing::EndsWith(": " + std::to_string(rows) + " facts"));
}

}  // namespace
}  // namespace goldenv::test
