#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "facts/catalogue.h"

namespace goldenv::facts {
namespace {

using ::testing::HasSubstr;

Selection parsed(const std::vector<std::string>& patterns) {
  auto selection = Selection::parse(patterns);
  EXPECT_TRUE(selection) << selection.error().message;
  return selection.value_or(Selection{});
}

bool selects(const std::vector<std::string>& patterns, std::string_view name,
             std::string_view label = "") {
  return parsed(patterns).selects(name, label);
}

bool may_select(const std::vector<std::string>& patterns, std::string_view key) {
  for (const Entry& entry : catalogue()) {
    if (entry.key == key) {
      return parsed(patterns).may_select(entry);
    }
  }
  ADD_FAILURE() << key << " is no key of the catalogue";
  return false;
}

TEST(Selection, EmptyTakesEveryBareKey) {
  EXPECT_TRUE(Selection{}.empty());
  EXPECT_TRUE(Selection{}.selects("driver", ""));
  EXPECT_FALSE(Selection{}.selects("gpu.vbios", "3"));
  EXPECT_TRUE(Selection{}.may_select(catalogue().front()));
}

TEST(Selection, KeyNamesItselfAndAllBelow) {
  EXPECT_TRUE(selects({"driver"}, "driver"));
  EXPECT_TRUE(selects({"driver"}, "driver.libcuda.path"));
  EXPECT_FALSE(selects({"driver"}, "drivers"));
  EXPECT_FALSE(selects({"driver"}, "gpu.name"));
  EXPECT_FALSE(selects({"driver"}, "next_boot.driver"));
  EXPECT_TRUE(selects({"gpu"}, "gpu.pcie.max_speed"));
  EXPECT_TRUE(selects({"next_boot"}, "next_boot.sysctl.vm.swappiness"));
  EXPECT_TRUE(selects({"sysctl.net"}, "sysctl.net.core.rmem_max"));
  EXPECT_FALSE(selects({"sysctl.net"}, "sysctl.vm.swappiness"));
  EXPECT_TRUE(selects({"module.nvidia"}, "module.nvidia.on_disk.srcversion"));
  EXPECT_FALSE(selects({"module.nvidia"}, "module.nvidia_uvm.loaded"));
}

TEST(Selection, OtherSpellingsAreRead) {
  EXPECT_TRUE(selects({"driver.version"}, "driver.nvml"));
  EXPECT_TRUE(selects({"cmdline.iommu"}, "kernel.cmdline.iommu"));
  EXPECT_TRUE(selects({"cmdline"}, "kernel.cmdline"));
  EXPECT_TRUE(selects({"pip.*"}, "python.package.numpy"));
  EXPECT_TRUE(selects({"pip"}, "python.package.numpy.origin"));
  EXPECT_TRUE(selects({"pip.Flash_Attn"}, "python.package.flash-attn"));
  EXPECT_TRUE(selects({"python.package.Zope.Interface"}, "python.package.zope-interface"));
  EXPECT_TRUE(selects({"python.package.torch"}, "torch.cuda"));
  EXPECT_TRUE(selects({"os"}, "os.name"));
  EXPECT_TRUE(selects({"os"}, "os.release"));
  EXPECT_TRUE(selects({"file@/data/*"}, "file", "/data/train.idx"));
}

TEST(Selection, StarStaysWithinADot) {
  EXPECT_TRUE(selects({"gpu.*"}, "gpu.vbios"));
  EXPECT_TRUE(selects({"gpu.*"}, "gpu.pcie.max_speed"));  // below gpu.pcie
  EXPECT_FALSE(selects({"*.path"}, "cuda.toolkit.path"));
  EXPECT_TRUE(selects({"*.path"}, "nccl.path"));
  EXPECT_TRUE(selects({"**.path"}, "cuda.toolkit.path"));
  EXPECT_TRUE(selects({"env.NCCL_*"}, "env.NCCL_DEBUG"));
  EXPECT_FALSE(selects({"env.NCCL_*"}, "env.CUDA_HOME"));
  EXPECT_TRUE(selects({"module.*.loaded"}, "module.nvidia.loaded.srcversion"));
}

TEST(Selection, LayersAreTakenWhole) {
  EXPECT_TRUE(selects({"layer:tuning"}, "sysctl.vm.swappiness"));
  EXPECT_TRUE(selects({"layer:tuning"}, "cpu.governor"));
  EXPECT_FALSE(selects({"layer:tuning"}, "cpu.model"));
  EXPECT_FALSE(selects({"layer:tuning"}, "no.such.key"));
  EXPECT_FALSE(selects({"layer:firmware"}, "gpu.vbios", "3"));
  EXPECT_TRUE(selects({"layer:firmware@3"}, "gpu.vbios", "3"));
}

TEST(Selection, ExclamationMarkTakesAway) {
  EXPECT_TRUE(selects({"gpu", "!gpu.pcie"}, "gpu.vbios"));
  EXPECT_FALSE(selects({"gpu", "!gpu.pcie"}, "gpu.pcie.width"));
  EXPECT_FALSE(selects({"!gpu.pcie", "gpu"}, "gpu.pcie.width")) << "the order says nothing";
  EXPECT_TRUE(selects({"!layer:tuning"}, "driver"));
  EXPECT_FALSE(selects({"!layer:tuning"}, "clocksource"));
  EXPECT_FALSE(selects({"!gpu"}, "nccl", "/usr/lib/libnccl.so.2")) << "bare keys unless asked for";
  EXPECT_FALSE(selects({"**@*", "!gpu"}, "gpu.vbios", "3"));
  EXPECT_TRUE(selects({"**@*", "!gpu"}, "nccl", "/usr/lib/libnccl.so.2"));
  EXPECT_FALSE(selects({"gpu@*", "!gpu@3"}, "gpu.vbios", "3"));
  EXPECT_TRUE(selects({"gpu@*", "!gpu@3"}, "gpu.vbios", "4"));
}

TEST(Selection, InstancesAreTakenByLabelOnly) {
  EXPECT_FALSE(selects({"gpu"}, "gpu.vbios", "5"));
  EXPECT_TRUE(selects({"gpu@5"}, "gpu.vbios", "5"));
  EXPECT_FALSE(selects({"gpu@5"}, "gpu.vbios", "15"));
  EXPECT_FALSE(selects({"gpu@5"}, "gpu.vbios"));
  EXPECT_TRUE(selects({"nccl@*"}, "nccl", "/usr/lib/x86_64-linux-gnu/libnccl.so.2"));
  EXPECT_TRUE(selects({"nccl@*.so.2"}, "nccl.build_id", "/usr/lib/libnccl.so.2"));
  EXPECT_TRUE(selects({"**@*"}, "module.nvidia.on_disk", "6.1.0-47-amd64"));
  EXPECT_FALSE(selects({"**@*"}, "driver"));
}

TEST(Selection, PatternsThatNameNothingAreRefused) {
  const auto refusal = [](const std::string& pattern) {
    auto selection = Selection::parse({"driver", pattern});
    return selection ? "no error" : selection.error().message;
  };
  EXPECT_EQ(refusal("drivr"), "unknown key \"drivr\"; did you mean driver?");
  EXPECT_EQ(refusal("!drivr"), "unknown key \"drivr\"; did you mean driver?");
  EXPECT_EQ(refusal("sysctl.kernel.watchdog_tresh"),
            "unknown key \"sysctl.kernel.watchdog_tresh\"; did you mean "
            "sysctl.kernel.watchdog_thresh?");
  EXPECT_EQ(refusal("gpux.*"), "no key matches \"gpux.*\"");
  EXPECT_THAT(refusal("layer:tunning"),
              HasSubstr("no layer \"tunning\"; layers are host, firmware"));
  EXPECT_EQ(refusal(""), "no pattern of keys: \"\"");
  EXPECT_EQ(refusal("!"), "no pattern of keys: \"!\"");
  EXPECT_EQ(refusal("@3"), "no pattern of keys: \"@3\"");
  EXPECT_EQ(refusal("gpu@"), "no pattern of keys: \"gpu@\"");
}

TEST(Selection, SaysWhichFamiliesMayBeLeftOut) {
  EXPECT_TRUE(may_select({"gpu"}, "gpu.vbios"));
  EXPECT_FALSE(may_select({"gpu"}, "driver"));
  EXPECT_TRUE(may_select({"sysctl.net"}, "sysctl.<name>"));
  EXPECT_TRUE(may_select({"sysctl.net.core.rmem_max"}, "sysctl.<name>"));
  EXPECT_FALSE(may_select({"sysctl.net"}, "env.<NAME>"));
  EXPECT_TRUE(may_select({"module.nvidia.loaded"}, "module.<module>.loaded"));
  EXPECT_FALSE(may_select({"module.nvidia.loaded"}, "module.<module>.on_disk"));
  EXPECT_TRUE(may_select({"module.*.loaded"}, "module.<module>.loaded.srcversion"));
  EXPECT_TRUE(may_select({"**.path"}, "cuda.toolkit.path"));
  EXPECT_FALSE(may_select({"**.path"}, "cuda.toolkit"));
  EXPECT_TRUE(may_select({"**.hard"}, "limits.<resource>.hard"));
  EXPECT_TRUE(may_select({"layer:tuning"}, "cpu.governor"));
  EXPECT_FALSE(may_select({"layer:tuning"}, "cpu.model"));
  EXPECT_TRUE(may_select({"gpu@5"}, "gpu.vbios"));
  EXPECT_FALSE(may_select({"!sysctl"}, "sysctl.<name>"));
  EXPECT_TRUE(may_select({"!sysctl.net"}, "sysctl.<name>"));
  EXPECT_TRUE(may_select({"!sysctl"}, "driver"));
  EXPECT_TRUE(may_select({"!gpu@3"}, "gpu.vbios"));
  EXPECT_FALSE(may_select({"!layer:driver"}, "driver"));
}

/// Skipping a probe must never lose a fact that was asked for.
TEST(Selection, WhatIsSelectedMayBeSelected) {
  const std::vector<std::string> names = {"driver",
                                          "sysctl.net.core.rmem_max",
                                          "module.nvidia.loaded.srcversion",
                                          "gpu.pcie.width",
                                          "env.NCCL_DEBUG",
                                          "next_boot.module.nvidia.param.X",
                                          "conda.package.ruamel.yaml",
                                          "library.path.libnccl.so.2",
                                          "limits.memlock.hard"};
  const std::vector<std::string> patterns = {"driver",
                                             "**",
                                             "*",
                                             "*.*",
                                             "**.so.2",
                                             "sysctl.net.*",
                                             "sysctl.*.core",
                                             "module.*.loaded",
                                             "!gpu",
                                             "!**.width",
                                             "!layer:driver",
                                             "layer:limits",
                                             "env.*",
                                             "next_boot.**.param",
                                             "**nvidia**",
                                             "library.path.*.so",
                                             "conda.package.ruamel.*",
                                             "!module"};
  for (const std::string& pattern : patterns) {
    const Selection selection = parsed({pattern});
    for (const std::string& name : names) {
      if (selection.selects(name, "")) {
        EXPECT_TRUE(selection.may_select(*entry_of(name))) << pattern << " selects " << name;
      }
    }
  }
}

TEST(CanonicalPattern, AFamilysOtherSpellingGivesWay) {
  EXPECT_EQ(canonical_pattern("pip"), "python.package");
  EXPECT_EQ(canonical_pattern("pip.*"), "python.package.*");
  EXPECT_EQ(canonical_pattern("ulimit.**"), "limits.**");
  EXPECT_EQ(canonical_pattern("pipes.*"), "pipes.*");
  EXPECT_EQ(canonical_pattern("python.package.*"), "python.package.*");
  EXPECT_EQ(canonical_pattern(""), "");
}

}  // namespace
}  // namespace goldenv::facts
