#pragma once

#include <string>
#include <string_view>

namespace goldenv::probe {

// Names as sysctl(8) and sysctl.d(5) write them: dots part the name, a dot inside a part is written
// '/'. The two functions are inverses. net.ipv4.conf.eth0/100.mtu is net/ipv4/conf/eth0.100/mtu.

/// The path below /proc/sys. Parts that would lead elsewhere ("..", empty) are kept as text that
/// names no file.
std::string sysctl_path(std::string_view name);

/// The name of a path below /proc/sys.
std::string sysctl_name(std::string_view path);

/// A value with one blank between its numbers (the kernel parts vectors by tabs), no final newline.
std::string one_blank(std::string_view text);

/// Keys of TCP fast open, of address privacy and of packet hashing: not to be carried about. Of a
/// name or a path.
bool is_secret_sysctl(std::string_view name);

}  // namespace goldenv::probe
