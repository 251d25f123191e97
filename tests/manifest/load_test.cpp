#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

using facts::Level;
using facts::Want;

constexpr std::string_view kDigest =
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

Result<Text> nothing_to_fetch(std::string_view name, std::string_view /*from*/) {
  return Error{Errc::absent, "no file " + std::string(name), {}};
}

Manifest read(std::string_view text) {
  auto manifest = load(text, "m.yaml", nothing_to_fetch);
  EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().message);
  return manifest ? *std::move(manifest) : Manifest{};
}

std::string refusal(std::string_view text) {
  const auto manifest = load(text, "m.yaml", nothing_to_fetch);
  EXPECT_FALSE(manifest) << text;
  return manifest ? std::string() : manifest.error().message;
}

/// The refusal of one pin line, whose first byte is at 3:3.
std::string pin_refusal(const std::string& line) {
  return refusal("goldenv: 1\npins:\n  " + line + "\n");
}

const Pin& pin(const Manifest& manifest, std::string_view key) {
  static const Pin kNone{};
  const Pin* found = manifest.find(facts::FactKey::parse(key));
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? kNone : *found;
}

TEST(ManifestLoad, ReadsEveryPart) {
  const Manifest manifest = read(
      "goldenv: 1\n"
      "name: train-a100\n"
      "target_python: /opt/venv\n"
      "closed: [python.package, env]\n"
      "pins:\n"
      "  kernel: \">=5.5\"\n"
      "  driver: 550.90.07\n"
      "  cuda: 12.10\n"
      "  nccl: [2.19.3, 2.20.5]\n"
      "  sysctl.kernel.watchdog_thresh: 60\n"
      "  glibc: {want: \"!=2.31\", when: \"cpu.vendor == AuthenticAMD\", level: should, why: "
      "lost}\n"
      "  env.CUDA_VISIBLE_DEVICES: absent\n"
      "  gpu.vbios: {92.00.45.00.03: 7, 92.00.45.00.05: 1}\n"
      "  nccl.copies: {2.19.3: 1}\n"
      "files:\n"
      "  /data/train.idx: {sha256: "
      "9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"
      "  /old: absent\n");
  EXPECT_EQ(manifest.name, "train-a100");
  EXPECT_EQ(manifest.target_python, "/opt/venv");
  EXPECT_EQ(manifest.closed, (std::vector<std::string>{"env", "python.package"}));
  EXPECT_EQ(manifest.closed_level, Level::should);
  EXPECT_EQ(manifest.pins.size(), 11U);
  EXPECT_EQ(pin(manifest, "kernel").want.kind, Want::Kind::constraint);
  EXPECT_EQ(pin(manifest, "driver").want.value.text, "550.90.07");
  EXPECT_EQ(pin(manifest, "cuda").want.value.text, "12.10");
  EXPECT_EQ(pin(manifest, "nccl").want.any.size(), 2U);
  EXPECT_EQ(pin(manifest, "driver").level, Level::must);
  const Pin& glibc = pin(manifest, "glibc");
  EXPECT_EQ(glibc.level, Level::should);
  EXPECT_EQ(glibc.why, "lost");
  EXPECT_EQ(glibc.when->text(), "cpu.vendor == AuthenticAMD");
  EXPECT_EQ(glibc.file, "m.yaml");
  EXPECT_EQ(glibc.mark, (doc::Mark{11, 3}));
  EXPECT_EQ(pin(manifest, "env.CUDA_VISIBLE_DEVICES").want.kind, Want::Kind::absent);
  EXPECT_EQ(pin(manifest, "gpu.vbios").want.value.form, facts::Value::Form::tally);
  EXPECT_EQ(pin(manifest, "nccl.copies").want.value.form, facts::Value::Form::map);
  EXPECT_EQ(pin(manifest, "file@/data/train.idx").want.value.text, kDigest);
  EXPECT_EQ(pin(manifest, "file@/old").want.kind, Want::Kind::absent);
  EXPECT_EQ(manifest.find(facts::FactKey::parse("torch")), nullptr);
}

