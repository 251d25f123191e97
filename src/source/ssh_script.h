#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace goldenv::source {

/// How the script below ended where it could not run the program.
enum class SshStop : int {
  machine = 91,  ///< another system or architecture
  request = 92,  ///< nothing came in
  digest = 93,   ///< what came in is something else, or there is nothing to digest it with
  room = 94,     ///< it could not be written
  folder = 95,   ///< no folder from which programs run
};

/// The command for the far end: one line for any login shell (sh, csh, fish), whose quotes hold
/// neither ' nor \ nor !. It says "goldenv NONCE SYSTEM MACHINE"; takes a line, the request, and
/// the program from its standard input; runs that from a private folder and removes it; and says
/// "goldenv NONCE end STATUS". All that goes into it is ours: a nonce and a digest in hexadecimal,
/// the name of a machine.
std::string ssh_script(std::string_view nonce, std::string_view machine, std::string_view digest,
                       std::chrono::seconds deadline);

}  // namespace goldenv::source
