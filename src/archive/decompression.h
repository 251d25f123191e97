#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

// zlib, liblzma and libzstd, and not libarchive (which reads tar, tar.h): its raw format takes any
// bytes and its gzip filter checks no sum. The three are linked statically, of each only its
// decoder.
namespace goldenv::archive {

enum class Compression { none, gzip, xz, zstd };

/// By the first six bytes, never by a name: "nvidia.ko.zst" may hold anything.
Compression compression_of(std::string_view head);

/// Takes the next piece of a file's content.
using Sink = std::function<Result<void>(std::string_view piece)>;

/// The whole content of an open file in pieces, in order, decompressed if it is gzip, xz or zstd
/// (several streams behind one another are one content), else as it is. Never more than
/// `limit_bytes` are handed out, nor more than 128 MiB needed for a stream's window. `path` is for
/// errors.
/// Errors: malformed (damaged, cut short, or something else follows), too_large, unreadable, those
/// of the sink.
Result<void> decompress(int fd, std::string_view path, std::uint64_t limit_bytes, const Sink& sink);

}  // namespace goldenv::archive
