#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The database of installed packages that rpm keeps, in the three forms that it has had. Why our
// own readers: the libraries that write these files would cost every run of the program their
// start-up, and of each header of some hundred KiB only the first pages matter here.
namespace goldenv::probe {

struct RpmPackage {
  std::string name;
  std::string version;       ///< [epoch:]version-release; an epoch of 0 is not written
  std::string architecture;  ///< "x86_64", "noarch", or ""

  friend bool operator==(const RpmPackage&, const RpmPackage&) = default;
};

/// Bytes of a file at an offset: fewer than asked for at its end.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;

/// What a database may cost to read: a damaged one can lead to the same page again and again.
inline constexpr std::uint64_t kRpmBudgetBytes = std::uint64_t{256} << 20;

/// All packages in the order of the file, by the form that the file's magic says. The keys that rpm
/// trusts (gpg-pubkey), which it keeps as if they were packages, are left out. Errors: malformed
/// (damaged, or of no form known here), too_large.
Result<std::vector<RpmPackage>> parse_rpm_database(const ReadAt& read_at);

/// The first bytes of a header, or all of it where it has fewer.
using FirstBytes = std::function<std::string(std::size_t size)>;

/// A package's header as databases hold it: without the magic of package files. Numbers in it are
/// big-endian. Source: rpm's "Package format" manual. Errors: malformed.
Result<RpmPackage> parse_rpm_header(const FirstBytes& first);

/// Bytes of a database, counted.
class RpmFile {
 public:
  explicit RpmFile(const ReadAt& read_at) : read_at_(read_at) {}

  /// Exactly `size` bytes. Errors: malformed (outside the file), too_large (over the budget).
  Result<std::string> at(std::uint64_t offset, std::size_t size);

 private:
  const ReadAt& read_at_;
  std::uint64_t left_ = kRpmBudgetBytes;
};

/// Takes one header after the other. Errors of it end the reading.
using TakeHeader = std::function<Result<void>(const FirstBytes& first)>;

/// rpmdb.sqlite: the table Packages(hnum, blob). Source: sqlite.org/fileformat2.html.
Result<void> read_rpm_sqlite(RpmFile& file, const TakeHeader& take);
/// Packages: a hash table of Berkeley DB. Source: Berkeley DB 5.3, dbinc/db_page.h and hash.h.
Result<void> read_rpm_berkeley(RpmFile& file, const TakeHeader& take);
/// Packages.db: slots that name blobs. Source: rpm 4.16, lib/backend/ndb/rpmpkg.c.
Result<void> read_rpm_ndb(RpmFile& file, const TakeHeader& take);

inline Error rpm_malformed(std::string what) {
  return {Errc::malformed, "the rpm database is damaged: " + std::move(what), {}};
}

/// An unsigned number of 2 or 4 bytes at a place of a text that holds it.
inline std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size,
                               bool big_endian) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[at + (big_endian ? i : size - 1 - i)]);
    number = number << 8 | byte;
  }
  return number;
}

}  // namespace goldenv::probe
