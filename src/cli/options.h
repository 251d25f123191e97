#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.h"

namespace goldenv::cli {

/// What a command line asks for: to run a command, or to print something (help, version) and end.
struct Run {
  const Command* command = nullptr;
  Invocation invocation;
};
struct Print {
  std::string text;
};

/// Errors: usage, with what is wrong and, for an unknown subcommand or option, the nearest known
/// one.
Result<std::variant<Run, Print>> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace goldenv::cli
