#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/host.h"

// Every mount has a point and a type, and holds its own point unless a later one hides it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto mounts = goldenv::host::parse_mountinfo(text);
  for (const auto& mount : mounts) {
    if (!mount.point.starts_with('/') || mount.type.empty()) {
      std::abort();
    }
    const auto* holder = goldenv::host::mount_of(mounts, mount.point);
    if (holder == nullptr || holder->point != mount.point) {
      std::abort();
    }
    goldenv::host::can_hang(mount.type);
  }
  return 0;
}
