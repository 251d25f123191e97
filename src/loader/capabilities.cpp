#include "loader/capabilities.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "loader/loader.h"

namespace goldenv::loader {
namespace {

constexpr Release kNamedFolders{2, 33};    // glibc-hwcaps begins
constexpr Release kNoOldFolders{2, 37};    // tls/ and the like end
constexpr Release kNoOldEntries{2, 40};    // their entries in the cache end
constexpr Release kX86Platforms{2, 26};    // haswell, xeon_phi and avx512_1 begin
constexpr Release kX86Settled{2, 27};      // 2.26 as released had no x86_64, its updates do
constexpr Release kArmAtomics{2, 28};      // in place of cpuid
constexpr Release kBmiWithinThree{2, 37};  // x86-64-v3 asks for bmi1 and bmi2; updates before do

constexpr std::uint64_t kTls = std::uint64_t{1} << 63;
constexpr std::uint64_t kPlatforms = std::uint64_t{15} << 48;  // i586, i686, haswell, xeon_phi
constexpr std::uint64_t kHaswell = std::uint64_t{1} << 50;
constexpr std::uint64_t kXeonPhi = std::uint64_t{1} << 51;
// An index into the cache's names (low half), with the x86-64 level of the file in bits 32 to 41.
constexpr std::uint64_t kNamed = std::uint64_t{1} << 62;
constexpr std::uint64_t kNamedMask = ~((std::uint64_t{1} << 42) - 1);

struct Bit {
  std::uint64_t bit;
  std::string_view name;
};

/// Features with a folder and a bit of their own, in the order of their bits.
std::vector<Bit> old_features(const Abi& abi, Release release) {
  if (abi.elf == kX86.elf) {
    return release < kX86Platforms ? std::vector<Bit>{}
                                   : std::vector<Bit>{{1U << 1, "x86_64"}, {1U << 2, "avx512_1"}};
  }
  if (release < kX86Platforms) {
    return {};
  }
  return release < kArmAtomics ? std::vector<Bit>{{1U << 11, "cpuid"}}
                               : std::vector<Bit>{{1U << 8, "atomics"}};
}

std::string text_of(Release release) {
  return "glibc " + std::to_string(release.major) + "." + std::to_string(release.minor);
}

/// All folders that the loader builds of these names: "tls/haswell/x86_64" before "tls/haswell"
/// before ... before "x86_64".
std::vector<std::string> combinations(std::vector<std::string_view> names) {
  names.emplace_back("tls");
  std::vector<std::string> paths;
  for (unsigned bits = (1U << names.size()) - 1; bits != 0; --bits) {
    std::string path;
    for (std::size_t i = names.size(); i-- > 0;) {
      if ((bits >> i & 1U) != 0) {
        path += (path.empty() ? "" : "/") + std::string(names[i]);
      }
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

std::optional<Release> parse_release(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const std::vector<std::string_view> parts = split(text.substr(0, end), '.');
  if (parts.size() < 2) {
    return std::nullopt;
  }
  const auto major = to_number(parts[0]);
  const auto minor = to_number(parts[1]);
  if (!major || !minor || *major > 99 || *minor > 999) {
    return std::nullopt;
  }
  return Release{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

bool Processor::has(std::string_view feature) const {
  return std::ranges::binary_search(features, feature);
}

Result<Processor> parse_processor(std::string_view text) {
  Processor processor;
  for (const std::string_view line : lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view name = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "vendor_id" && processor.vendor.empty()) {
      processor.vendor = value;
    } else if (name == "flags" || name == "Features") {
      for (const std::string_view word : words(value)) {
        processor.features.emplace_back(word);
      }
      std::ranges::sort(processor.features);
      return processor;
    }
  }
  return Error{Errc::unreadable, "/proc/cpuinfo: does not state the processor's features", {}};
}

Capabilities::Capabilities(const Abi& abi, const Result<Release>& release,
                           const Result<Processor>& processor, std::string settings)
    : abi_(abi), settings_(std::move(settings)) {
  if (release) {
    release_ = *release;
  } else {
    why_no_release_ = release.error().message;
  }
  if (processor) {
    processor_ = *processor;
  } else {
    why_no_processor_ = processor.error().message;
  }
  find_levels();
  find_old_platform();
  add_named_subfolders();
  add_old_subfolders();
}

Truth Capabilities::since(Release first) const {
  return release_ ? truth(*release_ >= first) : Truth::unknown;
}

Verdict Capabilities::unknown_release(std::string_view what) const {
  return {Truth::unknown,
          std::string(what) + ", and which glibc this is is not known (" + why_no_release_ + ")"};
}

Truth Capabilities::has(std::string_view feature) const {
  return processor_ ? truth(processor_->has(feature)) : Truth::unknown;
}

Truth Capabilities::is_intel() const {
  return processor_ ? truth(processor_->vendor == "GenuineIntel") : Truth::unknown;
}

void Capabilities::find_levels() {
  if (abi_.elf != kX86.elf) {
    return;
  }
  // Flags as the kernel names them: pni is SSE3, abm is LZCNT.
  const std::pair<std::string_view, std::vector<std::string_view>> needs[] = {
      {"x86-64-v2", {"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"}},
      {"x86-64-v3", {"avx", "avx2", "f16c", "fma", "abm", "movbe", "bmi1", "bmi2"}},
      {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
  };
  Verdict before{Truth::yes, ""};
  for (const auto& [name, features] : needs) {
    Verdict verdict = before;
    if (verdict.used == Truth::yes) {
      verdict.because = "the processor has " + std::string(name);
      if (!processor_) {
        verdict = {Truth::unknown,
                   "the processor's features are not known (" + why_no_processor_ + ")"};
      }
    }
    for (const std::string_view feature : features) {
      if (verdict.used == Truth::no || has(feature) != Truth::no) {
        continue;
      }
      const bool bmi = feature.starts_with("bmi");
      if (bmi && since(kBmiWithinThree) != Truth::yes) {
        if (verdict.used == Truth::unknown) {
          continue;
        }
        verdict = {Truth::unknown, "the processor lacks " + std::string(feature) +
                                       ", which not every such glibc asks for"};
      } else {
        verdict = {Truth::no, "the processor lacks " + std::string(feature)};
      }
    }
    before = verdict;
    levels_.insert(levels_.begin(), {name, std::move(verdict)});
  }
  // A mask changes nothing but the folders of old.
  if (settings_.find(".hwcaps=") != std::string::npos) {
    for (Level& level : levels_) {
      if (level.verdict.used == Truth::yes) {
        level.verdict = {Truth::unknown, settings_ + " may hide features of the processor"};
      }
    }
  }
}

void Capabilities::find_old_platform() {
  if (abi_.elf != kX86.elf) {
    old_known_ = release_ && processor_;
    old_platform_ = abi_.platform;
    if (old_known_) {
      for (const Bit& feature : old_features(abi_, *release_)) {
        if (processor_->has(feature.name)) {
          old_features_.push_back(feature.name);
        }
      }
    }
  } else if (release_ && *release_ < kX86Platforms) {
    old_known_ = true;
    old_platform_ = abi_.platform;
  } else if (release_ && *release_ >= kX86Settled && processor_) {
    old_known_ = true;
    old_platform_ = abi_.platform;
    old_features_.emplace_back("x86_64");
    const auto all = [&](std::initializer_list<std::string_view> features) {
      return std::ranges::all_of(features, [&](std::string_view f) { return processor_->has(f); });
    };
    if (is_intel() == Truth::yes) {
      if (all({"avx512cd", "avx512er", "avx512pf"})) {
        old_platform_ = "xeon_phi";
      } else if (all({"avx2", "fma", "bmi1", "bmi2", "abm", "movbe", "popcnt"})) {
        old_platform_ = "haswell";
      }
      if (!processor_->has("avx512er") && all({"avx512cd", "avx512bw", "avx512dq", "avx512vl"})) {
        old_features_.emplace_back("avx512_1");
      }
    }
  }
  if (!settings_.empty()) {
    old_known_ = false;
  }
}

void Capabilities::add_named_subfolders() {
  for (const Level& level : levels_) {
    Subfolder folder{"glibc-hwcaps/" + std::string(level.name), level.verdict};
    if (level.verdict.used != Truth::no) {
      const Truth named = since(kNamedFolders);
      if (named == Truth::no) {
        folder.verdict = {Truth::no, text_of(*release_) + " does not look there"};
      } else if (named == Truth::unknown) {
        folder.verdict = unknown_release("glibc looks there from 2.33 on");
      }
    }
    subfolders_.push_back(std::move(folder));
  }
}

void Capabilities::add_old_subfolders() {
  std::vector<std::string> singles{"tls", std::string(abi_.platform)};
  if (abi_.elf == kX86.elf) {
    singles.insert(singles.end(), {"haswell", "xeon_phi", "avx512_1"});
  } else {
    singles.insert(singles.end(), {"atomics", "cpuid"});
  }
  const auto known_already = [&](const std::string& path) {
    return std::ranges::any_of(subfolders_, [&](const Subfolder& f) { return f.path == path; });
  };
  std::string why_not = "the processor is not taken for such a one";
  const Truth gone = since(kNoOldFolders);
  if (gone == Truth::yes) {
    why_not = text_of(*release_) + " does not look there";
  } else if (gone == Truth::no && old_known_) {
    std::vector<std::string_view> names = old_features_;
    if (old_platform_) {
      names.push_back(*old_platform_);
    }
    for (std::string& path : combinations(names)) {
      if (!known_already(path)) {
        subfolders_.push_back({std::move(path), {Truth::yes, text_of(*release_) + " looks there"}});
      }
    }
  } else {
    Verdict open;
    if (!release_) {
      open = unknown_release("glibc looks there up to 2.36");
    } else if (!settings_.empty()) {
      open = {Truth::unknown, settings_ + " may change where glibc looks"};
    } else if (!processor_) {
      open = {Truth::unknown, "the processor's features are not known (" + why_no_processor_ + ")"};
    } else {
      open = {Truth::unknown, "not every build of " + text_of(*release_) + " looks there"};
    }
    std::vector<std::string_view> features{"atomics"};
    std::vector<std::string_view> platforms{abi_.platform};
    if (abi_.elf == kX86.elf) {
      features = {"x86_64", "avx512_1"};
      platforms = {"x86_64", "haswell", "xeon_phi"};
    } else if (!release_ || *release_ < kArmAtomics) {
      features.emplace_back("cpuid");
    }
    for (const std::string_view platform : platforms) {
      std::vector<std::string_view> names = features;
      names.push_back(platform);
      for (std::string& path : combinations(names)) {
        if (!known_already(path)) {
          subfolders_.push_back({std::move(path), open});
        }
      }
    }
  }
  for (const std::string& single : singles) {
    if (!known_already(single)) {
      subfolders_.push_back({single, {Truth::no, why_not}});
    }
  }
}

std::size_t Capabilities::rank(const CacheEntry& entry) const {
  if ((entry.hwcap & kNamedMask) != kNamed) {
    return levels_.size();
  }
  const auto level = std::ranges::find(levels_, entry.hwcap_name, &Level::name);
  return static_cast<std::size_t>(level - levels_.begin());
}

Verdict Capabilities::judge(const CacheEntry& entry) const {
  if ((entry.hwcap & kNamedMask) == kNamed) {
    const Truth named = since(kNamedFolders);
    if (named == Truth::no) {
      return {Truth::no, text_of(*release_) + " does not know such entries"};
    }
    const std::size_t place = rank(entry);
    if (place == levels_.size()) {
      return {Truth::no, "it is for \"" + entry.hwcap_name + "\", which this loader does not know"};
    }
    // What the file itself was built for, which need not be what its folder says: 0 is the
    // baseline, 3 x86-64-v4.
    const std::uint64_t built_for = entry.hwcap >> 32 & 0x3ff;
    Verdict verdict = levels_[place].verdict;
    if (built_for > levels_.size()) {
      verdict = {Truth::no, "it was built for processors that this loader does not know"};
    } else if (built_for > 0 && verdict.used != Truth::no) {
      const Verdict& own = levels_[levels_.size() - built_for].verdict;
      if (own.used != Truth::yes) {
        verdict = own;
      }
    }
    if (named == Truth::unknown && verdict.used != Truth::no) {
      verdict = unknown_release("glibc takes such entries from 2.33 on");
    }
    return verdict;
  }
  if (since(kNoOldEntries) == Truth::yes) {
    return {Truth::no, text_of(*release_) + " does not take entries with feature bits"};
  }
  // What could be taken at all, and what is.
  std::uint64_t possible = kTls;
  std::uint64_t certain = kTls;
  if (abi_.elf == kX86.elf) {
    possible |= kPlatforms | 1U << 1 | 1U << 2;
  } else {
    possible |= 1U << 8 | 1U << 11;
  }
  if (old_known_) {
    for (const Bit& feature : old_features(abi_, *release_)) {
      if (std::ranges::find(old_features_, feature.name) != old_features_.end()) {
        certain |= feature.bit;
      }
    }
    if (abi_.elf == kX86.elf && *release_ >= kX86Platforms) {
      certain |= old_platform_ == "haswell" ? kHaswell : old_platform_ == "xeon_phi" ? kXeonPhi : 0;
    }
    return (entry.hwcap & ~certain) == 0
               ? Verdict{Truth::yes, "the processor is taken for such a one"}
               : Verdict{Truth::no, "the processor is not taken for such a one"};
  }
  if ((entry.hwcap & ~possible) != 0) {
    return {Truth::no, "no loader of this machine takes it"};
  }
  if ((entry.hwcap & ~certain) == 0 && release_ && settings_.empty()) {
    return {Truth::yes, "every processor is taken for such a one"};
  }
  if (!release_) {
    return unknown_release("glibc takes entries with feature bits up to 2.39");
  }
  return {Truth::unknown,
          !settings_.empty() ? settings_ + " may change what the processor is taken for"
          : !processor_      ? "the processor's features are not known (" + why_no_processor_ + ")"
                             : "builds of " + text_of(*release_) + " differ"};
}

Result<std::string> Capabilities::platform() const {
  // $PLATFORM outlived the folders.
  if (abi_.elf != kX86.elf) {
    return std::string(abi_.platform);
  }
  if (old_known_ && old_platform_) {
    return std::string(*old_platform_);
  }
  if (is_intel() == Truth::no && since(kX86Settled) == Truth::yes) {
    return std::string(abi_.platform);
  }
  const std::string why = !release_            ? why_no_release_
                          : !processor_        ? why_no_processor_
                          : !settings_.empty() ? settings_
                                               : "builds of " + text_of(*release_) + " differ";
  return Error{Errc::unreadable, "what $PLATFORM stands for is not known: " + why, {}};
}

}  // namespace goldenv::loader
