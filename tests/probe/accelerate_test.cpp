#include <gtest/gtest.h>

#include "probe/accelerate_config.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe accelerate;
namespace {

using test::FakeHost;
using test::told;

constexpr const char* kFile = "/home/u/.cache/huggingface/accelerate/default_config.yaml";
constexpr const char* kText =
    "compute_environment: LOCAL_MACHINE\ndowncast_bf16: 'no'\nfsdp_config:\n"
    "  fsdp_offload_params: false\n  fsdp_units:\n  - a\n  - b\nnum_processes: 8 # all\n"
    "tpu_env: []\nauth_token: hunter2\n";

struct Home : FakeHost {
  Home() { set("HOME", "/home/u").folder("/home/u"); }
};

TEST(AccelerateProbe, SettingsOfTheDefaultFileAreListed) {
  Home host;
  host.file(kFile, kText);
  const auto found = test::scan(host, accelerate);
  EXPECT_EQ(told(found, "accelerate.config.compute_environment"), "LOCAL_MACHINE");
  EXPECT_EQ(told(found, "accelerate.config.downcast_bf16"), "no");
  EXPECT_EQ(told(found, "accelerate.config.num_processes"), "8");
  EXPECT_EQ(told(found, "accelerate.config.fsdp_config.fsdp_offload_params"), "false");
  EXPECT_EQ(told(found, "accelerate.config.auth_token"), "***");
  EXPECT_EQ(found.find({"accelerate.config.num_processes", ""})->evidence.from,
            "~/.cache/huggingface/accelerate/default_config.yaml");
  EXPECT_EQ(found.listed, std::vector<std::string>{"accelerate.config"});
}

TEST(AccelerateProbe, OtherFolderMissingFileAndDeniedFile) {
  const auto asked = test::also({"accelerate.config.num_processes"});
  constexpr const char* kKey = "accelerate.config.num_processes";
  Home host;
  host.set("HF_HOME", "/hf").file("/hf/accelerate/default_config.yaml", kText);
  EXPECT_EQ(told(host, accelerate, kKey, asked), "8");
  EXPECT_EQ(told(Home(), accelerate, kKey, asked), "absent (no such file)");
  Home denied;
  denied.deny(kFile);
  EXPECT_EQ(told(denied, accelerate, kKey, asked), "unknown (denied)");
  EXPECT_EQ(told(FakeHost(), accelerate, kKey, asked), "unknown (not-collected)");
  Home json;
  json.file("/home/u/.cache/huggingface/accelerate/default_config.json", "{}");
  EXPECT_EQ(told(json, accelerate, kKey, asked), "unknown (unsupported)");
}

TEST(AccelerateProbe, WhatItsReaderDoesNotKnowIsUnknown) {
  Home host;
  host.file(kFile, "num_processes: &n 8\nfsdp_config: {fsdp_version: 2}\nmixed_precision: 'no'\n");
  const auto found = test::scan(
      host, accelerate,
      test::also({"accelerate.config.fsdp_config.fsdp_version", "accelerate.config.gpu_ids"}));
  EXPECT_EQ(told(found, "accelerate.config.num_processes"), "unknown (unsupported)");
  EXPECT_EQ(told(found, "accelerate.config.fsdp_config.fsdp_version"), "unknown (unsupported)");
  EXPECT_EQ(told(found, "accelerate.config.mixed_precision"), "no");
  EXPECT_EQ(told(found, "accelerate.config.gpu_ids"), "absent (not set in the file)");
}

/// "a=1 b=?": settings in order, '?' where not readable.
std::string settings_of(std::string_view text) {
  std::string out;
  for (const AccelerateSetting& one : parse_accelerate_config(text)) {
    out += (out.empty() ? "" : "; ") + one.name + "=" + (one.is_readable ? one.value : "?");
  }
  return out;
}

TEST(AccelerateConfigText, QuotesEndBeforeACommentAndPlainTextsToo) {
  EXPECT_EQ(settings_of("a: 'bf16'  # half\nb: \"3\" # x\nc: x#y # z\nd: 'it''s'\n"),
            "a=bf16; b=3; c=x#y; d=it's");
  EXPECT_EQ(settings_of("\"a\": 1\n'b': \"q\\\"\\\\\"\n"), "a=1; b=q\"\\");
  EXPECT_EQ(settings_of("s: # a section\n  a: 1\nl:\n- 'x' # one\n- y\n"), "s.a=1; l=x, y");
  EXPECT_EQ(settings_of("a: '' # empty\nb: {}\n"), "a=; b={}");
}

TEST(AccelerateConfigText, OtherFormsOfYamlAreNotReadable) {
  EXPECT_EQ(settings_of("a: [0,\n  1]\nb: 2\n"), "a=?; b=2");
  EXPECT_EQ(settings_of("a: >-\n  two\n  b: 3\nc: 2\n"), "a=?; c=2");
  EXPECT_EQ(settings_of("a: &x 1\nb: *x\nc: !!str 3\nd: [0, 1]\n"), "a=?; b=?; c=?; d=?");
  EXPECT_EQ(settings_of("a: one\n  two\nb: 'open\n  end'\nc: \"\\x41\"\nd: 'a' b\n"),
            "a=?; b=?; c=?; d=?");
  EXPECT_EQ(settings_of("l:\n- [1, 2]\n- 3\n"), "l=?");
}

TEST(AccelerateConfigText, ListsSectionsAndOddLines) {
  const auto found = parse_accelerate_config(kText);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[3], (AccelerateSetting{"fsdp_config.fsdp_units", "a, b", 5}));
  EXPECT_EQ(found[5], (AccelerateSetting{"tpu_env", "[]", 9}));
  EXPECT_TRUE(parse_accelerate_config("").empty());
  EXPECT_TRUE(parse_accelerate_config("- a\n: b\nx y: 1\n\"q\n").empty());
}

}  // namespace
}  // namespace goldenv::probe
