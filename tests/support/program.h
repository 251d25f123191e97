#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace goldenv::test {

/// How to run a program.
struct Command {
  std::vector<std::string> argv;  ///< the first is the program's path; PATH is not searched
  /// The whole environment; without it, this process's own.
  std::optional<std::map<std::string, std::string>> environment = std::nullopt;
  std::string folder = {};  ///< where it runs; empty: here
  std::string input = {};   ///< its standard input, through a pipe
  std::chrono::milliseconds deadline{60'000};
};

struct Ended {
  /// Exit status; 128 + the number of the signal that ended it; -1 at the deadline, when the
  /// program and all in its process group were killed.
  int status = 0;
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// Runs a program to its end in a process group of its own. 127 when it cannot be executed. Throws
/// std::runtime_error where the system gives no process or pipe.
Ended run(const Command& command);

}  // namespace goldenv::test
