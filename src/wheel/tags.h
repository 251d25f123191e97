#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "wheel/name.h"

namespace goldenv::wheel {

/// What a wheel must fit. Only CPython on glibc, or a Python of which nothing but the language is
/// known: elsewhere no GPU stack is published.
struct Target {
  enum class Implementation { cpython, any };
  Implementation implementation = Implementation::cpython;
  unsigned major = 3;  ///< of the language: 3.11
  unsigned minor = 0;
  bool free_threaded = false;  ///< 3.13t; has no abi3
  bool debug = false;          ///< built with Py_DEBUG; also loads what is built without
  std::string machine;         ///< as uname gives it: "x86_64", "aarch64"
  unsigned glibc_major = 0;    ///< 0.0: unknown or another libc, so no manylinux file fits
  unsigned glibc_minor = 0;

  friend bool operator==(const Target&, const Target&) = default;
};

/// "cp311", "cp313t", "cp37m": the ABI of the target; empty where the implementation is any.
std::string abi_tag(const Target& target);

struct Tag {
  std::string python;
  std::string abi;
  std::string platform;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};
/// "cp311-cp311-manylinux_2_17_x86_64".
std::string render(const Tag& tag);

/// Platforms from the newest glibc downwards, with the older names beside the versions they stand
/// for (manylinux2014 behind manylinux_2_17), last linux_<machine>. manylinux goes down to 2.5 on
/// x86_64 and i686 and to 2.17 elsewhere (PEP 513, 571, 599, 600).
std::vector<std::string> supported_platforms(const Target& target);

/// What fits, best first, without repetitions, as packaging.tags.sys_tags of the target would give
/// it (packaging 24.2, whose free-threaded Pythons have no abi3).
std::vector<Tag> supported_tags(const Target& target);

/// The place of each tag in such a list.
class TagRanks {
 public:
  explicit TagRanks(const std::vector<Tag>& best_first);

  /// The best place of all tags of a file, 0 first; none where none fits.
  [[nodiscard]] std::optional<std::size_t> rank(const WheelName& wheel) const;

 private:
  std::unordered_map<std::string, std::size_t> ranks_;
};

/// Which of several files of one version a target takes: of the best tag, then of the highest
/// build. None where none fits. Of two that tie, the first (pip does so, too).
std::optional<std::size_t> best(const std::vector<WheelName>& files, const TagRanks& ranks);

/// Why no tag of the file fits, in words: "for cp310, this Python is cp311", "for aarch64",
/// "needs glibc 2.35, this machine has 2.31", "for win_amd64".
std::string misfit(const WheelName& wheel, const Target& target);

}  // namespace goldenv::wheel
