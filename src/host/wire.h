#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// Values as bytes, for the way from a child back to us: numbers as 8 bytes, texts behind their
/// length. Not a format for files: it has this machine's byte order.
class Encoder {
 public:
  void number(std::uint64_t value);
  void text(std::string_view value);
  void texts(const std::vector<std::string>& values);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// The way back. A read past the end gives 0 or "" and ok() is false from then on, so that a
/// reader checks once, at the end; counts never make it reserve more than the bytes can hold.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number();
  std::string text();
  std::vector<std::string> texts();
  [[nodiscard]] bool ok() const { return ok_; }
  /// Whether all was read and nothing is left over.
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

/// A Result as bytes and back. decode's own error, for bytes that are none, is `failed`.
template <typename T>
std::string encode(const Result<T>& result);
template <typename T>
Result<T> decode(std::string_view bytes);

// Defined for these, in wire.cpp.
extern template std::string encode(const Result<std::string>&);
extern template std::string encode(const Result<std::vector<std::string>>&);
extern template std::string encode(const Result<std::vector<DirEntry>>&);
extern template std::string encode(const Result<FileStatus>&);
extern template std::string encode(const Result<Space>&);
extern template Result<std::string> decode(std::string_view);
extern template Result<std::vector<std::string>> decode(std::string_view);
extern template Result<std::vector<DirEntry>> decode(std::string_view);
extern template Result<FileStatus> decode(std::string_view);
extern template Result<Space> decode(std::string_view);

}  // namespace goldenv::host
