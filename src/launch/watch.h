#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "launch/program.h"

// A program that is looked at while it runs: what do it and the processes that it starts have
// mapped?
//
// They are looked at from outside, by /proc/PID/maps, often in the first moments, later twice a
// second, and never at the last moment: when a process ends its maps are gone. So a library that is
// loaded and unloaded between two looks, and a process that lives only between two, are not seen.
// ptrace(2) would see each exit, at the price of every debugger, profiler and sandbox below; a
// library of ours that is preloaded would see each dlopen, and be itself one of those that do not
// belong there.
namespace goldenv::launch {

/// Is given the maps of a process whenever they are not what they were.
using Look = std::function<void(pid_t process, std::string_view maps)>;

/// How a watched program ended.
struct Watched {
  std::optional<Refusal> refusal;  ///< it did not begin
  int status = 0;                  ///< its exit status; 128 + n, where signal n ended it
  int signal = 0;                  ///< that signal, 0 where none did
  std::size_t looks = 0;           ///< at how many moments something could be seen
  std::size_t processes = 0;       ///< how many were seen
  std::size_t denied = 0;          ///< how many may not be looked at (set-user-id, for one)
};

/// Runs a program and looks at it, at its children and theirs, until it ends. Signals that are sent
/// to this process go on to it, and it stops and goes on with it; of the terminal's, it has its
/// own. It is killed if this process is. Errors: failed (no process, no pipe).
Result<Watched> watch(const Program& program, const Look& look);

/// Ends this process as the program ended: with its status, or by its signal.
[[noreturn]] void end_as(const Watched& watched);

}  // namespace goldenv::launch
