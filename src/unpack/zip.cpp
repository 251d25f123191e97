#include "unpack/zip.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>

#include "base/text.h"

namespace goldenv::unpack {
namespace {

constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kHeaderBytes = 30;
constexpr std::size_t kCommentBytes = 65'535;
constexpr std::uint32_t kIn64 = 0xffffffff;
constexpr std::size_t kPieceBytes = 256u << 10;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1u | 1u << 6 | 1u << 13;
constexpr std::uint16_t kSizesBehind = 1u << 3;

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}
std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number(bytes, at, 2));
}
std::uint32_t u32(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(number(bytes, at, 4));
}

/// Puts the 64-bit values of the extra field 1 in place of those that did not fit, in their order.
bool widen(std::string_view extra, std::uint64_t* values[], std::size_t count) {
  while (extra.size() >= 4) {
    const std::size_t size = u16(extra, 2);
    if (extra.size() - 4 < size) {
      return false;
    }
    if (u16(extra, 0) == 1) {
      std::string_view body = extra.substr(4, size);
      for (std::size_t i = 0; i < count; ++i) {
        if (*values[i] == kIn64) {
          if (body.size() < 8) {
            return false;
          }
          *values[i] = number(body, 0, 8);
          body.remove_prefix(8);
        }
      }
      return true;
    }
    extra.remove_prefix(4 + size);
  }
  return true;
}

ZipMember::Kind kind_of(std::uint32_t unix_mode, bool is_unix, bool has_slash) {
  if (has_slash) {
    return ZipMember::Kind::folder;
  }
  const std::uint32_t type = unix_mode & S_IFMT;
  if (!is_unix || type == 0 || type == S_IFREG) {
    return ZipMember::Kind::file;
  }
  return type == S_IFLNK   ? ZipMember::Kind::link
         : type == S_IFDIR ? ZipMember::Kind::folder
                           : ZipMember::Kind::other;
}

std::string quoted(std::string_view name) { return "'" + shortened(to_utf8(name)) + "'"; }

}  // namespace

Error Zip::malformed(std::string_view what) const {
  return Error{Errc::malformed, name_ + ": " + std::string(what), {}};
}

Result<std::string> Zip::read(std::uint64_t at, std::uint64_t size) const {
  if (at > size_bytes_ || size > size_bytes_ - at) {
    return malformed("is cut short, or its directory leads behind its end");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return Error{
          Errc::unreadable, name_ + ": " + (got < 0 ? std::strerror(errno) : "became shorter"), {}};
    }
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<Zip> Zip::open(int fd, std::string name, const ZipLimits& limits) {
  Zip zip(fd, std::move(name));
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    return Error{Errc::unreadable, zip.name_ + ": " + std::strerror(errno), {}};
  }
  zip.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  GOLDENV_TRY(const Directory directory, zip.find_directory());
  if (directory.members > limits.members) {
    return Error{Errc::too_large,
                 zip.name_ + ": holds " + std::to_string(directory.members) +
                     " members, more than " + std::to_string(limits.members),
                 {}};
  }
  if (directory.size_bytes > limits.directory_bytes) {
    return Error{Errc::too_large, zip.name_ + ": its directory is too large", {}};
  }
  if (const auto done = zip.read_directory(directory); !done) {
    return done.error();
  }
  std::uint64_t all = 0;
  for (const ZipMember& member : zip.members_) {
    if (member.size_bytes > limits.bytes - std::min(all, limits.bytes)) {
      return Error{Errc::too_large,
                   zip.name_ + ": " + quoted(member.name) + " makes it unpack to more than " +
                       std::to_string(limits.bytes >> 20) + " MiB",
                   {}};
    }
    all += member.size_bytes;
  }
  if (all > limits.free_bytes && all / limits.ratio > zip.size_bytes_) {
    return Error{Errc::too_large,
                 zip.name_ + ": unpacks to " + std::to_string(all) + " bytes, more than " +
                     std::to_string(limits.ratio) + " times its size",
                 {}};
  }
  return zip;
}

