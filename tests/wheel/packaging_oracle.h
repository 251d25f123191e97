#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "support/program.h"

namespace goldenv::wheel {

/// One line of answer per line of input, from one Python process with `packaging` at hand.
inline std::vector<std::string> lines_of_packaging(const std::string& program,
                                                   const std::string& input) {
  const test::Ended ended = test::run({.argv = {"/usr/bin/python3", "-I", "-c", program},
                                       .input = input,
                                       .deadline = std::chrono::minutes(5)});
  EXPECT_EQ(ended.status, 0) << "install the package python3-packaging (and python3)\n"
                             << ended.err;
  std::vector<std::string> found;
  for (const std::string_view line : lines(ended.out)) found.emplace_back(line);
  return found;
}

}  // namespace goldenv::wheel
