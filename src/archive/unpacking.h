#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "archive/decompression.h"
#include "base/result.h"

namespace goldenv::archive {

/// Unpacks gzip, xz or zstd piece by piece, for a reader that asks for the next piece. Several
/// streams behind one another are one content. Not by libarchive's own filters: these check no sum
/// of gzip, pass over what follows a stream, and do not show what they unpack, of which a digest is
/// wanted.
class Unpacking {
 public:
  /// The next packed bytes, empty at their end; valid until the next call.
  using Packed = std::function<Result<std::string_view>()>;

  virtual ~Unpacking() = default;
  /// The next unpacked bytes, at most 64 KiB; empty at their end. Valid until the next call.
  /// Errors: malformed (damaged, cut short, or something else follows), too_large (a window of more
  /// than 128 MiB), those of `packed`.
  virtual Result<std::string_view> next() = 0;
};

/// `name` is for errors. None for what is not compressed.
std::unique_ptr<Unpacking> unpack(Compression compression, Unpacking::Packed packed,
                                  std::string name);

}  // namespace goldenv::archive
