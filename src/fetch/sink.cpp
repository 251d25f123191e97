#include "fetch/sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fetch/place.h"

namespace goldenv::fetch {
namespace {

constexpr std::size_t kHeadBytes = 64;

Failure disk(const std::string& path) {
  return {Errc::failed, "cannot be written to " + path + ": " + std::strerror(errno), false};
}

}  // namespace

Sink::~Sink() {
  if (fd_ >= 0) {
    close(fd_);
    if (!is_kept_) {
      unlink(want_.file.c_str());
    }
  }
}

std::optional<Failure> Sink::restart() {
  body_.clear();
  head_.clear();
  size_bytes_ = 0;
  static_cast<void>(sum_.take());
  is_begun_ = true;
  if (want_.file.empty()) {
    return std::nullopt;
  }
  if (fd_ < 0) {
    fd_ = open(want_.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd_ < 0 ? std::optional(disk(want_.file)) : std::nullopt;
  }
  if (ftruncate(fd_, 0) != 0 || lseek(fd_, 0, SEEK_SET) != 0) {
    return disk(want_.file);
  }
  return std::nullopt;
}

Failure Sink::wrong(Errc code, std::string what) const {
  if (!want_.file.empty() && looks_like_html(head_)) {
    return {Errc::malformed,
            "answers with an HTML page where " + want_.name +
                " was expected: is it the page of a login or of a proxy?",
            false};
  }
  return {code, std::move(what), false};
}

std::optional<Failure> Sink::write(std::string_view piece) {
  if (head_.size() < kHeadBytes) {
    head_ += piece.substr(0, kHeadBytes - head_.size());
  }
  if (want_.size_bytes && piece.size() > *want_.size_bytes - size_bytes_) {
    return wrong(Errc::too_large,
                 "has more than the " + std::to_string(*want_.size_bytes) + " bytes declared");
  }
  if (piece.size() > want_.limit_bytes - size_bytes_) {
    return wrong(Errc::too_large,
                 "has more than " + std::to_string(want_.limit_bytes) + " bytes, the limit");
  }
  size_bytes_ += piece.size();
  sum_.add(piece);
  if (want_.file.empty()) {
    body_ += piece;
    return std::nullopt;
  }
  while (!piece.empty()) {
    const ssize_t done = ::write(fd_, piece.data(), piece.size());
    if (done < 0 && errno != EINTR) {
      return disk(want_.file);
    }
    piece.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
  }
  return std::nullopt;
}

std::optional<Failure> Sink::check() {
  sha256_ = sum_.take();
  if (want_.size_bytes && size_bytes_ != *want_.size_bytes) {
    return wrong(Errc::malformed, "has " + std::to_string(size_bytes_) + " bytes, not the " +
                                      std::to_string(*want_.size_bytes) + " declared");
  }
  if (want_.sha256 && sha256_ != *want_.sha256) {
    return wrong(Errc::malformed, "has other bytes than expected: sha256 " + want_.sha256->hex() +
                                      " was expected, got " + sha256_.hex());
  }
  if (!want_.file.empty() && !want_.sha256 && looks_like_html(head_)) {
    return wrong(Errc::malformed, "");
  }
  return std::nullopt;
}

}  // namespace goldenv::fetch
