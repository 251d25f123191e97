#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::source {

/// A unit's full name: "jupyter" is jupyter.service. Errors: usage, for what is no name of one.
Result<std::string> unit_name(std::string_view word);

/// The main process of a unit, learned without asking systemd.
struct UnitProcess {
  std::uint32_t pid = 0;  ///< 0: none
  std::string why_none;   ///< "is not running"
  bool is_user_unit = false;
  std::string home;  ///< of a user unit's user
  std::vector<std::string> notes;
};

/// By the unit's control group: a folder of that name in systemd's own hierarchy (v1) or in the one
/// hierarchy (v2); the system's units first, then the caller's, then another user's if only one has
/// it. The main process is the one that the unit's PIDFile= names, else the oldest. `host` is this
/// machine, `user` the caller. Errors: usage (neither a control group nor a unit file has that
/// name; several users have it).
Result<UnitProcess> process_of_unit(const host::Host& host, const std::string& unit,
                                    std::uint32_t user);

/// This machine as the unit's main process has it, or without a process where it has none.
Result<std::unique_ptr<host::Host>> unit_host(std::unique_ptr<host::Host> machine,
                                              const std::string& unit);

}  // namespace goldenv::source
