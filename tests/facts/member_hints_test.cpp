#include "facts/member_hints.h"

#include <gtest/gtest.h>

namespace goldenv::facts {
namespace {

std::string near(std::string_view key) { return nearest_member(FactKey::parse(key)); }

TEST(NearestMember, IsAWellKnownNameOneSlipAway) {
  EXPECT_EQ(near("env.NCCL_DBUG"), "env.NCCL_DEBUG");
  EXPECT_EQ(near("env.CUDA_VISIBLE_DEVICE"), "env.CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(near("env.LD_PRELAOD"), "env.LD_PRELOAD");
  EXPECT_EQ(near("module.nvidiaa.state"), "module.nvidia.state");
  EXPECT_EQ(near("module.nvidia_umv.param.x"), "module.nvidia_uvm.param.x");
}

TEST(NearestMember, IsNoneForKnownAndFarNamesAndForPackages) {
  for (const char* key :
       {"env.NCCL_DEBUG", "env.NCCL_DBG", "env.MY_OWN", "module.nvidia.state",
        "module.nvidia_fs.state", "module.dummy.state", "python.package.trnsformers", "driver"}) {
    EXPECT_EQ(near(key), "") << key;
  }
}

}  // namespace
}  // namespace goldenv::facts
