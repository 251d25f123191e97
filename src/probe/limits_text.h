#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::probe {

/// One line of /proc/<pid>/limits: numbers, or "unlimited".
struct Limit {
  std::string_view soft;
  std::string_view hard;
  std::uint32_t line = 0;
};

/// "memlock" -> "Max locked memory"; "" for a resource that getrlimit(2) has not.
std::string_view limit_title(std::string_view resource);

/// The limit of a resource; none where the text has no such line or it is cut short. Format:
/// proc(5).
std::optional<Limit> find_limit(std::string_view text, std::string_view resource);

/// What /proc/<pid>/cgroup says: "v1", "v2", "hybrid", or "" where it says nothing.
struct CgroupPaths {
  std::string_view version;
  std::string_view unified;  ///< path in the v2 tree, or ""
  std::vector<std::pair<std::string_view, std::string_view>> controllers;  ///< v1: name, path
};

/// Lines `0::/path` (v2) and `4:memory,x:/path` (v1). Source: cgroups(7). Views into the text.
CgroupPaths parse_cgroup(std::string_view text);

/// Bytes of a tmpfs `size=` option (64k, 1g, plain bytes); none for a percentage or no number.
std::optional<std::uint64_t> mount_size(std::string_view option);

}  // namespace goldenv::probe
