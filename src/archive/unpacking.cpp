#include "archive/unpacking.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace goldenv::archive {
namespace {

constexpr std::size_t kPieceBytes = 64u << 10;
// What `zstd --ultra -22` needs at most.
constexpr int kWindowLimitLog = 27;
constexpr std::uint64_t kWindowLimitBytes = std::uint64_t{1} << kWindowLimitLog;  // and `xz -9`

/// What both formats have in common: packed pieces go in until something comes out.
class Unpacker : public Unpacking {
 public:
  Unpacker(Packed packed, std::string name, std::string_view format)
      : packed_(std::move(packed)), name_(std::move(name)), format_(format) {}

  Result<std::string_view> next() final {
    while (true) {
      if (in_.empty() && !more_) {
        GOLDENV_TRY(in_, packed_());
        if (in_.empty()) {
          return ended_ ? Result<std::string_view>(std::string_view())
                        : error(Errc::malformed, "is cut short");
        }
      }
      GOLDENV_TRY(const std::size_t size, step(in_));
      if (size != 0) {
        return std::string_view(out_.data(), size);
      }
    }
  }

 protected:
  /// Takes from `in` and fills out(); how much of it.
  virtual Result<std::size_t> step(std::string_view& in) = 0;

  [[nodiscard]] Error error(Errc code, std::string_view what) const {
    return {code, name_ + ": its " + std::string(format_) + " stream " + std::string(what), {}};
  }
  [[nodiscard]] std::vector<char>& out() { return out_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// Whether a stream has ended, and else whether more would come out without more going in.
  void set_state(bool ended, bool more) {
    ended_ = ended;
    more_ = more;
  }

 private:
  Packed packed_;
  std::string name_;
  std::string_view format_;
  std::vector<char> out_ = std::vector<char>(kPieceBytes);
  std::string_view in_;
  bool ended_ = false;
  bool more_ = false;
};

class Gunzip final : public Unpacker {
 public:
  Gunzip(Packed packed, std::string name) : Unpacker(std::move(packed), std::move(name), "gzip") {
    // 15: the largest window; 16: with gzip's own header and checksum.
    is_ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;
  ~Gunzip() override { inflateEnd(&stream_); }

 private:
  Result<std::size_t> step(std::string_view& in) override {
    if (!is_ready_) {
      return error(Errc::failed, "cannot be read: zlib does not start");
    }
    if (has_ended()) {
      inflateReset(&stream_);
    }
    // zlib does not write to what it reads; its interface of 1995 does not say so.
    stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<unsigned>(in.size());
    stream_.next_out = reinterpret_cast<unsigned char*>(out().data());
    stream_.avail_out = static_cast<unsigned>(out().size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return error(Errc::malformed, "is damaged");
    }
    in.remove_prefix(in.size() - stream_.avail_in);
    const bool ended = status == Z_STREAM_END;
    set_state(ended, !ended && stream_.avail_out == 0);
    return out().size() - stream_.avail_out;
  }

  z_stream stream_{};
  bool is_ready_ = false;
};

class Unzstd final : public Unpacker {
 public:
  Unzstd(Packed packed, std::string name)
      : Unpacker(std::move(packed), std::move(name), "zstd"),
        stream_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    is_ready_ = stream_ != nullptr && !ZSTD_isError(ZSTD_DCtx_setParameter(
                                          stream_.get(), ZSTD_d_windowLogMax, kWindowLimitLog));
  }

 private:
  Result<std::size_t> step(std::string_view& in) override {
    if (!is_ready_) {
      return error(Errc::failed, "cannot be read: libzstd does not start");
    }
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out().data(), out().size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &to, &from);
    if (ZSTD_isError(status)) {
      const bool is_wide = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge;
      return is_wide ? error(Errc::too_large, "needs too large a window")
                     : error(Errc::malformed, "is damaged");
    }
    in.remove_prefix(from.pos);
    const bool ended = status == 0;
    set_state(ended, !ended && to.pos == to.size);
    return to.pos;
  }

  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> stream_;
  bool is_ready_ = false;
};

class Unxz final : public Unpacker {
 public:
  Unxz(Packed packed, std::string name) : Unpacker(std::move(packed), std::move(name), "xz") {
    is_ready_ = start();
  }
  Unxz(const Unxz&) = delete;
  Unxz& operator=(const Unxz&) = delete;
  ~Unxz() override { lzma_end(&stream_); }

 private:
  bool start() { return lzma_stream_decoder(&stream_, kWindowLimitBytes, 0) == LZMA_OK; }

  Result<std::size_t> step(std::string_view& in) override {
    // Between two streams there may be zeros, four at a time; in pieces they are not counted.
    while (has_ended() && !in.empty() && in.front() == '\0') {
      in.remove_prefix(1);
    }
    if (has_ended() && in.empty()) {
      return std::size_t{0};
    }
    if (!is_ready_ || (has_ended() && !start())) {
      return error(Errc::failed, "cannot be read: liblzma does not start");
    }
    stream_.next_in = reinterpret_cast<const unsigned char*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<unsigned char*>(out().data());
    stream_.avail_out = out().size();
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    if (status == LZMA_MEMLIMIT_ERROR || status == LZMA_MEM_ERROR) {
      return error(Errc::too_large, "needs too large a window");
    }
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR) {
      return error(Errc::malformed, "is damaged");
    }
    in.remove_prefix(in.size() - stream_.avail_in);
    const bool ended = status == LZMA_STREAM_END;
    set_state(ended, !ended && stream_.avail_out == 0);
    return out().size() - stream_.avail_out;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_ready_ = false;
};

}  // namespace

std::unique_ptr<Unpacking> unpack(Compression compression, Unpacking::Packed packed,
                                  std::string name) {
  switch (compression) {
    case Compression::gzip:
      return std::make_unique<Gunzip>(std::move(packed), std::move(name));
    case Compression::zstd:
      return std::make_unique<Unzstd>(std::move(packed), std::move(name));
    case Compression::xz:
      return std::make_unique<Unxz>(std::move(packed), std::move(name));
    case Compression::none:
      break;
  }
  return nullptr;
}

}  // namespace goldenv::archive
