#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/text.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "manifest/manifest.h"
#include "support/program.h"
#include "support/schema_validator.h"
#include "support/temp_dir.h"

namespace goldenv::manifest {
namespace {

using ::testing::HasSubstr;

std::string file_text(const std::string& path) {
  std::ifstream in(std::string(GOLDENV_SOURCE_DIR) + "/" + path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

doc::Node schema() {
  auto node = doc::parse(json_schema(), doc::Format::json, "schema");
  EXPECT_TRUE(node) << node.error().message;
  return node.value_or(doc::Node{});
}

std::string validated(std::string_view manifest) {
  auto node = doc::parse(manifest, doc::Format::yaml, "manifest");
  EXPECT_TRUE(node) << node.error().message;
  const doc::Node rules = schema();
  return test::Validator(rules).check(*node);
}

constexpr std::string_view kManifest = R"(
goldenv: 1
name: train-a100
extends: [base.yaml]
target_python: /opt/venv
closed: {want: [env], level: must}
pins:
  kernel: ">=5.5"
  driver: 535.129.03
  driver.version: {want: 535.129.03}
  driver.fabricmanager: {want: 535.129.03, when: "nvswitch.count > 0"}
  module.nvidia_uvm.loaded: 535.129.03
  module.nvidia_drm.on_disk.built_for: {want: 5.15.0-91-generic, why: built against it}
  module.nvidia.on_disk@6.1.0-47-amd64: 535.129.03
  next_boot.driver: 535.129.03
  gpu.count: 8
  gpu.vbios: {92.00.45.00.03: 7, 92.00.45.00.05: 1}
  gpu.vbios@3: {want: 92.00.45.00.03, level: should}
  cuda: 12.1.1
  cuda.runtime: 12.1.*
  cuda.driver_api: 12.1
  nccl: [2.19.3, 2.20.5]
  nccl@/usr/lib/x86_64-linux-gnu/libnccl.so.2: absent
  nccl.copies: {2.18.1: 1, 2.19.3: 1}
  torch: 2.1.2+cu121
  python.package.transformers: {want: 4.44.2, level: should}
  python.package.Zope.Interface: any
  pip.numpy: 1.26.4
  conda.package.ruamel.yaml: 0.17.21
  glibc: {want: "!=2.31", when: "cpu.vendor == AuthenticAMD", level: should, why: lost wake-up}
  sysctl.kernel.watchdog_thresh: 60
  next_boot.sysctl.kernel.watchdog_thresh: 60
  cmdline.iommu: pt
  kernel.cmdline: [quiet, iommu=pt]
  cpu.flags: [[avx, avx2], [avx]]
  cpu.boost: true
  env.CUDA_VISIBLE_DEVICES@user-unit:jupyter: "0,1,2,3"
  limits.memlock: unlimited
  memory.total: 512GiB
  file@/data/a: absent
files:
  /data/train.idx: {sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
  ~/old.cfg: absent
)";

TEST(ManifestSchema, GoodManifestFits) { EXPECT_EQ(validated(kManifest), ""); }

/// The YAML examples of a document, as they stand between ```yaml and ```.
std::vector<std::string> examples_of(const std::string& markdown) {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string_view line : lines(markdown)) {
    if (!inside && line == "```yaml") {
      inside = true;
      out.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      out.back() += std::string(line) + "\n";
    }
  }
  return out;
}

std::vector<std::string> all_that_is_read() {
  std::vector<std::string> all = examples_of(file_text("docs/MANIFEST.md"));
  EXPECT_GE(all.size(), 6u);
  const std::string digest(64, 'a');
  for (const std::string& body : std::vector<std::string>{
           "{goldenv: \"1\"}", "{goldenv: 1, name: 42}",
           "goldenv: 1\nextends:\npins:\nfiles:\nclosed:\n", "{goldenv: 1, extends: base.yaml}",
           "{goldenv: 1, closed: env}", "{goldenv: 1, closed: []}",
           "{goldenv: 1, closed: {want: env}}",
           "{goldenv: 1, closed: {want: [env, python.package], level: must}}",
           "{goldenv: 1, files: {/a: absent, /b: any, ~/c: {sha256: absent}}}",
           "{goldenv: 1, files: {/a: {sha256: any, level: info}}}",
           "{goldenv: 1, files: {/a: {sha256: " + digest +
               ", level: should, when: \"gpu.count > 0\", why: x}}}",
           "{goldenv: 1, files: {/a: {sha256: " + std::string(64, '1') + ", why: 2024}}}",
           "{goldenv: 1, pins: {driver: {want: 1.0, why: true}}}",
           "{goldenv: 1, pins: {gpu.vbios: {92.00: \"7\"}}}",
           "{goldenv: 1, pins: {gpu.vbios: {want: {92.00: 7}, level: info}}}",
           "{goldenv: 1, pins: {driver: [\">=5\", absent]}}",
           "{goldenv: 1, pins: {sysctl.net/ipv4/tcp_rmem: 1}}",
           "{goldenv: 1, pins: {file@/x: absent, kernel.cmdline: [], env.PATH: [/bin, /sbin]}}",
           "{goldenv: 1, pins: {env.LD_LIBRARY_PATH: []}}"}) {
    all.push_back("#\n" + body);  // else the brace would make it JSON
  }
  // Other names of keys, also with more behind them.
  for (const facts::Entry& entry : facts::catalogue()) {
    for (const facts::Entry& other : facts::catalogue()) {
      for (const std::string_view also : words(other.also)) {
        if (also.find('<') == std::string_view::npos && entry.key.find('<') == std::string::npos &&
            facts::in_family(entry.key, other.key)) {
          all.push_back("#\n{goldenv: 1, pins: {" + std::string(also) +
                        std::string(entry.key.substr(other.key.size())) + ": any}}");
        }
      }
    }
  }
  return all;
}

TEST(ManifestSchema, AllowsAllThatTheReaderTakes) {
  const auto fetch = [](std::string_view name, std::string_view) -> Result<Text> {
    return Text{std::string(name), "goldenv: 1\n"};
  };
  const doc::Node rules = schema();
  test::Validator validator(rules);
  for (const std::string& text : all_that_is_read()) {
    const auto manifest = load(text, "m.yaml", fetch);
    EXPECT_TRUE(manifest) << text << "\n" << manifest.error().message;
    const auto node = doc::parse(text, doc::Format::yaml, "m.yaml");
    ASSERT_TRUE(node) << text;
    EXPECT_EQ(validator.check(*node), "") << text;
  }
}

TEST(ManifestSchema, AnotherValidatorAgrees) {
  doc::Node list = doc::Node::sequence({});
  for (const std::string& text : all_that_is_read()) {
    auto node = doc::parse(text, doc::Format::yaml, "m.yaml");
    ASSERT_TRUE(node);
    list.items.push_back(*std::move(node));
  }
  const test::TempDir folder;
  folder.file("schema.json", json_schema());
  folder.file("manifests.json", doc::render_json(list));
  constexpr const char* kScript = R"(
import json, sys
try:
    from jsonschema import Draft202012Validator as Validator
except ImportError:
    sys.exit(77)
schema = json.load(open("schema.json"))
Validator.check_schema(schema)
wrong = [(m, e.message) for m in json.load(open("manifests.json")) for e in Validator(schema).iter_errors(m)]
print(wrong)
sys.exit(1 if wrong else 0)
)";
  const test::Ended ended =
      test::run({{"/usr/bin/env", "python3", "-c", kScript}, std::nullopt, folder.path()});
  if (ended.status == 77 || ended.status == 127) {
    GTEST_SKIP() << "no Python with jsonschema (package python3-jsonschema) to ask";
  }
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
}

TEST(ManifestSchema, WrongManifestsDoNot) {
  EXPECT_THAT(validated("pins: {}"), HasSubstr("lacks goldenv"));
  EXPECT_THAT(validated("goldenv: 2"), HasSubstr("/goldenv is none of the enum"));
  EXPECT_THAT(validated("{goldenv: 1, pin: {}}"), HasSubstr("/pin is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {drivr: 1}}"), HasSubstr("/pins/drivr is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {kernel@x: 5.4}}"), HasSubstr("is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {file: absent}}"), HasSubstr("is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {gpu.0.name: A100}}"), HasSubstr("is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {driver: {want: 1, lvl: must}}}"),
              HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {driver: {level: must}}}"), HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {driver: {want: 1, level: omit}}}"),
              HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {driver: {a: 1}}}"), HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, pins: {driver: []}}"), HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, files: {data: absent}}"), HasSubstr("is not allowed"));
  EXPECT_THAT(validated("{goldenv: 1, files: {/a: {sha256: 12ab}}}"), HasSubstr("none of"));
  EXPECT_THAT(validated("{goldenv: 1, target_python: venv}"), HasSubstr("does not match"));
}

