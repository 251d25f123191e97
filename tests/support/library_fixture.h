#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace goldenv::test {

/// Bytes of a stand-in library of tests/support/libs, by its name there: "nccl_2_18_1".
inline std::string library_fixture(const std::string& name) {
  std::ifstream file(std::string(GOLDENV_BINARY_DIR) + "/tests/support/libs/files/" + name + ".so",
                     std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(bytes.empty()) << "no fixture " << name;
  return bytes;
}

}  // namespace goldenv::test
