#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/decompression.h"
#include "base/result.h"
#include "base/sha256.h"

// Tar archives, by libarchive: ustar, pax and GNU headers, sparse files and what hostile writers
// make of them have been its business for twenty years. Linked statically, of it only tar, so that
// no start pays for it; gzip and zstd are unpacked before it (unpacking.h).
namespace goldenv::archive {

/// A file, or a part of one, that is read as if it were a file of its own.
struct Part {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// One entry of an archive.
struct Member {
  enum class Kind { file, folder, link, hard_link, fifo, device, other };
  Kind kind = Kind::file;
  std::string path;    ///< as written: "./usr/bin/env", "/etc", "../x"
  std::string target;  ///< of a link its text; of a hard link the path of the other member
  std::uint32_t mode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size_bytes = 0;  ///< as declared
  std::int64_t mtime_ns = 0;
  /// Where the content stands in the part, if it stands there as it is: nothing is compressed, and
  /// the member is not sparse.
  std::optional<std::uint64_t> offset;
};

/// What archives may hold together before they are taken for a bomb, and what they held so far.
/// A layer of CUDA libraries unpacks to ten times its size, to twenty GiB.
struct TarBudget {
  std::uint64_t members = 2u << 20;
  std::uint64_t name_bytes = 256u << 20;              ///< of paths and targets
  std::uint64_t bytes = std::uint64_t{512} << 30;     ///< unpacked
  std::uint64_t free_bytes = std::uint64_t{4} << 30;  ///< unpacked, whatever the ratio
  std::uint64_t ratio = 200;                          ///< of unpacked bytes, beyond those
  std::uint64_t members_read = 0;
  std::uint64_t name_bytes_read = 0;
  std::uint64_t packed_bytes_read = 0;
  std::uint64_t bytes_read = 0;
};

/// Of all bytes of an archive, those behind its end too: as they stand, and unpacked.
struct Digests {
  Sha256 part;
  Sha256 unpacked;  ///< the same where nothing is compressed
};

/// Reads an archive from its beginning to its end, once.
class Tar {
 public:
  /// `skipping` passes over contents that nobody asks for without reading them where nothing is
  /// compressed; then there are no digests.
  enum class Reading { whole, skipping };

  /// `name` of the archive, for errors. `budget` is shared with others and outlives them.
  Tar(Part part, std::string name, TarBudget& budget, Reading reading = Reading::whole);
  Tar(const Tar&) = delete;
  Tar& operator=(const Tar&) = delete;
  ~Tar();

  /// The next entry; none at the end. Errors: malformed (no tar, damaged, cut short, compressed in
  /// another way than gzip, xz and zstd), too_large (the budget is spent), unreadable.
  Result<std::optional<Member>> next();
  /// The content of the entry that next() gave last, in pieces in order; holes of a sparse file are
  /// left out, `at` says where a piece belongs. Errors: as next(), and those of the sink.
  using Sink = std::function<Result<void>(std::uint64_t at, std::string_view piece)>;
  Result<void> content(const Sink& sink);
  /// Ends the reading, which was Reading::whole. Errors: as next().
  Result<Digests> digests();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace goldenv::archive