Result<Zip::Directory> Zip::find_directory() const {
  if (size_bytes_ < kEndBytes) {
    return malformed("is no zip archive: it is too short");
  }
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size_bytes_, kEndBytes + kCommentBytes);
  GOLDENV_TRY(const std::string tail, read(size_bytes_ - tail_bytes, tail_bytes));
  std::size_t at = tail.size() - kEndBytes;
  while (std::string_view(tail).substr(at, 4) != "PK\5\6" ||
         u16(tail, at + 20) != tail.size() - at - kEndBytes) {
    if (at-- == 0) {
      return malformed("is no zip archive, or cut before its end: there is no end record");
    }
  }
  const std::uint64_t end_at = size_bytes_ - tail.size() + at;
  Directory directory{u32(tail, at + 16), u32(tail, at + 12), u16(tail, at + 10)};
  if (u16(tail, at + 4) != 0 || u16(tail, at + 6) != 0 || u16(tail, at + 8) != u16(tail, at + 10)) {
    return malformed("is one part of several");
  }
  std::uint64_t expected_end = end_at;
  const bool wants_64 =
      directory.at == kIn64 || directory.size_bytes == kIn64 || directory.members == 0xffff;
  if (wants_64 && end_at >= kLocatorBytes + kEnd64Bytes) {
    GOLDENV_TRY(const std::string locator, read(end_at - kLocatorBytes, kLocatorBytes));
    if (locator.starts_with("PK\6\7")) {
      const std::uint64_t end64_at = number(locator, 8, 8);
      if (end64_at > end_at - kLocatorBytes - kEnd64Bytes) {
        return malformed("its end records contradict each other");
      }
      GOLDENV_TRY(const std::string end64, read(end64_at, kEnd64Bytes));
      if (!end64.starts_with("PK\6\6") ||
          number(end64, 4, 8) + 12 != end_at - kLocatorBytes - end64_at) {
        return malformed("its end records contradict each other");
      }
      directory = {number(end64, 48, 8), number(end64, 40, 8), number(end64, 32, 8)};
      expected_end = end64_at;
    }
  }
  if (directory.size_bytes > expected_end || directory.at != expected_end - directory.size_bytes) {
    return malformed("its directory is not where its end record says");
  }
  return directory;
}

Result<void> Zip::read_directory(const Directory& directory) {
  GOLDENV_TRY(const std::string bytes, read(directory.at, directory.size_bytes));
  std::string_view rest = bytes;
  std::vector<std::uint64_t> headers;
  while (!rest.empty()) {
    if (rest.size() < kEntryBytes || !rest.starts_with("PK\1\2")) {
      return malformed("its directory is damaged at member " + std::to_string(members_.size() + 1));
    }
    const std::size_t name_bytes = u16(rest, 28);
    const std::size_t extra_bytes = u16(rest, 30);
    const std::size_t all = kEntryBytes + name_bytes + extra_bytes + u16(rest, 32);
    if (rest.size() < all) {
      return malformed("its directory is damaged at member " + std::to_string(members_.size() + 1));
    }
    ZipMember member;
    member.name = rest.substr(kEntryBytes, name_bytes);
    member.method = u16(rest, 10);
    member.crc = u32(rest, 16);
    member.packed_bytes = u32(rest, 20);
    member.size_bytes = u32(rest, 24);
    std::uint64_t header_at = u32(rest, 42);
    std::uint64_t* values[] = {&member.size_bytes, &member.packed_bytes, &header_at};
    if (!widen(rest.substr(kEntryBytes + name_bytes, extra_bytes), values, 3)) {
      return malformed(quoted(member.name) + " has a damaged extra field");
    }
    if ((u16(rest, 8) & kEncrypted) != 0) {
      return malformed(quoted(member.name) + " is encrypted");
    }
    if (member.method != kStored && member.method != kDeflated) {
      return malformed(quoted(member.name) + " is packed by method " +
                       std::to_string(member.method) + ", which no wheel uses");
    }
    if (member.method == kStored && member.packed_bytes != member.size_bytes) {
      return malformed(quoted(member.name) + " has two sizes");
    }
    // Made on: 3 is Unix, 19 macOS; their modes are in the upper half of the attributes.
    const std::uint32_t made_on = u16(rest, 4) >> 8;
    const bool is_unix = made_on == 3 || made_on == 19;
    const std::uint32_t mode = u32(rest, 38) >> 16;
    const bool has_slash = member.name.ends_with('/');
    member.kind = kind_of(mode, is_unix, has_slash);
    member.mode = is_unix ? mode & 07777u : 0;
    if (has_slash) {
      member.name.pop_back();
    }
    if (member.kind == ZipMember::Kind::folder && member.size_bytes != 0) {
      return malformed(quoted(member.name) + " is a folder with content");
    }
    members_.push_back(std::move(member));
    headers.push_back(header_at);
    rest.remove_prefix(all);
  }
  if (members_.size() != directory.members) {
    return malformed("has " + std::to_string(members_.size()) + " members in its directory, not " +
                     std::to_string(directory.members));
  }
  return check_headers(headers, directory.at);
}

