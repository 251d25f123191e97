#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "probe/rpm_database.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kMetaBytes = 512;
constexpr std::size_t kPageHeader = 26;
constexpr std::uint8_t kHashPage = 13;
constexpr std::uint8_t kUnsortedHashPage = 2;
constexpr std::uint8_t kOverflowPage = 7;
constexpr std::uint8_t kKeyData = 1;
constexpr std::uint8_t kOffPage = 3;
constexpr std::uint32_t kHashMagic = 0x061561;
constexpr std::uint32_t kMostBuckets = 1u << 20;

/// A hash table: its first page says where each bucket's pages begin, and each page names the next.
class Berkeley {
 public:
  static Result<Berkeley> open(RpmFile& file) {
    GOLDENV_TRY(const std::string meta, file.at(0, kMetaBytes));
    Berkeley table(file);
    table.big_endian_ = number_at(meta, 12, 4, true) == kHashMagic;
    const auto number = [&](std::size_t at) { return number_at(meta, at, 4, table.big_endian_); };
    table.page_bytes_ = number(20);
    if (table.page_bytes_ < 512 || table.page_bytes_ > 65536) {
      return rpm_malformed("it states an impossible page size");
    }
    constexpr std::uint8_t kChecksums = 0x01;
    if (meta[24] != 0 || (static_cast<std::uint8_t>(meta[26]) & kChecksums) != 0) {
      return rpm_malformed("it is encrypted or has checksums, which rpm's own never have");
    }
    table.last_bucket_ = number(72);
    table.pairs_ = number(88);
    if (table.last_bucket_ >= kMostBuckets) {
      return rpm_malformed("it states an impossible number of buckets");
    }
    for (std::size_t i = 0; i < table.spares_.size(); ++i) {
      table.spares_[i] = number(96 + i * 4);
    }
    return table;
  }

  Result<void> walk(const TakeHeader& take) {
    for (std::uint32_t bucket = 0; bucket <= last_bucket_; ++bucket) {
      std::size_t doublings = 0;
      while ((std::uint64_t{1} << doublings) < std::uint64_t{bucket} + 1) {
        ++doublings;
      }
      std::uint32_t page = bucket + spares_[doublings];
      while (page != 0) {
        GOLDENV_TRY(page, take_page(page, take));
      }
    }
    if (seen_ != pairs_) {
      return rpm_malformed("it holds " + std::to_string(seen_) + " entries and states " +
                           std::to_string(pairs_));
    }
    return {};
  }

 private:
  explicit Berkeley(RpmFile& file) : file_(&file) {}

  Result<std::string> read_page(std::uint32_t number) {
    return file_->at(std::uint64_t{number} * page_bytes_, page_bytes_);
  }
  [[nodiscard]] std::uint32_t number(std::string_view page, std::size_t at,
                                     std::size_t size = 4) const {
    return number_at(page, at, size, big_endian_);
  }

  /// Gives the number of the bucket's next page, or 0.
  Result<std::uint32_t> take_page(std::uint32_t page_number, const TakeHeader& take) {
    GOLDENV_TRY(const std::string page, read_page(page_number));
    const auto type = static_cast<std::uint8_t>(page[25]);
    const std::uint32_t items = number(page, 20, 2);
    if (type != kHashPage && type != kUnsortedHashPage) {
      // A bucket that was never written to is a page of zeros.
      return items == 0 && type == 0 ? Result<std::uint32_t>(0u)
                                     : Result<std::uint32_t>(rpm_malformed("a page of no bucket"));
    }
    if (items % 2 != 0 || kPageHeader + items * 2 > page_bytes_) {
      return rpm_malformed("a bucket with an impossible number of entries");
    }
    // Entries stand one before the other from the end of the page.
    std::size_t end = page_bytes_;
    std::string_view key;
    for (std::uint32_t i = 0; i < items; ++i) {
      const std::size_t at = number(page, kPageHeader + i * 2, 2);
      if (at >= end || at < kPageHeader + items * 2) {
        return rpm_malformed("an entry outside its page");
      }
      const std::string_view item = std::string_view(page).substr(at, end - at);
      end = at;
      if (i % 2 == 0) {
        key = item;
        continue;
      }
      ++seen_;
      // Under the number 0 stands the highest number given away.
      if (key.size() == 5 && key[0] == kKeyData && number(key, 1) == 0) {
        continue;
      }
      if (const Result<void> done = take_item(item, take); !done) {
        return done.error();
      }
    }
    return number(page, 16);
  }

  Result<void> take_item(std::string_view item, const TakeHeader& take) {
    if (item[0] == kKeyData) {
      return take([&](std::size_t size) { return std::string(item.substr(1, size)); });
    }
    if (item[0] != kOffPage || item.size() < 12) {
      return rpm_malformed("an entry that holds no header");
    }
    const std::uint32_t first_page = number(item, 4);
    const std::uint32_t total = number(item, 8);
    std::optional<Error> error;
    Result<void> done = take([&](std::size_t size) {
      std::string bytes;
      std::uint32_t page_number = first_page;
      while (bytes.size() < std::min<std::size_t>(size, total) && page_number != 0) {
        const Result<std::string> page = read_page(page_number);
        const std::size_t used = page ? number(*page, 22, 2) : 0;
        if (!page || static_cast<std::uint8_t>((*page)[25]) != kOverflowPage ||
            used > page_bytes_ - kPageHeader) {
          error = page ? rpm_malformed("a page of no entry") : page.error();
          break;
        }
        bytes.append(*page, kPageHeader, used);
        page_number = number(*page, 16);
      }
      bytes.resize(std::min<std::size_t>({bytes.size(), size, total}));
      return bytes;
    });
    return error ? Result<void>(*error) : done;
  }

  RpmFile* file_;
  bool big_endian_ = false;
  std::size_t page_bytes_ = 0;
  std::uint32_t last_bucket_ = 0;
  std::uint32_t pairs_ = 0;
  std::uint32_t seen_ = 0;
  std::array<std::uint32_t, 32> spares_{};  ///< pages before the buckets of each doubling
};

}  // namespace

Result<void> read_rpm_berkeley(RpmFile& file, const TakeHeader& take) {
  GOLDENV_TRY(Berkeley table, Berkeley::open(file));
  return table.walk(take);
}

}  // namespace goldenv::probe
