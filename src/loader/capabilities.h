#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"
#include "loader/abi.h"

namespace goldenv::loader {

struct CacheEntry;

/// glibc's release, "2.36".
struct Release {
  unsigned major = 0;
  unsigned minor = 0;
  friend auto operator<=>(const Release&, const Release&) = default;
};

/// "2.36" of a text that begins so; none where it does not.
std::optional<Release> parse_release(std::string_view text);

/// What /proc/cpuinfo says of the first processor.
struct Processor {
  std::string vendor;                 ///< "GenuineIntel"; "" on Arm
  std::vector<std::string> features;  ///< "avx2", sorted

  [[nodiscard]] bool has(std::string_view feature) const;
};

/// Format: proc(5), /proc/cpuinfo; the words of the first "flags" (x86) or "Features" (Arm) line.
/// Errors: unreadable where there is no such line.
Result<Processor> parse_processor(std::string_view text);

/// Whether the loader takes a copy that is for certain processors, and why.
struct Verdict {
  Truth used = Truth::no;
  std::string because;  ///< "the processor lacks avx512f"
};

/// A folder that the loader tries below each of its search folders before that one itself.
struct Subfolder {
  std::string path;  ///< "glibc-hwcaps/x86-64-v3", "tls/haswell"
  Verdict verdict;
};

/// What glibc makes of its processor. Sources, by release: glibc elf/dl-hwcaps.c, elf/dl-cache.c,
/// sysdeps/x86/{cpu-features.c,get-isa-level.h,dl-hwcap.h}, sysdeps/x86_64/dl-hwcaps-subdirs.c,
/// sysdeps/unix/sysv/linux/aarch64/dl-procinfo.h, at 2.17 to 2.42. In short: glibc-hwcaps folders
/// and named entries of the cache from 2.33 on; tls/, the platform's and some features' folders
/// nested in any combination up to 2.36; entries of the cache with feature bits up to 2.39.
class Capabilities {
 public:
  /// `settings`: what of the process's environment changes what the loader takes its processor
  /// for, "" where nothing does.
  Capabilities(const Abi& abi, const Result<Release>& release, const Result<Processor>& processor,
               std::string settings);

  /// In the order in which they are tried. Those that are never used stand there as well, so that
  /// it can be said what was passed over.
  [[nodiscard]] const std::vector<Subfolder>& subfolders() const { return subfolders_; }

  /// Of an entry of the cache with a hwcap that is not 0.
  [[nodiscard]] Verdict judge(const CacheEntry& entry) const;
  /// Named entries come before others, and the lower rank of them wins.
  [[nodiscard]] std::size_t rank(const CacheEntry& entry) const;

  /// What $PLATFORM stands for. Errors: unreadable where that hangs on what is not known.
  [[nodiscard]] Result<std::string> platform() const;

 private:
  struct Level {
    std::string_view name;
    Verdict verdict;
  };
  [[nodiscard]] Truth since(Release first) const;  ///< whether the release is that or a later one
  [[nodiscard]] Verdict unknown_release(std::string_view what) const;
  [[nodiscard]] Truth has(std::string_view feature) const;
  [[nodiscard]] Truth is_intel() const;
  void find_levels();
  void find_old_platform();
  void add_named_subfolders();
  void add_old_subfolders();

  const Abi& abi_;
  std::optional<Release> release_;
  std::optional<Processor> processor_;
  std::string why_no_release_;
  std::string why_no_processor_;
  std::string settings_;
  std::vector<Level> levels_;  ///< best first
  // Of the folders of old: what is certain, where all of it is.
  bool old_known_ = false;
  std::vector<std::string_view> old_features_;
  std::optional<std::string_view> old_platform_;
  std::vector<Subfolder> subfolders_;
};

}  // namespace goldenv::loader
