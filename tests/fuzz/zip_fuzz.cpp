#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "unpack/placing.h"
#include "unpack/zip.h"

// Any bytes are a zip archive within its limits, or refused; a member has as many bytes as it says,
// and a name that passed stays inside.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using goldenv::Result;
  static const int fd = memfd_create("zip_fuzz", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  goldenv::unpack::ZipLimits limits;
  limits.free_bytes = 1u << 20;
  const auto zip = goldenv::unpack::Zip::open(fd, "fuzz", limits);
  if (!zip) {
    return 0;
  }
  static const std::vector<goldenv::unpack::Placement> place = {{"a", "lib"}, {"", "."}};
  const goldenv::unpack::Placing placing(1, place);
  for (const auto& member : zip->members()) {
    std::uint64_t got = 0;
    const Result<void> read = zip->content(member, [&](std::string_view piece) {
      got += piece.size();
      return Result<void>();
    });
    if (got > member.size_bytes || (read && got != member.size_bytes)) {
      std::abort();
    }
    const auto path = goldenv::unpack::Placing::cleaned(member.name);
    const auto target = path ? placing.target(*path) : std::nullopt;
    if (target && (target->starts_with('/') || target->empty() || *target == ".." ||
                   target->starts_with("../") || target->find("/../") != std::string::npos)) {
      std::abort();
    }
    if (target) {
      (void)placing.link(*path, member.name, true);
    }
  }
  return 0;
}
