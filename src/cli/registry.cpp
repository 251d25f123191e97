#include <array>

#include "cli/command.h"

namespace goldenv::cli {

// One line a subcommand, in the order of the help; each is defined in the file of its name.
extern const Command overview;
extern const Command scan;
extern const Command lock;
extern const Command check;
extern const Command diff;
extern const Command explain;
extern const Command versions;
extern const Command provision_command;
extern const Command run_command;
extern const Command shell;
extern const Command env;
extern const Command store_command;

std::span<const Command* const> commands() {
  static constexpr std::array<const Command*, 12> kCommands = {
      &overview,          &scan,        &lock,  &check, &diff,         &explain, &versions,
      &provision_command, &run_command, &shell, &env,   &store_command};
  return kCommands;
}

}  // namespace goldenv::cli
