#include <cstring>
#include <optional>

#include "loader/loader.h"

namespace goldenv::loader {
namespace {

// The layout: glibc sysdeps/generic/dl-cache.h.
constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::string_view kNewMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kOldHeaderBytes = 16;  // magic with its NUL, u32 count
constexpr std::size_t kOldEntryBytes = 12;
constexpr std::size_t kNewHeaderBytes = 48;
constexpr std::size_t kNewEntryBytes = 24;
constexpr std::size_t kNameLimitBytes = 4096;  // PATH_MAX
constexpr std::uint32_t kExtensionMagic = 0xeaa42174;
constexpr std::size_t kExtensionHeaderBytes = 8;  // magic, count
constexpr std::size_t kExtensionEntryBytes = 16;  // tag, flags, offset, size
constexpr std::uint32_t kHwcapNames = 1;          // tag
constexpr std::size_t kHwcapNamesLimit = 256;     // there are three on x86-64
// Entries may share a text; a file of many entries that all share a long one is no cache.
constexpr std::size_t kTextLimitBytes = 128u << 20;
// An entry's hwcap is an index into those names. Bits 32 to 41: see Capabilities.
constexpr std::uint64_t kNamed = std::uint64_t{1} << 62;
constexpr std::uint64_t kNamedMask = ~((std::uint64_t{1} << 42) - 1);

Error malformed(std::string what) {
  return Error{Errc::malformed, "ld.so.cache: " + std::move(what), {}};
}

/// The cache is written by the machine that reads it; both whose entries are wanted are
/// little-endian.
template <typename T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>((value << 8) | static_cast<unsigned char>(bytes[offset + i]));
  }
  return value;
}

std::optional<std::string_view> text_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size()) {
    return std::nullopt;
  }
  const std::string_view rest = bytes.substr(offset, kNameLimitBytes + 1);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  return rest.substr(0, end);
}

/// Offset of the new header: 0, or behind the old block, whose end is rounded up to 8 bytes.
Result<std::size_t> new_header(std::string_view bytes) {
  if (bytes.starts_with(kNewMagic)) {
    return std::size_t{0};
  }
  if (!bytes.starts_with(kOldMagic) || bytes.size() < kOldHeaderBytes) {
    return malformed("begins with no known magic");
  }
  const std::size_t count = number_at<std::uint32_t>(bytes, kOldHeaderBytes - 4);
  const std::size_t end = kOldHeaderBytes + count * kOldEntryBytes;
  const std::size_t aligned = (end + 7) & ~std::size_t{7};
  if (aligned > bytes.size()) {
    return malformed("cannot hold the " + std::to_string(count) + " entries of its old block");
  }
  if (!bytes.substr(aligned).starts_with(kNewMagic)) {
    return malformed("has the format from before glibc 2.2 only");
  }
  return aligned;
}

/// The names of glibc-hwcaps folders that entries refer to. Offsets count from the start of the
/// file, not from the new header.
Result<std::vector<std::string>> hwcap_names(std::string_view file, std::size_t offset) {
  std::vector<std::string> names;
  if (offset == 0) {  // glibc before 2.33
    return names;
  }
  const Error outside = malformed("its extensions lie outside it");
  if (offset % 4 != 0 || offset > file.size() || file.size() - offset < kExtensionHeaderBytes) {
    return outside;
  }
  if (number_at<std::uint32_t>(file, offset) != kExtensionMagic) {
    return malformed("its extensions begin with no known magic");
  }
  const std::size_t count = number_at<std::uint32_t>(file, offset + 4);
  if (count > (file.size() - offset - kExtensionHeaderBytes) / kExtensionEntryBytes) {
    return outside;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = offset + kExtensionHeaderBytes + i * kExtensionEntryBytes;
    const std::size_t start = number_at<std::uint32_t>(file, at + 8);
    const std::size_t size = number_at<std::uint32_t>(file, at + 12);
    if (start > file.size() || size > file.size() - start) {
      return outside;
    }
    if (number_at<std::uint32_t>(file, at) != kHwcapNames || start % 4 != 0 || size % 4 != 0) {
      continue;  // as the loader does
    }
    if (size / 4 > kHwcapNamesLimit) {
      return malformed("names more kinds of processors than there are");
    }
    names.clear();
    for (std::size_t name = start; name < start + size; name += 4) {
      const auto text = text_at(file, number_at<std::uint32_t>(file, name));
      if (!text) {
        return malformed("a name of its extensions leads outside the file");
      }
      names.emplace_back(*text);
    }
  }
  return names;
}

}  // namespace

Result<std::vector<CacheEntry>> parse_cache(std::string_view bytes) {
  const std::string_view file = bytes;
  const Result<std::size_t> start = new_header(bytes);
  if (!start) {
    return start.error();
  }
  bytes.remove_prefix(*start);  // offsets count from the new header
  if (bytes.size() < kNewHeaderBytes) {
    return malformed("ends inside its header");
  }
  // Bits 0-1: 0 unset (glibc before 2.32), 2 little-endian, 3 big-endian.
  const unsigned order = static_cast<unsigned char>(bytes[28]) & 3U;
  if (order == 1 || order == 3) {
    return malformed("is not of a little-endian machine");
  }
  const std::size_t count = number_at<std::uint32_t>(bytes, 20);
  if (count > (bytes.size() - kNewHeaderBytes) / kNewEntryBytes) {
    return malformed("cannot hold its " + std::to_string(count) + " entries");
  }
  GOLDENV_TRY(const std::vector<std::string> names,
              hwcap_names(file, number_at<std::uint32_t>(bytes, 32)));
  std::vector<CacheEntry> entries;
  entries.reserve(count);
  std::size_t text_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kNewHeaderBytes + i * kNewEntryBytes;
    const auto soname = text_at(bytes, number_at<std::uint32_t>(bytes, at + 4));
    const auto path = text_at(bytes, number_at<std::uint32_t>(bytes, at + 8));
    if (!soname || !path) {
      return malformed("entry " + std::to_string(i) + " leads outside the file");
    }
    text_bytes += soname->size() + path->size();
    if (text_bytes > kTextLimitBytes) {
      return malformed("its entries hold more text than any cache does");
    }
    entries.push_back({std::string(*soname), std::string(*path),
                       number_at<std::uint32_t>(bytes, at),
                       number_at<std::uint64_t>(bytes, at + 16)});
    CacheEntry& entry = entries.back();
    const std::size_t name = entry.hwcap & 0xffffffff;
    if ((entry.hwcap & kNamedMask) == kNamed && name < names.size()) {
      entry.hwcap_name = names[name];
    }
  }
  return entries;
}

Result<std::vector<CacheEntry>> read_cache(const host::Host& host) {
  constexpr std::size_t kLimitBytes = 64u << 20;
  GOLDENV_TRY(const std::string bytes, host.read_file("/etc/ld.so.cache", kLimitBytes));
  return parse_cache(bytes);
}

}  // namespace goldenv::loader
