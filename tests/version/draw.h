#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace goldenv::version {

/// Drawn texts for the tests against other programs: the same on every machine, which
/// std::uniform_int_distribution does not promise.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  /// From 0 to below `count`.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  template <typename List>
  auto of(const List& list) {
    return list[below(std::size(list))];
  }

  /// `text` with one character taken out, doubled or replaced by one of `alphabet`.
  std::string nudged(std::string text, std::string_view alphabet) {
    if (text.empty()) return text;
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, text[at]);
        break;
      case 2:
        text.insert(at, 1, of(alphabet));
        break;
      default:
        text[at] = of(alphabet);
    }
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace goldenv::version
