#include "source/ssh_hosts.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "host/host.h"

namespace goldenv::source {
namespace {

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.find_first_of("*?!|") == std::string_view::npos;
}

/// "gpu17" of "[gpu17]:2222".
std::string_view without_port(std::string_view name) {
  const std::size_t close = name.find("]:");
  return name.starts_with('[') && close != std::string_view::npos ? name.substr(1, close - 1)
                                                                  : name;
}

}  // namespace

std::vector<std::string> hosts_in_config(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view line : lines(text)) {
    const std::string spaced = [&] {
      std::string out(line);
      std::ranges::replace(out, '=', ' ');
      return out;
    }();
    const std::vector<std::string_view> parts = words(spaced);
    if (parts.size() < 2 || to_lower(parts[0]) != "host") {
      continue;
    }
    for (const std::string_view name : std::vector(parts.begin() + 1, parts.end())) {
      if (is_plain_name(name)) {
        hosts.emplace_back(name);
      }
    }
  }
  return hosts;
}

std::vector<std::string> hosts_in_known(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view line : lines(text)) {
    const std::vector<std::string_view> parts = words(line);
    // "@revoked" and "@cert-authority" name no host to look at.
    if (parts.size() < 3 || parts[0].starts_with('#') || parts[0].starts_with('@')) {
      continue;
    }
    for (const std::string_view name : split(parts[0], ',')) {
      if (is_plain_name(name)) {
        hosts.emplace_back(without_port(name));
      }
    }
  }
  return hosts;
}

bool is_known_host(std::string_view word) {
  const std::unique_ptr<host::Host> machine = host::live_host();
  const auto holds = [&](const std::string& path, auto parse) {
    const Result<std::string> text = machine->read_file(path);
    const std::vector<std::string> hosts = text ? parse(*text) : std::vector<std::string>{};
    return std::ranges::find(hosts, word) != hosts.end();
  };
  const char* home = std::getenv("HOME");
  const std::string own = home != nullptr && home[0] == '/' ? std::string(home) + "/.ssh/" : "";
  return (!own.empty() &&
          (holds(own + "config", hosts_in_config) || holds(own + "known_hosts", hosts_in_known))) ||
         holds("/etc/ssh/ssh_config", hosts_in_config) ||
         holds("/etc/ssh/ssh_known_hosts", hosts_in_known);
}

}  // namespace goldenv::source
