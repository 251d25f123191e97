#include "probe/rpm_database.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

// Tags. Source: rpm's "Package tags" manual.
constexpr std::uint32_t kName = 1000;
constexpr std::uint32_t kVersion = 1001;
constexpr std::uint32_t kRelease = 1002;
constexpr std::uint32_t kEpoch = 1003;
constexpr std::uint32_t kArch = 1022;
constexpr std::uint32_t kTypeInt32 = 4;
constexpr std::uint32_t kTypeString = 6;

constexpr std::size_t kIntroBytes = 8;
constexpr std::size_t kEntryBytes = 16;
constexpr std::size_t kFirstBytes = 4096;
constexpr std::uint32_t kMostEntries = 0xffff;    // as rpm itself allows
constexpr std::uint32_t kMostBytes = 256u << 20;  // likewise
constexpr std::size_t kTextBytes = 256;           // longer ones are none of these tags
constexpr std::size_t kMostPackages = 200'000;

/// The bytes of a header as far as they were needed.
class Header {
 public:
  explicit Header(const FirstBytes& first) : first_(first), bytes_(first(kFirstBytes)) {}

  Result<void> need(std::size_t size) {
    if (bytes_.size() < size) {
      bytes_ = first_(size);
    }
    return bytes_.size() < size ? Result<void>(rpm_malformed("a header is cut short"))
                                : Result<void>();
  }
  [[nodiscard]] std::uint32_t number(std::size_t at) const {
    return number_at(bytes_, at, 4, true);
  }

  /// The text at a place, up to its NUL.
  Result<std::string> text(std::size_t at, std::size_t end) {
    const std::size_t last = std::min(at + kTextBytes, end);
    GOLDENV_TRY(const auto ready, need_value(last));
    static_cast<void>(ready);
    const std::string_view whole = std::string_view(bytes_).substr(at, last - at);
    const std::size_t nul = whole.find('\0');
    const std::string_view text = whole.substr(0, nul);
    const bool is_plain = std::ranges::all_of(
        text, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; });
    if (nul == std::string_view::npos || text.empty() || !is_plain || !is_utf8(text)) {
      return rpm_malformed("a header holds no plain text where a name stands");
    }
    return std::string(text);
  }

  Result<std::uint32_t> int32(std::size_t at) {
    GOLDENV_TRY(const auto ready, need_value(at + 4));
    static_cast<void>(ready);
    return number(at);
  }

 private:
  Result<bool> need_value(std::size_t size) {
    const Result<void> there = need(size);
    return there ? Result<bool>(true) : Result<bool>(there.error());
  }

  const FirstBytes& first_;
  std::string bytes_;
};

struct Entry {
  std::uint32_t tag = 0;
  std::uint32_t type = 0;
  std::uint32_t offset = 0;
};

}  // namespace

Result<std::string> RpmFile::at(std::uint64_t offset, std::size_t size) {
  if (size > left_) {
    return Error{Errc::too_large, "the rpm database is too large to be looked through", {}};
  }
  left_ -= size;
  std::string bytes = read_at_(offset, size);
  if (bytes.size() != size) {
    return rpm_malformed("it is cut short");
  }
  return bytes;
}

Result<RpmPackage> parse_rpm_header(const FirstBytes& first) {
  Header header(first);
  if (Result<void> there = header.need(kIntroBytes); !there) {
    return std::move(there).error();
  }
  const std::uint32_t count = header.number(0);
  const std::uint32_t size = header.number(4);
  if (count == 0 || count > kMostEntries || size > kMostBytes) {
    return rpm_malformed("a header states impossible sizes");
  }
  const std::size_t store = kIntroBytes + count * kEntryBytes;
  if (Result<void> there = header.need(store); !there) {
    return std::move(there).error();
  }
  constexpr std::array<std::uint32_t, 5> kTags = {kName, kVersion, kRelease, kEpoch, kArch};
  std::array<std::optional<Entry>, kTags.size()> found;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t at = kIntroBytes + i * kEntryBytes;
    const Entry entry{header.number(at), header.number(at + 4), header.number(at + 8)};
    const auto tag = std::ranges::find(kTags, entry.tag);
    if (tag == kTags.end()) {
      continue;
    }
    const std::uint32_t type = entry.tag == kEpoch ? kTypeInt32 : kTypeString;
    if (entry.type != type || entry.offset >= size ||
        (type == kTypeInt32 && size - entry.offset < 4)) {
      return rpm_malformed("a header's table leads outside it");
    }
    found[static_cast<std::size_t>(tag - kTags.begin())] = entry;
  }
  std::array<std::string, kTags.size()> texts;
  for (std::size_t i = 0; i < kTags.size(); ++i) {
    if (!found[i]) {
      continue;
    }
    const std::size_t at = store + found[i]->offset;
    if (kTags[i] == kEpoch) {
      GOLDENV_TRY(const std::uint32_t epoch, header.int32(at));
      texts[i] = epoch == 0 ? "" : std::to_string(epoch) + ":";
    } else {
      GOLDENV_TRY(texts[i], header.text(at, store + size));
    }
  }
  auto& [name, version, release, epoch, arch] = texts;
  if (name.empty() || version.empty() || release.empty()) {
    return rpm_malformed("a header without name, version or release");
  }
  return RpmPackage{std::move(name), epoch + version + "-" + release, std::move(arch)};
}

Result<std::vector<RpmPackage>> parse_rpm_database(const ReadAt& read_at) {
  RpmFile file(read_at);
  std::vector<RpmPackage> packages;
  const TakeHeader take = [&](const FirstBytes& first) -> Result<void> {
    GOLDENV_TRY(RpmPackage package, parse_rpm_header(first));
    if (packages.size() >= kMostPackages) {
      return Error{Errc::too_large, "the rpm database holds too many packages", {}};
    }
    if (package.name != "gpg-pubkey") {
      packages.push_back(std::move(package));
    }
    return {};
  };
  const std::string start = read_at(0, 16);
  Result<void> done = rpm_malformed("it has no form that is known");
  if (start == std::string_view("SQLite format 3\0", 16)) {
    done = read_rpm_sqlite(file, take);
  } else if (start.starts_with("RpmP")) {
    done = read_rpm_ndb(file, take);
  } else if (start.size() == 16) {
    constexpr std::uint32_t kHashMagic = 0x061561;
    if (number_at(start, 12, 4, false) == kHashMagic ||
        number_at(start, 12, 4, true) == kHashMagic) {
      done = read_rpm_berkeley(file, take);
    }
  }
  if (!done) {
    return done.error();
  }
  return packages;
}

}  // namespace goldenv::probe
