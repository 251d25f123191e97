#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "probe/rpm_database.h"

namespace goldenv::probe {
namespace {

constexpr std::uint8_t kInteriorPage = 0x05;
constexpr std::uint8_t kLeafPage = 0x0d;
constexpr std::size_t kHeaderBytes = 100;  // before the tree on the first page
constexpr std::size_t kDepthLimit = 20;    // a tree of 2^32 pages is not as deep
constexpr std::uint64_t kPayloadLimit = std::uint64_t{1} << 30;

/// The number that SQLite writes in one to nine bytes; moves `at` behind it.
std::optional<std::uint64_t> varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 9; ++i) {
    if (at >= bytes.size()) {
      return std::nullopt;
    }
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    if (i == 8) {
      return number << 8 | byte;
    }
    number = number << 7 | (byte & 0x7f);
    if ((byte & 0x80) == 0) {
      return number;
    }
  }
  return std::nullopt;
}

/// Bytes that a column of a record takes, by its serial type.
std::uint64_t column_bytes(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 12> kFixed = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kFixed.size() ? kFixed[type] : (type - 12) / 2;
}

/// A column in a record: where it begins and how long it is.
struct Column {
  std::uint64_t type = 0;
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// The columns of a record of which the first bytes are given.
Result<std::vector<Column>> columns(std::string_view record) {
  std::size_t at = 0;
  const auto header = varint(record, at);
  if (!header || *header > record.size()) {
    return rpm_malformed("a record is cut short");
  }
  std::vector<Column> found;
  std::uint64_t offset = *header;
  while (at < *header) {
    const auto type = varint(record, at);
    const std::uint64_t size = type ? column_bytes(*type) : 0;
    if (!type || size > kPayloadLimit || offset > kPayloadLimit) {
      return rpm_malformed("a record states impossible sizes");
    }
    found.push_back({*type, static_cast<std::size_t>(offset), static_cast<std::size_t>(size)});
    offset += size;
  }
  return found;
}

class Sqlite {
 public:
  static Result<Sqlite> open(RpmFile& file) {
    GOLDENV_TRY(const std::string header, file.at(0, kHeaderBytes));
    Sqlite sqlite(file);
    const std::uint32_t page = number_at(header, 16, 2, true);
    sqlite.page_bytes_ = page == 1 ? 65536 : page;
    const auto reserved = static_cast<std::uint8_t>(header[20]);
    if (sqlite.page_bytes_ < 512 || (sqlite.page_bytes_ & (sqlite.page_bytes_ - 1)) != 0) {
      return rpm_malformed("it states an impossible page size");
    }
    sqlite.usable_bytes_ = sqlite.page_bytes_ - reserved;
    if (sqlite.usable_bytes_ < 480) {
      return rpm_malformed("it states an impossible page size");
    }
    return sqlite;
  }

  /// One row: the first bytes of its record.
  using TakeRow = std::function<Result<void>(const FirstBytes& first)>;

  /// All rows of a table, in order.
  Result<void> walk(std::uint32_t root, const TakeRow& take, std::size_t depth = 0) {
    if (depth > kDepthLimit) {
      return rpm_malformed("a tree without end");
    }
    GOLDENV_TRY(const std::string page, read_page(root));
    const std::size_t start = root == 1 ? kHeaderBytes : 0;
    const auto type = static_cast<std::uint8_t>(page[start]);
    if (type != kInteriorPage && type != kLeafPage) {
      return rpm_malformed("a page that is none of a table");
    }
    const std::uint32_t cells = number_at(page, start + 3, 2, true);
    const std::size_t pointers = start + (type == kLeafPage ? 8 : 12);
    if (pointers + cells * 2 > usable_bytes_) {
      return rpm_malformed("a page with too many cells");
    }
    for (std::uint32_t i = 0; i < cells; ++i) {
      const std::size_t at = number_at(page, pointers + i * 2, 2, true);
      if (at + 4 > usable_bytes_) {
        return rpm_malformed("a cell outside its page");
      }
      Result<void> done = type == kLeafPage
                              ? take_cell(std::string_view(page).substr(0, usable_bytes_), at, take)
                              : walk(number_at(page, at, 4, true), take, depth + 1);
      if (!done) {
        return done;
      }
    }
    return type == kLeafPage ? Result<void>()
                             : walk(number_at(page, start + 8, 4, true), take, depth + 1);
  }