TEST(ManifestLoad, JsonIsReadToo) {
  const Manifest manifest =
      read("{\"goldenv\": 1, \"pins\": {\"driver\": \"550.90.07\", \"sysctl.vm.swappiness\": 10}}");
  EXPECT_EQ(pin(manifest, "driver").want.value.text, "550.90.07");
  EXPECT_EQ(pin(manifest, "sysctl.vm.swappiness").want.value.text, "10");
}

TEST(ManifestLoad, PinsAreSortedAndKeysCanonical) {
  const Manifest manifest = read(
      "goldenv: 1\npins:\n  torch: 2.2.1\n  cmdline: quiet\n  nccl@/b: 2.19.3\n  nccl@/a: 2.19.3\n"
      "  python.package.Foo_Bar: 1.0\n  kernel.release: 5.4.0-1\n");
  std::vector<std::string> keys;
  for (const Pin& one : manifest.pins) {
    keys.push_back(one.key.text());
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"kernel", "kernel.cmdline", "nccl@/a", "nccl@/b",
                                            "python.package.foo-bar", "torch"}));
}

TEST(ManifestLoad, LevelsAreMustShouldAndInfo) {
  const Manifest manifest = read(
      "goldenv: 1\npins:\n  driver: {want: 1, level: must}\n  cuda: {want: 12.1.1, level: should}\n"
      "  torch: {want: 2.2.1, level: info}\n");
  EXPECT_EQ(pin(manifest, "driver").level, Level::must);
  EXPECT_EQ(pin(manifest, "cuda").level, Level::should);
  EXPECT_EQ(pin(manifest, "torch").level, Level::info);
  EXPECT_EQ(pin_refusal("driver: {want: 1, level: shoud}"),
            "m.yaml:3:28: no level \"shoud\"; did you mean should?");
  EXPECT_EQ(pin_refusal("driver: {want: 1, level: omit}"),
            "m.yaml:3:28: no level \"omit\"; expected one of must, should and info");
  EXPECT_EQ(pin_refusal("driver: {want: 1, level: [must]}"),
            "m.yaml:3:28: level is no text; expected one");
}

TEST(ManifestLoad, ClosedHasAShortAndALongForm) {
  EXPECT_EQ(read("goldenv: 1\nclosed: env\n").closed, (std::vector<std::string>{"env"}));
  const Manifest manifest = read("goldenv: 1\nclosed: {want: [sysctl.net.**, pip], level: must}\n");
  EXPECT_EQ(manifest.closed, (std::vector<std::string>{"python.package", "sysctl.net.**"}));
  EXPECT_EQ(manifest.closed_level, Level::must);
  EXPECT_TRUE(read("goldenv: 1\nclosed: []\n").closed.empty());
  EXPECT_EQ(refusal("goldenv: 1\nclosed: [env, env]\n"),
            "m.yaml:2:15: \"env\" is closed already; expected it once");
  EXPECT_EQ(
      refusal("goldenv: 1\nclosed: [\"env@x\"]\n"),
      "m.yaml:2:10: \"env@x\" is no family; expected one such as env or python.package, * and "
      "** allowed");
  EXPECT_EQ(refusal("goldenv: 1\nclosed: {level: must}\n"),
            "m.yaml:2:9: closed without want; expected {want: [...], level: ...}");
  EXPECT_EQ(refusal("goldenv: 1\nclosed: {wnat: [env]}\n"),
            "m.yaml:2:10: unknown key \"wnat\" in closed; did you mean want?");
  EXPECT_EQ(
      refusal("goldenv: 1\nclosed: [envv]\n"),
      "m.yaml:2:10: unknown key \"envv\"; did you mean env.<NAME>?; expected a family of facts");
  EXPECT_EQ(refusal("goldenv: 1\nclosed: [env.]\n"),
            "m.yaml:2:10: a part of \"env.\" is empty; expected a family such as env or "
            "python.package");
  EXPECT_TRUE(refusal("goldenv: 1\nclosed: [evn]\n").starts_with("m.yaml:2:10: "));
  EXPECT_EQ(refusal("goldenv: 1\nclosed: [[env]]\n"),
            "m.yaml:2:10: an entry of closed is no text; expected one");
}

