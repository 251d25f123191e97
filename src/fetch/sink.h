#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256_stream.h"
#include "fetch/failure.h"
#include "fetch/fetcher.h"

namespace goldenv::fetch {

/// Where the bytes of one want go, in order, digested as they come: a file, or memory.
class Sink {
 public:
  /// `want` outlives it.
  explicit Sink(const Want& want) : want_(want) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  /// Removes the file unless it was kept.
  ~Sink();

  /// Begins anew, with nothing.
  std::optional<Failure> restart();
  /// The next bytes. Failures: too_large (than declared, or than the limit), failed (disk).
  std::optional<Failure> write(std::string_view piece);
  /// All is there: whether it is what was wanted. Failures: malformed.
  std::optional<Failure> check();
  /// Leaves the file where it is.
  void keep() { is_kept_ = true; }

  [[nodiscard]] bool is_begun() const { return is_begun_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] const Sha256& sha256() const { return sha256_; }
  [[nodiscard]] std::string take_body() { return std::move(body_); }

 private:
  [[nodiscard]] Failure wrong(Errc code, std::string what) const;

  const Want& want_;
  int fd_ = -1;
  bool is_begun_ = false;
  bool is_kept_ = false;
  std::string body_;
  std::string head_;
  std::uint64_t size_bytes_ = 0;
  Sha256Stream sum_;
  Sha256 sha256_;
};

}  // namespace goldenv::fetch
