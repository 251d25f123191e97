#include "diff/check.h"

#include <gtest/gtest.h>

#include <array>

#include "diff/lock.h"

namespace goldenv::diff {
namespace {

using facts::Absent;
using facts::Fact;
using facts::FactKey;
using facts::Level;
using facts::Reading;
using facts::Snapshot;
using facts::Unknown;
using facts::Value;
using facts::Why;

manifest::Manifest manifest_of(std::string_view pins) {
  const auto none = [](std::string_view, std::string_view) -> Result<manifest::Text> {
    return Error{Errc::usage, "none", {}};
  };
  const auto loaded = manifest::load("goldenv: 1\n" + std::string(pins), "m.yaml", none);
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  return loaded.value_or({});
}

Snapshot machine(std::vector<std::pair<std::string, Reading>> readings,
                 std::vector<std::string> listed = {}) {
  std::vector<Fact> facts;
  for (auto& [key, reading] : readings) {
    facts.push_back({FactKey::parse(key), std::move(reading), {}});
  }
  return facts::make_snapshot("m", std::move(listed), std::move(facts));
}

TEST(Check, APinThatIsNotMetIsADifferenceWithItsPlace) {
  const Check result =
      check(manifest_of("pins:\n  driver: 550.90.12\n  nccl: {want: 2.18.1, why: proven}\n"),
            machine({{"driver", Value::scalar("550.90.07")}, {"nccl", Value::scalar("2.19.3")}}));
  ASSERT_EQ(result.differences.size(), 2u);
  EXPECT_EQ(result.differences[0].key.text(), "driver");
  EXPECT_EQ(result.differences[0].mark.line, 3u);
  EXPECT_EQ(result.differences[0].change.direction, version::Direction::older);
  EXPECT_EQ(result.differences[1].why, "proven");
  EXPECT_TRUE(differs_at(result, Level::must));
}

TEST(Check, ACountIsMetByInstancesThatAllAgree) {
  std::vector<std::pair<std::string, Reading>> readings = {
      {"gpu.vbios", Value::scalar("92.00.45.00.03")}};
  for (int i = 0; i < 8; ++i) {
    readings.emplace_back("gpu.vbios@" + std::to_string(i), Value::scalar("92.00.45.00.03"));
  }
  const Snapshot eight = machine(readings);
  const auto differs = [&](const std::string& want) {
    const Check result = check(manifest_of("pins:\n  gpu.vbios: " + want + "\n"), eight);
    EXPECT_TRUE(result.undecided.empty()) << want;
    return !result.differences.empty();
  };
  EXPECT_FALSE(differs("{92.00.45.00.03: 8}"));
  EXPECT_TRUE(differs("{92.00.45.00.03: 7}"));
  EXPECT_TRUE(differs("{92.00.45.00.05: 8}"));
  EXPECT_TRUE(differs("{92.00.45.00.03: 7, 92.00.45.00.05: 1}"));
  EXPECT_FALSE(differs("92.00.45.00.03"));
  // Nothing says how many there are.
  const Check open = check(manifest_of("pins:\n  gpu.vbios: {92.00.45.00.03: 8}\n"),
                           machine({{"gpu.vbios", Value::scalar("92.00.45.00.03")}}));
  EXPECT_EQ(open.undecided.size(), 1u);
  EXPECT_TRUE(open.differences.empty());
}

TEST(Check, AGpuBeyondTheLastIsAbsent) {
  const Snapshot two = machine({{"gpu.count", Value::scalar("2")},
                                {"gpu.vbios", Value::scalar("1")},
                                {"gpu.vbios@0", Value::scalar("1")},
                                {"gpu.vbios@1", Value::scalar("1")}});
  EXPECT_TRUE(std::holds_alternative<Absent>(two.read({"gpu.vbios", "9"}).reading));
  const Snapshot cut = machine({{"gpu.count", Value::scalar("2")},
                                {"gpu.vbios", Value::scalar("1")},
                                {"gpu.vbios@0", Value::scalar("1")}});
  EXPECT_TRUE(std::holds_alternative<Unknown>(cut.read({"gpu.vbios", "1"}).reading));
}

TEST(Check, AnUnknownPinIsUndecidedAndNoDifference) {
  const Check result =
      check(manifest_of("pins:\n  driver: 550.90.12\n  pcie.acs: {want: 'off', level: should}\n"),
            machine({{"driver", Value::scalar("550.90.12")},
                     {"pcie.acs", Unknown{Why::denied, "", "root"}}}));
  EXPECT_TRUE(result.differences.empty());
  ASSERT_EQ(result.undecided.size(), 1u);
  EXPECT_FALSE(undecided_at(result, Level::must));
  EXPECT_TRUE(undecided_at(result, Level::should));
}

TEST(Check, WhatLeavesAPinOpenIsTold) {
  const Check result =
      check(manifest_of("pins:\n  kernel: '>=5.15.3'\n  env.SITE: '>=3'\n"),
            machine({{"kernel", Value::scalar("5.15.0-91-generic")},
                     {"env.SITE", Value::scalar("sha256:" + std::string(64, 'a'))}}));
  ASSERT_EQ(result.undecided.size(), 2u);
  EXPECT_EQ(result.undecided[0].why, "of its upstream level only the beginning is known, 5.15");
  EXPECT_TRUE(result.undecided[1].why.starts_with("of its value only the digest is known"));
}

TEST(Check, AConditionDecidesWhetherAPinApplies) {
  const manifest::Manifest manifest = manifest_of(
      "pins:\n  glibc: {want: '!=2.31', when: 'cpu.vendor == AuthenticAMD', level: should}\n");
  const auto on = [&](Reading vendor) {
    return check(manifest,
                 machine({{"glibc", Value::scalar("2.31")}, {"cpu.vendor", std::move(vendor)}}));
  };
  EXPECT_EQ(on(Value::scalar("AuthenticAMD")).differences.size(), 1u);
  EXPECT_TRUE(on(Value::scalar("GenuineIntel")).differences.empty());
  EXPECT_EQ(on(Value::scalar("GenuineIntel")).not_applying, 1u);
  EXPECT_EQ(on(Unknown{}).undecided.size(), 1u);
}

TEST(Check, AClosedFamilyHoldsNothingUnpinned) {
  const manifest::Manifest manifest = manifest_of("closed: [env]\npins:\n  env.NCCL_DEBUG: INFO\n");
  const Check result = check(manifest, machine({{"env.NCCL_DEBUG", Value::scalar("INFO")},
                                                {"env.NCCL_ALGO", Value::scalar("Ring")},
                                                {"env.PATH", Value::list({"/bin"})},
                                                {"env.RANK", Value::scalar("0")}},
                                               {"env"}));
  ASSERT_EQ(result.differences.size(), 1u);
  EXPECT_EQ(result.differences[0].key.text(), "env.NCCL_ALGO");
  EXPECT_EQ(result.differences[0].level, Level::should);
  EXPECT_EQ(result.differences[0].kind, Kind::extra);
}

TEST(Check, AnUnknownMemberOfAClosedFamilyIsUndecided) {
  const auto on = [](Reading reading) {
    return check(manifest_of("closed: {want: [env], level: must}\npins: {}\n"),
                 machine({{"env.NCCL_ALGO", std::move(reading)}}, {"env"}));
  };
  const Check unknown = on(Unknown{Why::denied, "", "root"});
  EXPECT_TRUE(unknown.differences.empty());
  ASSERT_EQ(unknown.undecided.size(), 1u);
  EXPECT_EQ(unknown.undecided[0].key.text(), "env.NCCL_ALGO");
  EXPECT_TRUE(undecided_at(unknown, Level::must));
  EXPECT_TRUE(on(Absent{}).undecided.empty());
  EXPECT_EQ(on(Value::scalar("Ring")).differences.size(), 1u);
}

TEST(Check, AClosedFamilyThatNobodyListedIsUndecided) {
  const Check result = check(manifest_of("closed: [env]\npins:\n  driver: 1.0\n"),
                             machine({{"driver", Value::scalar("1.0")}}));
  EXPECT_TRUE(result.differences.empty());
  EXPECT_EQ(result.undecided.size(), 1u);
}

TEST(Check, OneKnownMemberDoesNotMakeAClosedFamilyLookedAt) {
  const manifest::Manifest manifest =
      manifest_of("closed: {want: [sysctl], level: must}\npins:\n  sysctl.kernel.pid_max: 5\n");
  const Check result = check(manifest, machine({{"sysctl.kernel.pid_max", Value::scalar("5")}}));
  EXPECT_TRUE(result.differences.empty());
  EXPECT_TRUE(undecided_at(result, Level::must));
}

TEST(Check, AGlobOverEverythingIsNeverTakenForLookedAt) {
  const Check result = check(manifest_of("closed: ['**']\npins: {}\n"),
                             machine({{"clocksource", Value::scalar("tsc")}}, {"env"}));
  EXPECT_EQ(result.differences.size(), 1u);
  EXPECT_EQ(result.undecided.size(), 1u);
}

TEST(Check, TheOddInstanceIsNamed) {
  const Check result =
      check(manifest_of("pins:\n  gpu.vbios: 92.00.03\n"),
            machine({{"gpu.vbios", Value::tally({{"92.00.03", "7"}, {"92.00.05", "1"}})},
                     {"gpu.vbios@0", Value::scalar("92.00.03")},
                     {"gpu.vbios@5", Value::scalar("92.00.05")}}));
  ASSERT_EQ(result.differences.size(), 1u);
  EXPECT_EQ(result.differences[0].evidence_b.notes,
            (std::vector<std::string>{"gpu.vbios@5 is 92.00.05"}));
}

TEST(KeysOf, AskForWhatThePinsLookAtAndNoMore) {
  const auto keys = keys_of(manifest_of(
      "pins:\n  kernel: '>=5.5'\n  glibc: {want: 2.31, when: 'cpu.vendor == AuthenticAMD'}\n"));
  std::vector<std::string> names;
  for (const FactKey& key : keys) names.push_back(key.text());
  EXPECT_EQ(names, (std::vector<std::string>{"cpu.vendor", "glibc", "host.name", "kernel",
                                             "kernel.upstream"}));
}

TEST(Lock, TheLockedMachineMatchesItsLock) {
  const Snapshot snapshot = machine({{"driver", Value::scalar("535.129.03")},
                                     {"cuda", Value::one_of({"12.8.1", "12.8.2"})},
                                     {"cudnn", Value::prefix("8.9.2")},
                                     {"sysctl.kernel.watchdog_thresh", Value::scalar("60")},
                                     {"kernel.cmdline", Value::list({"root=/dev/sda", "iommu=pt"})},
                                     {"env.NCCL_DEBUG", Value::scalar("INFO")},
                                     {"env.PATH", Value::list({"/bin"})},
                                     {"gpu.uuid", Value::scalar("GPU-1")},
                                     {"host.uptime", Value::number(4)},
                                     {"python.package.numpy", Value::scalar("1.26.4")},
                                     {"torch", Absent{}},
                                     {"gpu.vbios", Unknown{Why::denied, "", "nvml"}},
                                     {"kernel", Value::scalar("6.1.0-57-amd64")},
                                     {"gpu.name", Value::tally({{"A100", "7"}, {"H100", "1"}})}},
                                    {"env"});
  const manifest::Manifest locked = lock(snapshot);
  const Check result = check(locked, snapshot);
  EXPECT_TRUE(result.differences.empty());
  EXPECT_TRUE(result.undecided.empty());
  EXPECT_EQ(locked.find({"gpu.uuid", ""}), nullptr);
  EXPECT_EQ(locked.find({"host.uptime", ""}), nullptr);
  EXPECT_EQ(locked.find({"torch", ""}), nullptr);
  EXPECT_EQ(locked.find({"gpu.vbios", ""}), nullptr);
  EXPECT_EQ(locked.find({"env.PATH", ""}), nullptr);
  ASSERT_NE(locked.find({"driver", ""}), nullptr);
  EXPECT_EQ(locked.find({"driver", ""})->level, Level::must);
  EXPECT_EQ(locked.find({"sysctl.kernel.watchdog_thresh", ""})->level, Level::should);
  EXPECT_EQ(facts::describe(locked.find({"cuda", ""})->want), "12.8.1 or 12.8.2");
  EXPECT_EQ(facts::describe(locked.find({"cudnn", ""})->want), "8.9.2.*");
  EXPECT_EQ(facts::describe(locked.find({"kernel.cmdline", ""})->want), "iommu=pt");
}

TEST(Lock, IsReadBackAsItWasWritten) {
  const Snapshot snapshot = machine({{"driver", Value::scalar("535.98")},
                                     {"cuda", Value::scalar("12.10")},
                                     {"env.NCCL_DEBUG", Value::scalar("absent")},
                                     {"env.LD_LIBRARY_PATH", Value::list({"", "/a"})}},
                                    {"env"});
  const manifest::Manifest locked = lock(snapshot);
  const std::string text = manifest::render(locked);
  EXPECT_NE(text.find("535.98"), std::string::npos);
  EXPECT_NE(text.find("12.10"), std::string::npos);
  const auto again = manifest::load(text, "l.yaml", {});
  ASSERT_TRUE(again) << again.error().message << text;
  EXPECT_EQ(*again, locked) << text;
}

/// Locked, written, read and checked again: no difference, nothing open.
void expect_met_by_itself(const Snapshot& snapshot, const LockOptions& options) {
  const std::string text = manifest::render(lock(snapshot, options));
  const auto loaded = manifest::load(text, "l.yaml", {});
  ASSERT_TRUE(loaded) << loaded.error().message << "\n" << text;
  const Check result = check(*loaded, snapshot);
  for (const Difference& difference : result.differences) {
    ADD_FAILURE() << difference.key.text() << ": " << difference.wanted << "\n" << text;
  }
  for (const Undecided& undecided : result.undecided) {
    ADD_FAILURE() << undecided.key.text() << ": " << undecided.wanted << "\n" << text;
  }
}

TEST(Lock, WhateverTheTextsAreTheMachineMeetsItsLock) {
  constexpr auto kTexts = std::to_array<std::string_view>({"2004d",
                                                           "unknown",
                                                           "1.0_custom",
                                                           "None",
                                                           "none",
                                                           "rolling",
                                                           "535.129.03-beta",
                                                           "linux-next",
                                                           "2.2.0a0+git123-dirty x",
                                                           "absent",
                                                           "any",
                                                           "==absent",
                                                           "===absent",
                                                           ">=1.0",
                                                           "==1.0",
                                                           "===1.0",
                                                           "=1.0",
                                                           "!=1.0",
                                                           "<2",
                                                           "~=1",
                                                           "1.*",
                                                           "==1.*",
                                                           "*",
                                                           ".*",
                                                           "1.0,2.0",
                                                           "==1,<2",
                                                           ",",
                                                           "1,000",
                                                           "",
                                                           " ",
                                                           " 1.0",
                                                           "1.0 ",
                                                           "\t",
                                                           "a\nb",
                                                           "\x1b[31m",
                                                           "~",
                                                           "null",
                                                           "yes",
                                                           "No",
                                                           "1e3",
                                                           "0x10",
                                                           "010",
                                                           "-5",
                                                           "12.10",
                                                           "1:2.3-4",
                                                           "1!2",
                                                           "v1.0",
                                                           "1.0 <2",
                                                           "1.0-",
                                                           "-",
                                                           "- a",
                                                           "a: b",
                                                           "#c",
                                                           "a #c",
                                                           "{a: b}",
                                                           "[a]",
                                                           "'",
                                                           "\"",
                                                           "&a",
                                                           "*a",
                                                           "!t",
                                                           "|",
                                                           ">",
                                                           "%",
                                                           "@",
                                                           "`",
                                                           "\\",
                                                           "\xc3\xa4",
                                                           "\xe2\x80\xae",

                                                           "unlimited",
                                                           "64MiB",
                                                           "1 K",
                                                           "true",
                                                           "tsc",
                                                           "always",
                                                           "6.1-arch1",
                                                           "5.15.0-91-generic",
                                                           "5.4.0-149-generic.*",
                                                           "sha256:abc",
                                                           "goldenv: 1"});
  constexpr auto kKeys = std::to_array<std::string_view>({"driver",
                                                          "kernel",
                                                          "os.release",
                                                          "os.id",
                                                          "torch",
                                                          "cuda",
                                                          "cudnn",
                                                          "nccl",
                                                          "glibc",
                                                          "python",
                                                          "python.package.pytz",
                                                          "dpkg.package.libc6",
                                                          "rpm.package.glibc",
                                                          "gpu.count",
                                                          "memory.total",
                                                          "bios.secure_boot",
                                                          "thp.enabled",
                                                          "cpu.vendor",
                                                          "clocksource",
                                                          "cpu.smt",
                                                          "sysctl.vm.swappiness",
                                                          "env.NCCL_DEBUG",
                                                          "nccl.path",
                                                          "limits.memlock",
                                                          "gpu.name",
                                                          "gpu.vbios",
                                                          "python.prefix",
                                                          "host.name",
                                                          "module.nvidia.param.X"});
  for (const std::string_view text : kTexts) {
    std::vector<std::pair<std::string, Reading>> readings;
    for (const std::string_view key : kKeys) {
      const auto resolved = facts::resolve(key);
      ASSERT_TRUE(resolved && resolved->name == key) << key;
      readings.emplace_back(key, Value::scalar(std::string(text)));
    }
    readings.emplace_back("kernel.cmdline", Value::list({std::string(text), "quiet"}));
    readings.emplace_back("env.LD_LIBRARY_PATH", Value::list({std::string(text)}));
    readings.emplace_back("kernel.taint", Value::set({std::string(text)}));
    readings.emplace_back("gpu.mig", Value::tally({{std::string(text), "2"}, {"enabled", "1"}}));
    readings.emplace_back("gpu.persistence", Value::prefix(std::string(text)));
    readings.emplace_back("cuda.toolkit", Value::prefix(std::string(text)));
    readings.emplace_back("cudnn.other", Value::scalar(std::string(text)));
    const Snapshot snapshot = machine(readings, {"env"});
    for (const Float loose : {Float::none, Float::patch, Float::minor}) {
      SCOPED_TRACE(testing::PrintToString(text));
      expect_met_by_itself(snapshot, {true, loose, ""});
    }
  }
}

TEST(Lock, SeveralPossibleTextsAreReadBack) {
  expect_met_by_itself(machine({{"cuda", Value::one_of({"absent", "1.*", "12.8.1", "none"})},
                                {"torch", Value::one_of({"any", "2.0 x"})},
                                {"driver", Value::one_of({">=1", "==2", "a,b"})}}),
                       {true, Float::none, ""});
}

TEST(Lock, WhatNoManifestCanNameIsLeftOut) {
  const Snapshot snapshot = machine({{"env.NCCL_\x1b[31m", Value::scalar("1")},
                                     {"env.NCCL_A B", Value::scalar("1")},
                                     {"env.NCCL_DEBUG", Value::scalar("INFO")},
                                     {"env.RANK", Value::scalar("0")}},
                                    {"env"});
  expect_met_by_itself(snapshot, {});
  std::vector<std::string> names;
  for (const FactKey& key : unnameable(snapshot)) names.push_back(key.text());
  EXPECT_EQ(names, (std::vector<std::string>{"env.NCCL_\x1b[31m", "env.NCCL_A B"}));
  EXPECT_TRUE(lock(snapshot).closed.empty());
}

TEST(Lock, WhatIsNoVersionIsMarkedAsText) {
  const std::string text =
      manifest::render(lock(machine({{"driver", Value::scalar("535.129.03-beta")},
                                     {"os.release", Value::scalar("rolling")},
                                     {"torch", Value::scalar("2.2.1+cu121")}})));
  EXPECT_NE(text.find("==535.129.03-beta"), std::string::npos) << text;
  EXPECT_NE(text.find("==rolling"), std::string::npos) << text;
  EXPECT_EQ(text.find("==2.2.1"), std::string::npos) << text;
}

TEST(Lock, FloatLeavesTheLowerPartsOpen) {
  const Snapshot snapshot = machine({{"driver", Value::scalar("535.129.03")},
                                     {"nccl", Value::scalar("2.18.1")},
                                     {"kernel", Value::scalar("6.1.0-57-amd64")}});
  EXPECT_EQ(facts::describe(lock(snapshot, {false, Float::patch, ""}).find({"nccl", ""})->want),
            "2.18.*");
  EXPECT_EQ(facts::describe(lock(snapshot, {false, Float::minor, ""}).find({"driver", ""})->want),
            "535.*");
  EXPECT_EQ(facts::describe(lock(snapshot, {false, Float::minor, ""}).find({"kernel", ""})->want),
            "6.1.0-57-amd64");
}

}  // namespace
}  // namespace goldenv::diff
