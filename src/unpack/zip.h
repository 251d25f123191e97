#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::unpack {

/// A member of a zip archive as its directory has it.
struct ZipMember {
  enum class Kind { file, folder, link, other };
  std::string name;  ///< as written, a folder's without its final slash; nothing is checked
  Kind kind = Kind::file;
  std::uint32_t mode = 0;  ///< Unix permission bits; 0 where the archive has none
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t content_at = 0;  ///< where its packed bytes begin
};

struct ZipLimits {
  std::uint64_t members = 100'000;
  std::uint64_t directory_bytes = 32u << 20;
  std::uint64_t free_bytes = std::uint64_t{1} << 30;  ///< unpacked, whatever the ratio
  std::uint64_t ratio = 200;                          ///< of unpacked bytes, beyond those
  std::uint64_t bytes = std::uint64_t{64} << 30;      ///< unpacked
};

/// A zip archive, read by its directory. Read here and not by libarchive, whose reader is for one
/// thread, takes a directory that contradicts the members' own headers, and has members that share
/// bytes, of which bombs are made. Only what wheels and NVIDIA's archives have is understood: bytes
/// as they are and deflate, one disk, no encryption. Source: PKWARE's APPNOTE.TXT 6.3.
class Zip {
 public:
  /// `name` is for errors. Errors: malformed (no zip, cut short, bytes in front, a directory and
  /// headers that disagree, members that overlap), too_large (a limit), unreadable.
  static Result<Zip> open(int fd, std::string name, const ZipLimits& limits = {});

  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }

  /// The content of a member in pieces, exactly as many bytes as declared, its CRC checked. From
  /// several threads at once. Errors: malformed, unreadable, those of the sink.
  using Sink = std::function<Result<void>(std::string_view piece)>;
  [[nodiscard]] Result<void> content(const ZipMember& member, const Sink& sink) const;

 private:
  Zip(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  struct Directory {
    std::uint64_t at = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t members = 0;
  };
  [[nodiscard]] Error malformed(std::string_view what) const;
  [[nodiscard]] Result<std::string> read(std::uint64_t at, std::uint64_t size) const;
  [[nodiscard]] Result<Directory> find_directory() const;
  Result<void> read_directory(const Directory& directory);
  Result<void> check_headers(const std::vector<std::uint64_t>& at, std::uint64_t end);

  int fd_;
  std::string name_;
  std::uint64_t size_bytes_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace goldenv::unpack
