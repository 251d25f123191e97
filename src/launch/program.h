#pragma once

#include <string>
#include <vector>

#include "launch/variables.h"

namespace goldenv::launch {

/// Exit statuses of whoever runs another program: those of env(1), timeout(1) and git bisect.
inline constexpr int kFailed = 125;
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;

/// What to run.
struct Program {
  std::vector<std::string> arguments;  ///< at least one; the first is looked for as execvp(3) does
  std::vector<Variable> variables;     ///< all that it gets; its PATH is the one that is searched
};

/// Why a program did not begin.
struct Refusal {
  int status = kFailed;  ///< kCannotExecute or kNotFound
  std::string message;   ///< names it, with the system's words
};

/// Becomes the program; returns only where it cannot. A file without #! is run by /bin/sh, as
/// execvp(3) does. The signals that main() ignores are as usual again; the mask and all open
/// descriptors without FD_CLOEXEC stay.
Refusal become(const Program& program);

}  // namespace goldenv::launch
