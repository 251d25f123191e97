#pragma once

#include <string>

namespace goldenv::test {

/// Path of a stand-in for libnvidia-ml.so.1, by what it does (tests/support/nvml): "good", "old",
/// "mismatch", "hangs", "hangs_at_1", "crashes", "garbage", "lost", "writes".
inline std::string nvml_fixture(const std::string& kind) {
  return std::string(GOLDENV_BINARY_DIR) + "/tests/support/nvml/files/nvml_" + kind + ".so";
}

}  // namespace goldenv::test
