#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::test {

/// Databases of rpm in the three forms that it has had, small enough to be made in a test. The
/// pages are as small as each form allows, so that a few packages make trees, chains and overflow
/// pages.
namespace rpm {

inline std::string number(std::uint64_t value, std::size_t size, bool big_endian) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[big_endian ? size - 1 - i : i] = static_cast<char>(value >> (8 * i) & 0xff);
  }
  return bytes;
}

inline std::string big(std::uint64_t value, std::size_t size) { return number(value, size, true); }

/// A header: name, epoch (none where negative), version, release, architecture behind a description
/// of so many bytes.
inline std::string header(const std::string& name, int epoch, const std::string& version,
                          const std::string& release, const std::string& architecture,
                          std::size_t description = 40) {
  std::string index;
  std::string store;
  std::uint32_t count = 0;
  const auto entry = [&](std::uint32_t tag, std::uint32_t type, const std::string& bytes) {
    if (type == 4) {
      store.resize((store.size() + 3) / 4 * 4);
    }
    index += big(tag, 4) + big(type, 4) + big(store.size(), 4) + big(1, 4);
    store += bytes;
    ++count;
  };
  const std::string end(1, '\0');
  entry(1000, 6, name + end);
  entry(1001, 6, version + end);
  entry(1002, 6, release + end);
  if (epoch >= 0) {
    entry(1003, 4, big(static_cast<std::uint64_t>(epoch), 4));
  }
  entry(1005, 9, std::string(description, 'd') + end);
  entry(1022, 6, architecture + end);
  return big(count, 4) + big(store.size(), 4) + index + store;
}

inline std::string varint(std::uint64_t value) {
  std::string bytes(1, static_cast<char>(value & 0x7f));
  while ((value >>= 7) != 0) {
    bytes.insert(bytes.begin(), static_cast<char>((value & 0x7f) | 0x80));
  }
  return bytes;
}

/// A database of SQLite with the table Packages: one page of schema, one inner page, a leaf for
/// each header, and the pages that these overflow to.
class Sqlite {
 public:
  explicit Sqlite(const std::vector<std::string>& headers) {
    pages_.resize(2);
    std::string inner(1, '\x05');
    inner += big(0, 2) + big(headers.size() - 1, 2) + big(0, 2) + big(0, 1);
    std::string pointers;
    std::string cells;
    std::uint64_t row = 0;
    std::uint32_t last = 0;
    for (const std::string& header : headers) {
      const std::string types = varint(0) + varint(12 + 2 * header.size());
      const std::string record = varint(types.size() + 1) + types + header;
      last = leaf(++row, record);
      if (row < headers.size()) {
        const std::string cell = big(last, 4) + varint(row);
        cells.insert(0, cell);
        pointers += big(kPage - cells.size(), 2);
      }
    }
    inner += big(last, 4) + pointers;
    pages_[1] = inner + std::string(kPage - inner.size() - cells.size(), '\0') + cells;
    pages_[0] = schema();
  }

  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const std::string& page : pages_) {
      all += page;
    }
    return all;
  }

 private:
  static constexpr std::size_t kPage = 512;

  static std::string page_of(const std::string& cell, std::string before) {
    before += std::string("\x0d", 1) + big(0, 2) + big(1, 2) + big(kPage - cell.size(), 2) +
              big(0, 1) + big(kPage - cell.size(), 2);
    return before + std::string(kPage - before.size() - cell.size(), '\0') + cell;
  }

  static std::string schema() {
    const std::string sql = "CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY, blob BLOB)";
    const std::string types = varint(13 + 2 * 5) + varint(13 + 2 * 8) + varint(13 + 2 * 8) +
                              varint(1) + varint(13 + 2 * sql.size());
    const std::string record =
        varint(types.size() + 1) + types + "tablePackagesPackages" + big(2, 1) + sql;
    std::string start("SQLite format 3\0", 16);
    start += big(kPage, 2) + std::string(82, '\0');
    return page_of(varint(record.size()) + varint(1) + record, start);
  }

  std::uint32_t leaf(std::uint64_t row, const std::string& record) {
    const std::size_t most = kPage - 35;
    std::size_t local = record.size();
    if (local > most) {
      const std::size_t least = (kPage - 12) * 32 / 255 - 23;
      local = least + (record.size() - least) % (kPage - 4);
      local = local <= most ? local : least;
    }
    std::string cell = varint(record.size()) + varint(row) + record.substr(0, local);
    const std::size_t at = pages_.size();
    pages_.emplace_back();
    std::string rest = record.substr(local);
    cell += rest.empty() ? "" : big(pages_.size() + 1, 4);
    pages_[at] = page_of(cell, "");
    while (!rest.empty()) {
      std::string part = rest.substr(0, kPage - 4);
      rest.erase(0, part.size());
      part.resize(kPage - 4);
      pages_.push_back(big(rest.empty() ? 0 : pages_.size() + 2, 4) + part);
    }
    return static_cast<std::uint32_t>(at + 1);
  }

  std::vector<std::string> pages_;
};