TEST(ManifestLoad, PinsOfAnyClassAreAllowed) {
  EXPECT_EQ(read("goldenv: 1\npins:\n  host.uptime: {want: \">0\", level: info}\n  host.name: a\n")
                .pins.size(),
            2U);
}

TEST(ManifestLoad, AMapMayHoldTheWordsOfTheLongForm) {
  const Manifest manifest = read(
      "goldenv: 1\npins:\n  torch.copies: {level: 2, why: 1}\n  nccl.copies: {want: {want: 1}}\n");
  EXPECT_EQ(pin(manifest, "torch.copies").want.value.entries.size(), 2U);
  EXPECT_EQ(pin(manifest, "nccl.copies").want.value.entries.front().first, "want");
}

TEST(ManifestLoad, EmptySectionsAreEmpty) {
  EXPECT_TRUE(read("goldenv: 1\npins:\nfiles:\nextends:\nclosed:\n").pins.empty());
  EXPECT_TRUE(read("goldenv: 1\n").pins.empty());
}

TEST(ManifestLoad, WhatIsNoManifestIsNamed) {
  EXPECT_EQ(refusal(""), "m.yaml:1:1: an empty manifest; expected `goldenv: 1` and pins");
  EXPECT_EQ(refusal("- a\n"),
            "m.yaml:1:1: no manifest; expected a mapping that begins with `goldenv: 1`");
  EXPECT_EQ(refusal("pins: {}\n"),
            "m.yaml:1:1: a manifest without its version; expected `goldenv: 1`");
  EXPECT_EQ(refusal("goldenv: 2\n"),
            "m.yaml:1:10: a version of manifests that is not known: \"2\"; expected `goldenv: 1`");
  EXPECT_EQ(
      refusal("goldenv: 1.0\n"),
      "m.yaml:1:10: a version of manifests that is not known: \"1.0\"; expected `goldenv: 1`");
  EXPECT_EQ(refusal("goldenv:\n"),
            "m.yaml:1:9: a version of manifests that is not known; expected `goldenv: 1`");
  EXPECT_TRUE(refusal("goldenv_snapshot: 0\nfacts: {}\n")
                  .starts_with("m.yaml:1:1: a snapshot and no manifest"));
}

TEST(ManifestLoad, AnArtifactIsAFileOfOneVersion) {
  const std::string digest(64, 'a');
  const auto message = [](const std::string& pin) {
    const auto manifest = load("goldenv: 1\npins:\n  " + pin + "\n", "m.yaml", nullptr);
    return manifest ? std::string("taken") : manifest.error().message;
  };
  EXPECT_EQ(message("nccl: {want: 2.19.3, artifact: a.whl, sha256: " + digest + "}"), "taken");
  for (const auto& [pin, why] : std::vector<std::pair<std::string, std::string>>{
           {"nccl: {want: 2.19.3, artifact: a.whl}", "without sha256"},
           {"nccl: {want: 2.19.3, sha256: abc}", "no SHA-256 digest"},
           {"nccl: {want: 2.19.3, artifact: ../a.whl, sha256: " + digest + "}", "no file name"},
           {"nccl: {want: \">=2\", sha256: " + digest + "}", "no one version"},
           {"hugepages.total: {want: 1, sha256: " + digest + "}", "has no artifact"}}) {
    EXPECT_NE(message(pin).find(why), std::string::npos) << pin << ": " << message(pin);
  }
}

