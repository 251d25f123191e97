#include "facts/catalogue_hints.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/text.h"
#include "facts/catalogue_table.h"
#include "facts/sysctl_names.h"

namespace goldenv::facts {
namespace {

constexpr std::size_t kLongestHinted = 128;  // edit distance costs the product of the lengths

/// Families whose members the program knows one and all.
struct ClosedSet {
  std::string_view prefix;
  std::string_view members;  ///< separated by blanks
};
constexpr auto kClosedSets = std::to_array<ClosedSet>({
    {"filesystem.", "root tmp home shm store workdir"},
    {"leftover.", "pymp shm_nccl shm_torch extension_locks gpu_processes"},
    // getrlimit(2)
    {"limits.",
     "as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending "
     "stack"},
    {"nccl.plugin.", "net tuner profiler env"},
});

/// Python packages that are pinned so often that their bare names are worth a hint.
constexpr std::string_view kPackages =
    "accelerate apex datasets deepspeed diffusers flash-attn flash_attn jax jaxlib megatron-core "
    "numpy pandas peft sglang tensorflow tokenizers torchaudio torchvision transformer-engine "
    "transformers triton vllm xformers";

/// How far a word of that length may be from what was meant: a slip in a short one, three in a
/// long.
std::size_t reach(std::size_t length) {
  return length < 4 ? 0 : length < 7 ? 1 : length < 14 ? 2 : 3;
}

/// A pattern's key with its placeholders filled with the parts that stand at their places in
/// `written`; "" where the parts do not pair up.
std::string filled_like(const Family& family, const std::vector<std::string_view>& written) {
  const std::vector<std::string_view> key = split(family.entry->key, '.');
  if (written.size() < key.size() || (written.size() > key.size() && !family.dots)) {
    return {};
  }
  std::string filled;
  for (std::size_t i = 0; i < key.size(); ++i) {
    filled += i == 0 ? "" : ".";
    filled += key[i].starts_with('<') ? written[i] : key[i];
  }
  for (std::size_t i = key.size(); i < written.size(); ++i) {
    filled += '.';
    filled += written[i];
  }
  return filled;
}

/// The weightiest key that goes on behind `written` and a dot, or "".
std::string below(std::string_view written, bool labelled) {
  const Entry* best = nullptr;
  for (const Entry& entry : catalogue()) {
    if (in_family(entry.key, written) && (!labelled || entry.many != Many::one) &&
        (best == nullptr || entry.level < best->level)) {
      best = &entry;
    }
  }
  if (best != nullptr) {
    return std::string(best->key);
  }
  for (const std::string_view attribute : {".loaded", ".state"}) {  // module.nvidia
    const std::string longer = std::string(written) + std::string(attribute);
    if (const Entry* entry = entry_of(longer);
        entry != nullptr && exact_entry(longer) == nullptr && !entry->key.ends_with('>')) {
      return longer;
    }
  }
  return {};
}

/// The shortest key that ends in a dot and `written`, or "".
std::string ending_in(std::string_view written) {
  std::string_view best;
  for (const Entry& entry : catalogue()) {
    const std::string_view key = entry.key;
    if (key.find('<') == std::string_view::npos && key.size() > written.size() + 1 &&
        key.ends_with(written) && key[key.size() - written.size() - 1] == '.' &&
        (best.empty() || key.size() < best.size())) {
      best = key;
    }
  }
  return std::string(best);
}

/// A key whose first word was left out: the name of a sysctl, a variable, a module, a package.
std::string without_family(std::string_view written) {
  if (is_known_sysctl(written)) {
    return "sysctl." + std::string(written);
  }
  const bool variable =
      written.find('_') != std::string_view::npos && std::ranges::all_of(written, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (variable) {
    return "env." + std::string(written);
  }
  const std::vector<std::string_view> packages = words(kPackages);
  if (std::ranges::find(packages, written) != packages.end()) {
    return resolve("python.package." + std::string(written)).value_or(Resolved{}).name;
  }
  return {};
}

/// The shortest key whose last part begins with a word of some length ("nvc": cuda.nvcc), or "".
std::string last_part_begun(std::string_view written) {
  constexpr std::size_t kLeastBytes = 3;
  std::string_view best;
  for (const Entry& entry : catalogue()) {
    const std::string_view key = entry.key;
    if (written.size() >= kLeastBytes && key.find('<') == std::string_view::npos &&
        key.substr(key.rfind('.') + 1).starts_with(written) &&
        (best.empty() || key.size() < best.size())) {
      best = key;
    }
  }
  return std::string(best);
}

/// The key that is told of the family that a word without a dot is near ("envv": env.<NAME>), or
/// "".
std::string below_near(std::string_view written, bool labelled) {
  std::size_t best_distance = reach(written.size()) + 1;
  std::string_view best;
  for (const Entry& entry : catalogue()) {
    const std::string_view first = entry.key.substr(0, entry.key.find('.'));
    if (first.size() == entry.key.size()) {
      continue;
    }
    if (const std::size_t distance = edit_distance(first, written); distance < best_distance) {
      best_distance = distance;
      best = first;
    }
  }
  return best.empty() ? std::string() : below(best, labelled);
}

}  // namespace

std::string near_key(std::string_view written, bool labelled) {
  if (written.size() > kLongestHinted) {
    return {};
  }
  if (std::string key = without_family(written); !key.empty()) {
    return key;
  }
  if (std::string key = below(written, labelled); !key.empty()) {
    return key;
  }
  if (std::string key = ending_in(written); !key.empty()) {
    return key;
  }
  const std::string lower = to_lower(written);
  std::string best;
  std::size_t best_distance = reach(written.size()) + 1;
  const auto consider = [&](std::string_view key, std::string_view compared) {
    const std::size_t longer = std::max(key.size(), compared.size());
    const std::size_t shorter = std::min(key.size(), compared.size());
    if (longer - shorter >= best_distance) {
      return;
    }
    if (const std::size_t distance = edit_distance(key, compared); distance < best_distance) {
      best_distance = distance;
      best = key;
    }
  };
  for (const Entry& entry : catalogue()) {
    for (const std::string_view also : words(entry.also)) {
      if (also.find('<') == std::string_view::npos && edit_distance(also, lower) < best_distance) {
        best_distance = edit_distance(also, lower);
        best = entry.key;
      }
    }
    if (entry.key.find('<') == std::string_view::npos) {
      consider(entry.key, lower);
    }
  }
  const std::vector<std::string_view> parts = split(written, '.');
  for (const Family& family : families()) {
    const std::string filled = filled_like(family, parts);
    if (!filled.empty() && entry_of(filled) != nullptr) {
      consider(filled, written);
    }
  }
  if (best.empty() && written.find('.') == std::string_view::npos) {
    std::string family = below_near(lower, labelled);
    return family.empty() ? last_part_begun(lower) : family;
  }
  return best;
}

std::string expected_key(const Entry* entry, std::string_view written) {
  for (const ClosedSet& set : kClosedSets) {
    if (entry != nullptr && entry->key.starts_with(set.prefix)) {
      std::string known;
      for (const std::string_view member : words(set.members)) {
        known += known.empty() ? "" : ", ";
        known += member;
      }
      return "; expected behind " + std::string(set.prefix) + " one of " + known;
    }
  }
  if (written.ends_with('.')) {
    for (const Entry& family : catalogue()) {
      if (family.key.starts_with(written) && family.key.substr(written.size()).starts_with('<')) {
        return "; expected " + std::string(family.key) + " with a name filled in";
      }
    }
  }
  return "; expected a key that goldenv scan --list shows";
}

std::string instance_hint(std::string_view written) {
  std::vector<std::string_view> parts = split(written, '.');
  std::string name;
  std::string label;
  if (const std::size_t open = written.find('['); open != std::string_view::npos) {
    const std::size_t close = written.find(']', open);
    if (close == std::string_view::npos || close == open + 1) {
      return {};
    }
    label = written.substr(open + 1, close - open - 1);
    name = std::string(written.substr(0, open)) + std::string(written.substr(close + 1));
    const Entry* entry = entry_of(name);
    return entry != nullptr && entry->many != Many::one ? name + "@" + label : std::string{};
  }
  for (std::size_t left_out = 1; left_out + 1 < parts.size() && parts.size() < 8; ++left_out) {
    name.clear();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != left_out) {
        name += name.empty() ? "" : ".";
        name += parts[i];
      }
    }
    const Entry* entry = exact_entry(name);
    if (entry != nullptr && entry->many == Many::all && !parts[left_out].empty()) {
      return name + "@" + std::string(parts[left_out]);
    }
  }
  return {};
}

std::optional<std::string> refused_member(const Entry& entry, std::string_view member) {
  if (member.empty()) {
    return std::nullopt;
  }
  if (entry.key == "sysctl.<name>" || entry.key == "next_boot.sysctl.<name>") {
    std::string near = misspelled_sysctl(member);
    return near.empty() ? std::nullopt : std::optional(std::move(near));
  }
  for (const ClosedSet& set : kClosedSets) {
    if (!entry.key.starts_with(set.prefix)) {
      continue;
    }
    std::string near;
    std::size_t best = reach(member.size()) + 1;
    for (const std::string_view known : words(set.members)) {
      const std::size_t distance = edit_distance(known, member);
      if (distance == 0) {
        return std::nullopt;
      }
      if (distance < best) {
        best = distance;
        near = known;
      }
    }
    return near;
  }
  return std::nullopt;
}

}  // namespace goldenv::facts