/// A hash table of Berkeley DB with two buckets, the first of which goes on in a second page; each
/// header on overflow pages of its own, the last in the bucket itself where it fits.
class Berkeley {
 public:
  Berkeley(const std::vector<std::string>& headers, bool big_endian) : big_endian_(big_endian) {
    pages_.resize(4);  // meta, bucket 0, bucket 1, more of bucket 0
    std::vector<std::pair<std::string, std::string>> items[3];
    items[0].emplace_back(n(0, 4), "\x01" + n(headers.size(), 4));
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const bool fits = i + 1 == headers.size() && headers[i].size() < 300;
      items[i % 3].emplace_back(n(i + 1, 4), fits ? "\x01" + headers[i] : off_page(headers[i]));
    }
    pages_[1] = bucket(items[0], 3);
    pages_[2] = bucket(items[1], 0);
    pages_[3] = bucket(items[2], 0);
    std::string meta(512, '\0');
    const auto put = [&](std::size_t at, std::uint64_t value) { meta.replace(at, 4, n(value, 4)); };
    put(12, 0x061561);
    put(16, 9);
    put(20, kPage);
    meta[25] = 8;
    put(72, 1);  // last bucket
    put(88, headers.size() + 1);
    put(96, 1);
    put(100, 1);
    pages_[0] = meta;
  }

  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const std::string& page : pages_) {
      all += page;
    }
    return all;
  }

 private:
  static constexpr std::size_t kPage = 512;

  [[nodiscard]] std::string n(std::uint64_t value, std::size_t size) const {
    return number(value, size, big_endian_);
  }

  [[nodiscard]] std::string start(std::uint32_t next, std::uint64_t items, std::uint64_t offset,
                                  char type) const {
    return std::string(12, '\0') + n(0, 4) + n(next, 4) + n(items, 2) + n(offset, 2) + '\0' + type;
  }

  [[nodiscard]] std::string bucket(const std::vector<std::pair<std::string, std::string>>& items,
                                   std::uint32_t next) const {
    std::string table;
    std::string body;
    for (const auto& [key, value] : items) {
      for (const std::string& item : {"\x01" + key, value}) {
        body.insert(0, item);
        table += n(kPage - body.size(), 2);
      }
    }
    const std::string head = start(next, items.size() * 2, kPage - body.size(), 13) + table;
    return head + std::string(kPage - head.size() - body.size(), '\0') + body;
  }

  std::string off_page(const std::string& header) {
    std::string item = std::string("\x03\0\0\0", 4) + n(pages_.size(), 4) + n(header.size(), 4);
    std::string rest = header;
    while (!rest.empty()) {
      std::string part = rest.substr(0, kPage - 26);
      rest.erase(0, part.size());
      const auto next = static_cast<std::uint32_t>(rest.empty() ? 0 : pages_.size() + 1);
      const std::size_t used = part.size();
      part.resize(kPage - 26);
      pages_.push_back(start(next, 0, used, 7) + part);
    }
    return item;
  }

  bool big_endian_;
  std::vector<std::string> pages_;
};

/// Packages.db of rpm's own "ndb": one page of slots, a free one among them, then the blobs.
inline std::string ndb(const std::vector<std::string>& headers) {
  const auto n = [](std::uint64_t value) { return number(value, 4, false); };
  std::string slots = "RpmP" + n(0) + n(7) + n(1) + n(headers.size() + 1) + std::string(12, '\0');
  slots += "Slot" + n(0) + n(0) + n(0);
  std::string blobs;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    slots += "Slot" + n(i + 1) + n((4096 + blobs.size()) / 16) + n(0);
    blobs += "BlbS" + n(i + 1) + n(7) + n(headers[i].size()) + headers[i] + "cccc" +
             n(headers[i].size()) + "BlbE";
    blobs.resize((blobs.size() + 15) / 16 * 16);
  }
  while (slots.size() < 4096) {
    slots += "Slot" + n(0) + n(0) + n(0);
  }
  return slots + blobs;
}

}  // namespace rpm
}  // namespace goldenv::test