TEST(ManifestLoad, UnknownKeysNameTheNearest) {
  EXPECT_EQ(refusal("goldenv: 1\npin:\n  driver: 1\n"),
            "m.yaml:2:1: unknown key \"pin\"; did you mean pins?");
  EXPECT_EQ(refusal("goldenv: 1\nExtend: a\n"),
            "m.yaml:2:1: unknown key \"Extend\"; did you mean extends?");
  EXPECT_EQ(refusal("goldenv: 1\ndriver: 535\n"),
            "m.yaml:2:1: unknown key \"driver\"; it names a fact: expected it under pins:");
  EXPECT_EQ(refusal("goldenv: 1\nwhatever: 1\n"),
            "m.yaml:2:1: unknown key \"whatever\"; expected one of goldenv, name, extends, pins, "
            "files, target_python and closed");
  EXPECT_EQ(pin_refusal("driver: {want: 1, levle: must}"),
            "m.yaml:3:21: unknown key \"levle\" in a pin; did you mean level?");
  EXPECT_EQ(pin_refusal("driver: {want: 1, comment: x}"),
            "m.yaml:3:21: unknown key \"comment\" in a pin; expected one of want, level, when, "
            "why, artifact and sha256");
  EXPECT_EQ(pin_refusal("driver: {wnat: 1}"),
            "m.yaml:3:12: unknown key \"wnat\" in a pin; did you mean want?");
  EXPECT_EQ(pin_refusal("driver: {level: must}"),
            "m.yaml:3:11: a pin without want; expected {want: ...}");
  const std::string message = pin_refusal("dirver: 1");
  EXPECT_TRUE(message.starts_with("m.yaml:3:3: unknown key \"dirver\"")) << message;
  EXPECT_NE(message.find("did you mean driver?"), std::string::npos) << message;
}

TEST(ManifestLoad, DuplicateKeysAreRefusedInAnySpelling) {
  EXPECT_EQ(refusal("goldenv: 1\npins:\n  driver: 1\n  driver: 2\n"),
            "m.yaml:4:3: duplicate key \"driver\", first at 3:3; expected each key once");
  EXPECT_EQ(
      refusal("goldenv: 1\npins:\n  kernel.release: 5.4.0-1\n  cuda: 12.1.1\n  kernel: \">5\"\n"),
      "m.yaml:5:3: a second pin on \"kernel\", first at 3:3; expected each fact once, however "
      "it is spelled");
  EXPECT_EQ(
      refusal("goldenv: 1\npins:\n  file@/x: absent\nfiles:\n  /x: absent\n"),
      "m.yaml:5:3: a second pin on \"file@/x\", first at 3:3; expected each fact once, however "
      "it is spelled");
}

TEST(ManifestLoad, ValuesAreJudgedWhereTheyStand) {
  for (const char* line :
       {"driver: 535..03", "driver: \">=2,<1\"", "driver: [1.0, x]", "cuda: {a: b}", "nccl: []",
        "sysctl.kernel.watchdog_thresh:", "gpu.count: many", "bios.secure_boot: perhaps",
        "glibc: {want: 2..3, level: must}", "gpu.vbios: {a: many}"}) {
    const std::string message = pin_refusal(line);
    EXPECT_TRUE(message.starts_with("m.yaml:3:")) << message;
    EXPECT_FALSE(message.starts_with("m.yaml:3:3:")) << message;
  }
  EXPECT_TRUE(pin_refusal("driver: 535..03").starts_with("m.yaml:3:11: "));
  EXPECT_TRUE(pin_refusal("nccl: [2.19.3, x..y]").starts_with("m.yaml:3:18: "));
}

TEST(ManifestLoad, ConditionsPointIntoTheirText) {
  EXPECT_EQ(pin_refusal("glibc: {want: 2.31, when: \"cpu.vendor = AMD\"}"),
            "m.yaml:3:41: '=' is no comparison; expected ==, !=, <, <=, >, >= or ~=");
  EXPECT_EQ(pin_refusal("glibc: {want: 2.31, when: cpu.vendor}"),
            "m.yaml:3:39: the end behind the key \"cpu.vendor\"; expected ==, !=, <, <=, >, >= or "
            "~=");
  EXPECT_EQ(pin_refusal("glibc: {want: 2.31, when: \"cpu\\x2evendor = AMD\"}"),
            "m.yaml:3:29: byte 11: '=' is no comparison; expected ==, !=, <, <=, >, >= or ~=");
  EXPECT_TRUE(pin_refusal("glibc: {want: 2.31, when: 'cpu.vendr == x'}")
                  .starts_with("m.yaml:3:30: unknown key \"cpu.vendr\""));
  EXPECT_EQ(pin_refusal("glibc: {want: 2.31, when: [a]}"),
            "m.yaml:3:29: when is no text; expected one");
}

