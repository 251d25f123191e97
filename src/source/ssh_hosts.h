#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::source {

/// The names of single hosts in an ssh_config(5) (`Host gpu17 gpu18 !old *.lan`), without patterns.
std::vector<std::string> hosts_in_config(std::string_view text);
/// Those in the known_hosts of sshd(8), without hashed ones and patterns; "[gpu17]:2222" is gpu17.
std::vector<std::string> hosts_in_known(std::string_view text);

/// Whether the user's ssh knows a host of this name, by ~/.ssh/config, ~/.ssh/known_hosts and the
/// system's. Files that cannot be read say nothing.
bool is_known_host(std::string_view word);

}  // namespace goldenv::source
