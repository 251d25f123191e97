#pragma once

#include <map>
#include <string>
#include <string_view>

namespace goldenv::probe {

/// Assignments of an os-release file, values without their quotes. Format: os-release(5), a subset
/// of shell: NAME=value, NAME="value", NAME='value', backslash escapes inside double quotes.
std::map<std::string, std::string, std::less<>> parse_os_release(std::string_view text);

}  // namespace goldenv::probe