TEST(ManifestSchema, KnowsEveryKeyInEverySpelling) {
  const doc::Node rules = schema();
  const auto fits = [&rules](const std::string& key) {
    const doc::Node* pins = rules.find("properties")->find("pins");
    if (pins->find("properties")->find(key) != nullptr) {
      return true;
    }
    return std::ranges::any_of(
        pins->find("patternProperties")->entries,
        [&key](const doc::Node::Entry& pattern) { return test::found(key, pattern.key); });
  };
  for (const facts::Entry& entry : facts::catalogue()) {
    std::vector<std::string_view> spellings = words(entry.also);
    spellings.push_back(entry.key);
    for (const std::string_view spelling : spellings) {
      std::string key(spelling);
      for (std::size_t open = key.find('<'); open != std::string::npos; open = key.find('<')) {
        key.replace(open, key.find('>') - open + 1, "x1");
      }
      EXPECT_EQ(fits(key), entry.many != facts::Many::only_named) << key;
      EXPECT_EQ(fits(key + "@x/y.z:1"), entry.many != facts::Many::one) << key;
    }
  }
}

TEST(ManifestSchema, IsDocumented) {
  const std::string text = json_schema();
  if (const char* accept = std::getenv("GOLDENV_ACCEPT"); accept != nullptr && *accept == '1') {
    std::ofstream(std::string(GOLDENV_SOURCE_DIR) + "/docs/manifest.schema.json", std::ios::binary)
        << text;
    GTEST_SKIP() << "docs/manifest.schema.json rewritten";
  }
  EXPECT_EQ(file_text("docs/manifest.schema.json"), text) << "GOLDENV_ACCEPT=1 rewrites it";
}

}  // namespace
}  // namespace goldenv::manifest