TEST(ManifestLoad, SectionsHaveTheirForms) {
  EXPECT_EQ(refusal("goldenv: 1\npins: [driver]\n"),
            "m.yaml:2:7: pins is no mapping; expected `key: value` lines");
  EXPECT_EQ(refusal("goldenv: 1\nfiles: x\n"),
            "m.yaml:2:8: files is no mapping; expected `/path: {sha256: ...}` lines");
  EXPECT_EQ(refusal("goldenv: 1\nname: [a]\n"), "m.yaml:2:7: name is no text; expected one");
  EXPECT_EQ(refusal("goldenv: 1\ntarget_python: venv\n"),
            "m.yaml:2:16: target_python \"venv\" is not absolute; expected /... or ~/...");
  EXPECT_EQ(refusal("goldenv: 1\nextends: {a: b}\n"),
            "m.yaml:2:10: extends is a mapping; expected a file or a list of files");
  EXPECT_EQ(pin_refusal("driver: {want: 1, why: {a: b}}"),
            "m.yaml:3:26: why is no text; expected one");
}

TEST(ManifestLoad, FilesNeedAPathAndADigest) {
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  data: {sha256: x}\n"),
            "m.yaml:3:3: the path \"data\" is not absolute; expected /... or ~/...");
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  /x: {sha256: 9f86d08}\n"),
            "m.yaml:3:16: \"9f86d08\" is no SHA-256 digest; expected 64 hexadecimal digits");
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  /x: {level: must}\n"),
            "m.yaml:3:7: a file without sha256; expected {sha256: ...}");
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  /x: {sha: y}\n"),
            "m.yaml:3:8: unknown key \"sha\" in a file; did you mean sha256?");
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  /x: abc\n"),
            "m.yaml:3:7: no {sha256: ...} for this file; expected one, or absent");
  EXPECT_EQ(refusal("goldenv: 1\nfiles:\n  /x/../y: absent\n"),
            "m.yaml:3:3: the path \"/x/../y\" holds ..; expected the path that it leads to");
}

TEST(ManifestLoad, APinOnAFileIsReadAsUnderFiles) {
  EXPECT_EQ(pin_refusal("file@x: absent"),
            "m.yaml:3:3: the path \"x\" is not absolute; expected /... or ~/...");
  EXPECT_EQ(pin_refusal("file@/etc/../etc/passwd: absent"),
            "m.yaml:3:3: the path \"/etc/../etc/passwd\" holds ..; expected the path that it leads "
            "to");
  for (const char* want : {"abc", "'!=abc'", "[absent, abc]", "{want: abc}"}) {
    const std::string message = pin_refusal("file@/x: " + std::string(want));
    EXPECT_NE(message.find("\"abc\" is no SHA-256 digest; expected 64 hexadecimal digits"),
              std::string::npos)
        << message;
  }
  std::string upper(kDigest);
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  EXPECT_EQ(pin(read("goldenv: 1\npins:\n  file@/x: " + upper + "\n"), "file@/x").want.value.text,
            kDigest);
}

TEST(ManifestLoad, WhatNoMachineCanMeetIsRefused) {
  for (const char* never :
       {"gpu.count: -3", "gpu.count: -0", "gpu.count: 8.5", "gpu.count: '<0'", "gpu.count: '>8,<9'",
        "gpu.count: [8, -1]", "gpu.count: {want: -3}", "memory.total: -1", "memory.total: '<0'",
        "gpu.pcie.max_speed: -16", "gpu.pcie.max_speed: '<0'"}) {
    const std::string message = pin_refusal(never);
    EXPECT_NE(message.find(" can never "), std::string::npos) << never << "\n" << message;
    EXPECT_NE(message.find("; expected a "), std::string::npos) << never << "\n" << message;
  }
  EXPECT_EQ(pin_refusal("gpu.count: -3"),
            "m.yaml:3:14: gpu.count can never be -3; expected a whole number, 0 or more");
  for (const char* never : {"cuda: '<0'", "cuda: '<=0,!=0'", "driver: '<0.0'", "kernel: '<0'"}) {
    const std::string message = pin_refusal(never);
    EXPECT_NE(message.find(", none is below 0; expected "), std::string::npos) << message;
  }
}

