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
