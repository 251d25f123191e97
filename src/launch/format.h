#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/variables.h"

namespace goldenv::launch {

/// What can read an environment's variables.
enum class Format {
  sh,       ///< POSIX shell: lines of unset and export, for eval or `.`
  systemd,  ///< a drop-in of a service: systemd.exec(5), systemd.syntax(7)
  docker,   ///< `docker run --env-file`: github.com/docker/cli, pkg/kvfile
  slurm,    ///< the first lines of a batch script
  json,     ///< a document; docs/ENVIRONMENT.md tells its form
};

/// The variables of a plan in a format. What a service or a container begins with is not known, so
/// there the plan is to be made with Choices::clean and no caller's variables (is_elsewhere).
///
/// Every byte string that a format can carry comes back as it was. Errors: usage, which names each
/// variable that it cannot carry, and why: systemd and docker take UTF-8 only, docker also no line
/// end; no shell has a variable whose name is no name.
Result<std::string> write(Format format, const Environment& environment, const Plan& plan);

/// Whether what reads the format runs with other variables than the caller of goldenv.
bool is_elsewhere(Format format);

/// A word in a POSIX shell that stands for these bytes, on any terminal: 'it'\''s'. Control
/// characters but the line feed, bytes that are no UTF-8 and what is invisible come from printf.
std::string shell_quoted(std::string_view value);

}  // namespace goldenv::launch