TEST(ManifestLoad, WhatSomeMachineMightMeetIsTaken) {
  for (const char* may : {"gpu.count: 0",
                          "gpu.count: 8.0",
                          "gpu.count: '!=-3'",
                          "gpu.count: '>8,<10'",
                          "gpu.count: '<1'",
                          "gpu.count: '>=8,!=8,!=9'",
                          "gpu.count: '>=-1'",
                          "memory.total: 503.5GiB",
                          "gpu.pcie.max_speed: '>2,<3'",
                          "gpu.pcie.max_speed: 2.5",
                          "gpu.numa_node: -1",
                          "nic.speed: '<0'",
                          "limits.memlock: unlimited",
                          "limits.memlock: '>1TiB'",
                          "cuda: '<=0'",
                          "cuda: '<0.1'",
                          "cuda: '!=0'",
                          "torch: '<0'",
                          "sysctl.kernel.panic: -1",
                          "sysctl.kernel.panic: '<0'"}) {
    EXPECT_EQ(read("goldenv: 1\npins:\n  " + std::string(may) + "\n").pins.size(), 1u) << may;
  }
}

TEST(ManifestLoad, TheDocumentIsJudgedFirst) {
  EXPECT_EQ(refusal("goldenv: 1\n---\ngoldenv: 1\n"),
            "m.yaml:2:1: a second document; expected one");
  EXPECT_EQ(refusal("goldenv: 1\nbase: &b {a: 1}\npins:\n  <<: *b\n"),
            "m.yaml:4:3: merge keys (<<) are not read; expected the keys themselves");
  EXPECT_EQ(refusal("goldenv: !x 1\n"),
            "m.yaml:1:10: the tag \"!x\"; expected a value without one");
  EXPECT_TRUE(refusal(std::string("\xFF\xFEg\0o\0", 6)).starts_with("m.yaml:1:1: wrong encoding"));
  EXPECT_TRUE(refusal(std::string("\x7f"
                                  "ELF\2\1\1\0\0\0",
                                  10))
                  .starts_with("m.yaml:1:1: "));
  EXPECT_TRUE(refusal("goldenv: 1\nname: \xFF\n").starts_with("m.yaml:2:7: byte 0xFF"));
}

TEST(ManifestLoad, HugeTextsAreRefusedUnread) {
  const std::string text = "goldenv: 1\n" + std::string(100u << 20, '#');
  const auto manifest = load(text, "m.yaml", nothing_to_fetch);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, Errc::too_large);
}

TEST(ManifestLoad, AliasBombsAndDeepNestingAreRefused) {
  std::string bomb = "goldenv: 1\nname: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) {
      bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    }
    bomb += "]\n";
  }
  EXPECT_NE(refusal(bomb).find("too large: more than 1048576 nodes"), std::string::npos);
  EXPECT_NE(refusal("goldenv: 1\npins: " + std::string(600, '[')).find("too large: nested"),
            std::string::npos);
}

/// The code blocks of docs/MANIFEST.md that are YAML.
std::vector<std::string> examples() {
  std::ifstream file(GOLDENV_SOURCE_DIR "/docs/MANIFEST.md");
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
  std::vector<std::string> found;
  constexpr std::string_view kOpen = "```yaml\n";
  for (auto at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    at += kOpen.size();
    found.push_back(text.substr(at, text.find("```", at) - at));
  }
  return found;
}

TEST(ManifestDocument, EveryExampleLoadsAndComesBack) {
  const std::vector<std::string> texts = examples();
  EXPECT_GE(texts.size(), 6U);
  for (const std::string& text : texts) {
    const auto manifest =
        load(text, "MANIFEST.md", [](std::string_view name, std::string_view /*from*/) {
          return Result<Text>(
              Text{std::string(name), "goldenv: 1\npins: {env.NCCL_DEBUG: INFO}\n"});
        });
    ASSERT_TRUE(manifest) << manifest.error().message << "\n" << text;
    EXPECT_TRUE(manifest->find({"env.NCCL_DEBUG", ""}) == nullptr ||
                text.find("NCCL_DEBUG") == std::string::npos);
  }
}

}  // namespace
}  // namespace goldenv::manifest
