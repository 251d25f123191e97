#include "base/sha256.h"

#include <linux/magic.h>
#include <nettle/sha2.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/sha256_stream.h"

namespace goldenv {
namespace {

/// Large enough that the system calls vanish beside the hashing, small enough to stay in the cache.
constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

static_assert(SHA256_DIGEST_SIZE == sizeof(Sha256::bytes));

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Sha256 digest(sha256_ctx& context) {
  Sha256 sum;
  sha256_digest(&context, sum.bytes.size(), sum.bytes.data());
  return sum;
}

/// Whether more of a file than the limit are holes.
bool is_mostly_holes(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  const auto limit = static_cast<off_t>(kHoleLimitBytes);
  // Blocks of 512 bytes; where they cover the file there is no hole. A compressing file system
  // takes fewer, so that they alone say nothing.
  if (status.st_size - std::min<off_t>(status.st_blocks, status.st_size / 512) * 512 <= limit) {
    return false;
  }
  struct statfs system {};
  if (fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
    return true;  // /proc/kcore: all addresses that there could be
  }
  constexpr int kSteps = 100'000;  // that many pieces of data are none to be called a hole
  off_t holes = 0;
  off_t at = 0;
  for (int step = 0; step < kSteps && at < status.st_size; ++step) {
    const off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0) {
      // ENXIO: nothing but a hole follows. Else the file system cannot tell.
      return errno == ENXIO && holes + (status.st_size - at) > limit;
    }
    holes += data - at;
    if (holes > limit) {
      return true;
    }
    at = lseek(fd, data, SEEK_HOLE);
    if (at < 0) {
      return false;
    }
  }
  return false;
}

}  // namespace

Result<Sha256> Sha256::parse(std::string_view hex) {
  Sha256 sum;
  if (hex.size() != 2 * sum.bytes.size()) {
    return Error{Errc::malformed,
                 "a SHA-256 digest has 64 hexadecimal digits, this one " +
                     std::to_string(hex.size()) + " characters",
                 {}};
  }
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const int digit = hex_digit(hex[i]);
    if (digit < 0) {
      return Error{Errc::malformed,
                   "a SHA-256 digest has only hexadecimal digits, which character " +
                       std::to_string(i + 1) + " is not",
                   {}};
    }
    std::uint8_t& byte = sum.bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte * 16 + digit);
  }
  return sum;
}

std::string Sha256::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

Sha256 Sha256::of(std::string_view data) {
  sha256_ctx context;
  sha256_init(&context);
  // A view is bytes to us and unsigned bytes to nettle; both may alias anything.
  sha256_update(&context, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
  return digest(context);
}

Result<Sha256> Sha256::of_file(int fd) {
  const off_t place = lseek(fd, 0, SEEK_CUR);
  const bool mostly_holes = is_mostly_holes(fd);
  if (place >= 0) {
    lseek(fd, place, SEEK_SET);
  }
  if (mostly_holes) {
    return Error{Errc::too_large,
                 "a sparse file: more than " + std::to_string(kHoleLimitBytes >> 30) +
                     " GiB of it were never written",
                 {}};
  }
  sha256_ctx context;
  sha256_init(&context);
  std::vector<std::uint8_t> buffer(kReadBytes);
  off_t offset = 0;
  for (;;) {
    // pread leaves the descriptor's own position alone, so callers may share it.
    const ssize_t count = pread(fd, buffer.data(), buffer.size(), offset);
    if (count < 0) {
      if (errno == EINTR) continue;
      return Error{Errc::failed,
                   "cannot read file to digest: " + std::generic_category().message(errno),
                   {}};
    }
    if (count == 0) return digest(context);
    sha256_update(&context, static_cast<std::size_t>(count), buffer.data());
    offset += count;
  }
}

struct Sha256Stream::State {
  sha256_ctx context;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { sha256_init(&state_->context); }

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::add(std::string_view piece) {
  // A view is bytes to us and unsigned bytes to nettle; both may alias anything.
  sha256_update(&state_->context, piece.size(),
                reinterpret_cast<const std::uint8_t*>(piece.data()));
}

Sha256 Sha256Stream::take() {
  Sha256 sum;
  sha256_digest(&state_->context, sum.bytes.size(), sum.bytes.data());
  return sum;
}

}  // namespace goldenv
