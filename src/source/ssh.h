#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "facts/snapshot.h"
#include "probe/probe.h"

namespace goldenv::source {

/// "gpu17", "me@gpu17", as the user's ssh takes it. Its characters are those of names of hosts and
/// users: it is no option to ssh, and nothing to a shell in ssh's own configuration (ProxyCommand
/// with %h). Errors: usage.
Result<std::string> parse_ssh_host(std::string_view word);

struct SshOptions {
  std::string ssh;       ///< the program; "": the ssh on PATH
  std::string portable;  ///< what is sent; "": $GOLDENV_PORTABLE, else goldenv-portable beside us
  std::chrono::seconds deadline{60};      ///< for all of it
  std::chrono::seconds far_deadline{40};  ///< for the look at the far end
};

/// The facts of a host far away, through the user's own ssh, with all of that one's configuration
/// but without questions (BatchMode). goldenv-portable is copied into a private temporary folder
/// there, run if it has the digest that it has here, under a deadline, with a clean environment,
/// and removed. Nothing else is written or need be installed there.
///
/// Variables of an environment are unknown (not-collected): a session by ssh has none that a job's
/// or a service's would equal.
///
/// Errors: failed, with what stood in the way: no answer, refused, another host key, no login,
/// another system or architecture, no folder to run from, an answer that stopped or is none.
Result<facts::Snapshot> look_at_ssh(const std::string& host, const probe::Request& request,
                                    const std::string& name, const SshOptions& options = {});

/// What a far end wrote: the snapshot behind the line "goldenv NONCE SYSTEM MACHINE", before the
/// line "goldenv NONCE end STATUS". What a login prints before is passed over. Errors: failed.
Result<facts::Snapshot> parse_ssh_answer(std::string_view output, std::string_view nonce,
                                         const std::string& name);

}  // namespace goldenv::source
