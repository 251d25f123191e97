#pragma once

#include <memory>
#include <string_view>

#include "base/sha256.h"

namespace goldenv {

/// The digest of bytes that come in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;
  ~Sha256Stream();

  void add(std::string_view piece);
  /// Of all pieces so far; begins anew.
  [[nodiscard]] Sha256 take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace goldenv