 private:
  explicit Sqlite(RpmFile& file) : file_(&file) {}

  Result<std::string> read_page(std::uint32_t number) {
    if (number == 0) {
      return rpm_malformed("a page number of 0");
    }
    return file_->at(std::uint64_t{number - 1} * page_bytes_, page_bytes_);
  }

  /// How much of a payload stands in its cell.
  [[nodiscard]] std::size_t local_bytes(std::uint64_t payload) const {
    const std::size_t most = usable_bytes_ - 35;
    if (payload <= most) {
      return static_cast<std::size_t>(payload);
    }
    const std::size_t least = (usable_bytes_ - 12) * 32 / 255 - 23;
    const std::size_t fitting =
        least + static_cast<std::size_t>((payload - least) % (usable_bytes_ - 4));
    return fitting <= most ? fitting : least;
  }

  Result<void> take_cell(std::string_view page, std::size_t at, const TakeRow& take) {
    const auto payload = varint(page, at);
    const auto row = payload ? varint(page, at) : std::nullopt;
    if (!row || *payload > kPayloadLimit) {
      return rpm_malformed("a cell states an impossible size");
    }
    const std::size_t local = local_bytes(*payload);
    const bool overflows = local < *payload;
    if (at + local + (overflows ? 4 : 0) > page.size()) {
      return rpm_malformed("a cell outside its page");
    }
    const std::string_view here = page.substr(at, local);
    const std::uint32_t next = overflows ? number_at(page, at + local, 4, true) : 0;
    std::optional<Error> error;
    Result<void> done = take([&](std::size_t size) {
      std::string bytes(here);
      std::uint32_t page_number = next;
      while (bytes.size() < std::min<std::uint64_t>(size, *payload) && page_number != 0) {
        const Result<std::string> more = read_page(page_number);
        if (!more) {
          error = more.error();
          break;
        }
        page_number = number_at(*more, 0, 4, true);
        bytes.append(*more, 4, usable_bytes_ - 4);
      }
      bytes.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>({bytes.size(), size, *payload})));
      return bytes;
    });
    return error ? Result<void>(*error) : done;
  }

  RpmFile* file_;
  std::size_t page_bytes_ = 0;
  std::size_t usable_bytes_ = 0;
};

/// First page of the table's tree, from the schema, a table (type, name, tbl_name, rootpage, sql).
Result<std::uint32_t> root_of_packages(Sqlite& sqlite) {
  std::uint32_t root = 0;
  const Result<void> done = sqlite.walk(1, [&](const FirstBytes& first) -> Result<void> {
    const std::string record = first(512);
    GOLDENV_TRY(const std::vector<Column> found, columns(record));
    if (found.size() < 4 || found[3].offset + found[3].size > record.size()) {
      return {};  // the names of rpm's own tables are short
    }
    const auto text = [&](std::size_t i) {
      return std::string_view(record).substr(found[i].offset, found[i].size);
    };
    if (text(0) == "table" && text(1) == "Packages") {
      for (const char byte : text(3).substr(0, 4)) {
        root = root << 8 | static_cast<std::uint8_t>(byte);
      }
    }
    return {};
  });
  if (!done) {
    return done.error();
  }
  if (root == 0) {
    return rpm_malformed("it has no table of packages");
  }
  return root;
}

}  // namespace

Result<void> read_rpm_sqlite(RpmFile& file, const TakeHeader& take) {
  GOLDENV_TRY(Sqlite sqlite, Sqlite::open(file));
  GOLDENV_TRY(const std::uint32_t root, root_of_packages(sqlite));
  return sqlite.walk(root, [&](const FirstBytes& first) -> Result<void> {
    GOLDENV_TRY(const std::vector<Column> found, columns(first(64)));
    // hnum is the row's own number and so NULL in the record.
    const bool is_blob = found.size() == 2 && found[1].type >= 12 && found[1].type % 2 == 0;
    if (!is_blob) {
      return rpm_malformed("a row that holds no header");
    }
    return take([&](std::size_t size) {
      std::string bytes = first(found[1].offset + std::min(size, found[1].size));
      bytes.erase(0, std::min(bytes.size(), found[1].offset));
      return bytes;
    });
  });
}

}  // namespace goldenv::probe
