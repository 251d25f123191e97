#include <algorithm>
#include <optional>

#include "probe/rpm_database.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kSlotBytes = 16;
constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kBlockBytes = 16;
constexpr std::size_t kBlobHead = 16;
constexpr std::uint32_t kMostSlotPages = 1u << 16;

/// A slot's package, whose header stands behind a head that repeats its number.
Result<void> take_blob(RpmFile& file, std::uint32_t package, std::uint64_t offset,
                       const TakeHeader& take) {
  GOLDENV_TRY(const std::string head, file.at(offset, kBlobHead));
  if (!head.starts_with("BlbS") || number_at(head, 4, 4, false) != package) {
    return rpm_malformed("a slot that leads to no package");
  }
  const std::size_t total = number_at(head, 12, 4, false);
  std::optional<Error> error;
  Result<void> done = take([&](std::size_t size) {
    const Result<std::string> bytes = file.at(offset + kBlobHead, std::min(size, total));
    if (!bytes) {
      error = bytes.error();
    }
    return bytes ? *bytes : std::string();
  });
  return error ? Result<void>(*error) : done;
}

}  // namespace

Result<void> read_rpm_ndb(RpmFile& file, const TakeHeader& take) {
  GOLDENV_TRY(const std::string header, file.at(0, kHeaderBytes));
  const std::uint32_t pages = number_at(header, 12, 4, false);
  if (number_at(header, 4, 4, false) != 0 || pages > kMostSlotPages) {
    return rpm_malformed("it has a version or a number of slots that is not known");
  }
  for (std::uint32_t i = 0; i < pages; ++i) {
    GOLDENV_TRY(const std::string page, file.at(std::uint64_t{i} * kPageBytes, kPageBytes));
    for (std::size_t at = i == 0 ? kHeaderBytes : 0; at < kPageBytes; at += kSlotBytes) {
      if (page.compare(at, 4, "Slot") != 0) {
        return rpm_malformed("a slot without its mark");
      }
      const std::uint32_t package = number_at(page, at + 4, 4, false);
      const std::uint64_t block = number_at(page, at + 8, 4, false);
      if (block == 0 || package == 0) {
        continue;  // free
      }
      if (Result<void> done = take_blob(file, package, block * kBlockBytes, take); !done) {
        return done;
      }
    }
  }
  return {};
}

}  // namespace goldenv::probe
