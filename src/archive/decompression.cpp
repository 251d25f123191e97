#include "archive/decompression.h"

#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace goldenv::archive {
namespace {

constexpr std::size_t kBlockBytes = 64u << 10;
// What `xz -9` and `zstd --ultra -22` need at most.
constexpr std::uint64_t kWindowLimitBytes = 128u << 20;
constexpr int kWindowLimitLog = 27;

/// The bytes of a file, block by block; where its descriptor stands does not matter.
class Source {
 public:
  Source(int fd, std::string_view path) : fd_(fd), path_(path), block_(kBlockBytes, '\0') {}

  /// Empty at the end. Errors: unreadable.
  Result<std::string_view> next() {
    ssize_t got = 0;
    do {
      got = pread(fd_, block_.data(), block_.size(), static_cast<off_t>(offset_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      return Error{Errc::unreadable, path_ + ": " + std::strerror(errno), {}};
    }
    offset_ += static_cast<std::uint64_t>(got);
    return std::string_view(block_).substr(0, static_cast<std::size_t>(got));
  }

  [[nodiscard]] Error error(Errc code, std::string_view what) const {
    return Error{code, path_ + ": " + std::string(what), {}};
  }
  [[nodiscard]] Error damaged(std::string_view format) const {
    return error(Errc::malformed, "its " + std::string(format) + " stream is damaged");
  }
  [[nodiscard]] Error cut_short(std::string_view format) const {
    return error(Errc::malformed, "its " + std::string(format) + " stream is cut short");
  }

 private:
  int fd_;
  std::string path_;
  std::string block_;
  std::uint64_t offset_ = 0;
};

/// Counts what is handed on.
class Target {
 public:
  Target(const Source& source, std::uint64_t limit_bytes, const Sink& sink)
      : source_(source), left_(limit_bytes), limit_bytes_(limit_bytes), sink_(sink) {}

  Result<void> put(std::string_view piece) {
    if (piece.size() > left_) {
      return source_.error(Errc::too_large,
                           "holds more than " + std::to_string(limit_bytes_) + " bytes");
    }
    left_ -= piece.size();
    return piece.empty() ? Result<void>() : sink_(piece);
  }

 private:
  const Source& source_;
  std::uint64_t left_;
  std::uint64_t limit_bytes_;
  const Sink& sink_;
};

Result<void> copy(Source& source, Target& target) {
  while (true) {
    const Result<std::string_view> block = source.next();
    if (!block) {
      return block.error();
    }
    if (block->empty()) {
      return {};
    }
    if (const Result<void> put = target.put(*block); !put) {
      return put;
    }
  }
}

Result<void> gunzip(Source& source, Target& target) {
  z_stream stream{};
  // 15: the largest window; 16: with gzip's own header and checksum.
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {
    return source.error(Errc::unreadable, "zlib does not start");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  std::vector<unsigned char> out(kBlockBytes);
  bool ended = false;
  bool more = false;  // what came in has not all come out
  while (true) {
    if (stream.avail_in == 0 && !more) {
      const Result<std::string_view> block = source.next();
      if (!block) {
        return block.error();
      }
      if (block->empty()) {
        return ended ? Result<void>() : source.cut_short("gzip");
      }
      // zlib does not write to what it reads; its interface of 1995 does not say so.
      stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(block->data()));
      stream.avail_in = static_cast<unsigned>(block->size());
    }
    if (ended) {
      ended = false;
      inflateReset(&stream);
    }
    stream.next_out = out.data();
    stream.avail_out = static_cast<unsigned>(out.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return source.damaged("gzip");
    }
    ended = status == Z_STREAM_END;
    more = !ended && stream.avail_out == 0;
    const std::string_view piece(reinterpret_cast<const char*>(out.data()),
                                 out.size() - stream.avail_out);
    if (const Result<void> put = target.put(piece); !put) {
      return put;
    }
  }
}

Result<void> unxz(Source& source, Target& target) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kWindowLimitBytes, LZMA_CONCATENATED) != LZMA_OK) {
    return source.error(Errc::unreadable, "liblzma does not start");
  }
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> guard(&stream, lzma_end);
  std::vector<unsigned char> out(kBlockBytes);
  lzma_action action = LZMA_RUN;
  while (true) {
    if (stream.avail_in == 0 && action == LZMA_RUN) {
      const Result<std::string_view> block = source.next();
      if (!block) {
        return block.error();
      }
      stream.next_in = reinterpret_cast<const unsigned char*>(block->data());
      stream.avail_in = block->size();
      action = block->empty() ? LZMA_FINISH : LZMA_RUN;
    }
    stream.next_out = out.data();
    stream.avail_out = out.size();
    const lzma_ret status = lzma_code(&stream, action);
    if (status == LZMA_MEMLIMIT_ERROR || status == LZMA_MEM_ERROR) {
      return source.error(Errc::too_large, "its xz stream needs too large a window");
    }
    if (status == LZMA_BUF_ERROR) {
      return source.cut_short("xz");
    }
    if (status != LZMA_OK && status != LZMA_STREAM_END) {
      return source.damaged("xz");
    }
    const std::string_view piece(reinterpret_cast<const char*>(out.data()),
                                 out.size() - stream.avail_out);
    if (const Result<void> put = target.put(piece); !put) {
      return put;
    }
    if (status == LZMA_STREAM_END) {
      return {};
    }
  }
}

Result<void> unzstd(Source& source, Target& target) {
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> stream(ZSTD_createDCtx(),
                                                                       ZSTD_freeDCtx);
  if (stream == nullptr ||
      ZSTD_isError(ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, kWindowLimitLog))) {
    return source.error(Errc::unreadable, "libzstd does not start");
  }
  std::vector<char> buffer(kBlockBytes);
  ZSTD_inBuffer in{nullptr, 0, 0};
  bool ended = false;
  bool more = false;  // what came in has not all come out
  while (true) {
    if (in.pos == in.size && !more) {
      const Result<std::string_view> block = source.next();
      if (!block) {
        return block.error();
      }
      if (block->empty()) {
        return ended ? Result<void>() : source.cut_short("zstd");
      }
      in = {block->data(), block->size(), 0};
    }
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(status)) {
      return ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge
                 ? source.error(Errc::too_large, "its zstd stream needs too large a window")
                 : source.damaged("zstd");
    }
    ended = status == 0;
    more = !ended && out.pos == out.size;
    if (const Result<void> put = target.put({buffer.data(), out.pos}); !put) {
      return put;
    }
  }
}

}  // namespace

Compression compression_of(std::string_view head) {
  using std::string_view_literals::operator""sv;
  if (head.starts_with("\x1f\x8b"sv)) {
    return Compression::gzip;
  }
  if (head.starts_with("\xfd"
                       "7zXZ\0"sv)) {
    return Compression::xz;
  }
  return head.starts_with("\x28\xb5\x2f\xfd"sv) ? Compression::zstd : Compression::none;
}

Result<void> decompress(int fd, std::string_view path, std::uint64_t limit_bytes,
                        const Sink& sink) {
  Source source(fd, path);
  Target target(source, limit_bytes, sink);
  Compression compression = Compression::none;
  {
    Source head(fd, path);
    const Result<std::string_view> first = head.next();
    if (!first) {
      return first.error();
    }
    compression = compression_of(*first);
  }
  switch (compression) {
    case Compression::gzip:
      return gunzip(source, target);
    case Compression::xz:
      return unxz(source, target);
    case Compression::zstd:
      return unzstd(source, target);
    case Compression::none:
      break;
  }
  return copy(source, target);
}

}  // namespace goldenv::archive