Result<void> Zip::check_headers(const std::vector<std::uint64_t>& at, std::uint64_t end) {
  std::vector<std::size_t> order(members_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return at[a] < at[b]; });
  std::uint64_t free_from = 0;
  for (const std::size_t index : order) {
    ZipMember& member = members_[index];
    if (at[index] < free_from) {
      return malformed(quoted(member.name) + " overlaps another member");
    }
    if (free_from == 0 && at[index] != 0) {
      return malformed("has bytes in front of its first member");
    }
    if (at[index] > end || end - at[index] < kHeaderBytes) {
      return malformed(quoted(member.name) + " lies behind the last member");
    }
    GOLDENV_TRY(const std::string header, read(at[index], kHeaderBytes));
    const std::size_t name_bytes = u16(header, 26);
    const std::size_t extra_bytes = u16(header, 28);
    member.content_at = at[index] + kHeaderBytes + name_bytes + extra_bytes;
    if (!header.starts_with("PK\3\4") || member.content_at > end ||
        member.packed_bytes > end - member.content_at) {
      return malformed(quoted(member.name) + " has no header, or leads behind the last member");
    }
    GOLDENV_TRY(const std::string more, read(at[index] + kHeaderBytes, name_bytes + extra_bytes));
    std::string name = more.substr(0, name_bytes);
    if (name.ends_with('/')) {
      name.pop_back();
    }
    const bool sizes_behind = (u16(header, 6) & kSizesBehind) != 0;
    std::uint64_t size = u32(header, 22);
    std::uint64_t packed = u32(header, 18);
    std::uint64_t* values[] = {&size, &packed};
    const bool widened = widen(std::string_view(more).substr(name_bytes), values, 2);
    if (name != member.name || u16(header, 8) != member.method ||
        (u16(header, 6) & kEncrypted) != 0 || !widened ||
        (!sizes_behind && (size != member.size_bytes || packed != member.packed_bytes ||
                           u32(header, 14) != member.crc))) {
      return malformed(quoted(member.name) + " has a header that contradicts the directory");
    }
    free_from = member.content_at + member.packed_bytes;
  }
  return {};
}

Result<void> Zip::content(const ZipMember& member, const Sink& sink) const {
  thread_local std::vector<unsigned char> in(kPieceBytes);
  thread_local std::vector<unsigned char> out(kPieceBytes);
  z_stream stream{};
  const bool inflates = member.method == kDeflated;
  if (inflates && inflateInit2(&stream, -15) != Z_OK) {
    return Error{Errc::failed, name_ + ": zlib does not start", {}};
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(inflates ? &stream : nullptr,
                                                            inflateEnd);
  const auto damaged = [&] { return malformed(quoted(member.name) + " is damaged"); };
  std::uint64_t at = member.content_at;
  std::uint64_t left = member.packed_bytes;
  std::uint64_t made = 0;
  uLong crc = crc32(0, nullptr, 0);
  bool ended = !inflates;
  const auto hand_on = [&](const unsigned char* bytes, std::size_t size) -> Result<void> {
    if (size > member.size_bytes - made) {
      return malformed(quoted(member.name) + " unpacks to more than the " +
                       std::to_string(member.size_bytes) + " bytes declared");
    }
    made += size;
    crc = crc32(crc, bytes, static_cast<uInt>(size));
    return size == 0 ? Result<void>() : sink({reinterpret_cast<const char*>(bytes), size});
  };
  while (left > 0) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(left, in.size()));
    const ssize_t got = pread(fd_, in.data(), want, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return Error{
          Errc::unreadable, name_ + ": " + (got < 0 ? std::strerror(errno) : "became shorter"), {}};
    }
    at += static_cast<std::uint64_t>(got);
    left -= static_cast<std::uint64_t>(got);
    if (!inflates) {
      if (const auto done = hand_on(in.data(), static_cast<std::size_t>(got)); !done) {
        return done;
      }
      continue;
    }
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(got);
    do {
      if (ended) {
        return damaged();  // something follows the stream
      }
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return damaged();
      }
      ended = status == Z_STREAM_END;
      if (const auto done = hand_on(out.data(), out.size() - stream.avail_out); !done) {
        return done;
      }
    } while (stream.avail_in > 0 || (stream.avail_out == 0 && !ended));
  }
  if (!ended || made != member.size_bytes || crc != member.crc) {
    return damaged();
  }
  return {};
}

}  // namespace goldenv::unpack
