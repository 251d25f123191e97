#include <gtest/gtest.h>

#include "base/sha256.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe environment;
extern const Probe files;
namespace {

using test::FakeHost;
using test::told;

struct Shell : FakeHost {
  Shell() {
    set("NCCL_DEBUG", "INFO").set("CUDA_VISIBLE_DEVICES", "").set("PATH", "/usr/bin::/bin");
    set("LD_LIBRARY_PATH", "").set("HF_TOKEN", "hf_secret").set("MY_APP", "value");
  }
};

TEST(EnvironmentProbe, ListedVariablesAreReadAndOthersNot) {
  const auto found = test::scan(Shell(), environment);
  EXPECT_EQ(told(found, "env.NCCL_DEBUG"), "INFO");
  EXPECT_EQ(told(found, "env.CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(found.find({"env.PATH", ""})->reading,
            facts::Reading(facts::Value::list({"/usr/bin", "", "/bin"})));
  EXPECT_EQ(told(found, "env.LD_LIBRARY_PATH"), "(empty list)");
  EXPECT_EQ(told(found, "env.HF_TOKEN"), "not recorded");
  EXPECT_EQ(told(found, "env.MY_APP"), "not recorded");
  EXPECT_EQ(found.facts.size(), 4u);
  EXPECT_EQ(found.listed, std::vector<std::string>{"env"});
}

TEST(EnvironmentProbe, OthersThatAreAskedForShowADigest) {
  const auto found =
      test::scan(Shell(), environment, test::only({"env.MY_APP", "env.HF_TOKEN", "env.NONE"}));
  EXPECT_EQ(told(found, "env.MY_APP"), "sha256:" + Sha256::of("value").hex());
  EXPECT_EQ(told(found, "env.HF_TOKEN"), "sha256:" + Sha256::of("hf_secret").hex());
  EXPECT_EQ(told(found, "env.NONE"), "absent (not set)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(EnvironmentProbe, TreeWithoutEnvironmentListsNothing) {
  FakeHost host;
  host.live(false);
  const auto found = test::scan(host, environment, test::also({"env.NCCL_DEBUG"}));
  EXPECT_EQ(told(found, "env.NCCL_DEBUG"), "unknown (not-live)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(FilesProbe, NamedFilesGiveTheirDigests) {
  FakeHost host;
  host.file("/data/train.idx", "abc").deny("/data/closed").set("HOME", "/home/me");
  host.file("/home/me/x", "");
  const auto found = test::scan(host, files,
                                test::only({"file@/data/train.idx", "file@/data/closed",
                                            "file@/data/none", "file@~/x", "file@relative"}));
  EXPECT_EQ(told(found, "file@/data/train.idx"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(told(found, "file@~/x"),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(told(found, "file@/data/closed"), "unknown (denied)");
  EXPECT_EQ(told(found, "file@/data/none"), "absent");
  EXPECT_EQ(told(found, "file@relative"), "unknown (unsupported)");
  EXPECT_TRUE(test::scan(host, files).facts.empty());
}

}  // namespace
}  // namespace goldenv::probe
