#include "wheel/tags.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace goldenv::wheel {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::string_view kAny = "any";
// A machine's own word for its glibc, which no list is made as long as.
constexpr unsigned kMaxMinor = 999;

/// "311" for 3.11.
std::string digits_of(unsigned major, unsigned minor) {
  return std::to_string(major) + std::to_string(minor);
}

bool has_abi3(const Target& target) {
  return !target.free_threaded && (target.major > 3 || (target.major == 3 && target.minor >= 2));
}

/// The ABIs whose extensions the target loads, its own first.
std::vector<std::string> abis_of(const Target& target) {
  std::vector<std::string> abis{abi_tag(target)};
  // From 3.8 on a debug build loads what other builds made, too.
  if (target.debug && (target.major > 3 || target.minor >= 8)) {
    Target usual = target;
    usual.debug = false;
    abis.push_back(abi_tag(usual));
  }
  return abis;
}

/// "py311", "py3", "py310", ... "py30": of the language, newest first.
std::vector<std::string> language_tags(const Target& target) {
  std::vector<std::string> found{"py" + digits_of(target.major, target.minor),
                                 "py" + std::to_string(target.major)};
  for (unsigned minor = target.minor; minor-- > 0;) {
    found.push_back("py" + digits_of(target.major, minor));
  }
  return found;
}

/// The name that a glibc version had before PEP 600; empty where it had none.
std::string_view older_name(unsigned major, unsigned minor) {
  if (major != 2) return "";
  switch (minor) {
    case 5:
      return "manylinux1_";
    case 12:
      return "manylinux2010_";
    case 17:
      return "manylinux2014_";
    default:
      return "";
  }
}

/// The glibc that a platform tag asks for; none where it is no manylinux tag.
std::optional<std::pair<unsigned, unsigned>> glibc_of(std::string_view platform) {
  for (const unsigned minor : {5U, 12U, 17U}) {
    if (platform.starts_with(older_name(2, minor))) return std::pair(2U, minor);
  }
  constexpr std::string_view kStart = "manylinux_";
  if (!platform.starts_with(kStart)) return std::nullopt;
  const std::vector<std::string_view> parts = split(platform.substr(kStart.size()), '_');
  if (parts.size() < 3) return std::nullopt;
  const auto major = to_number(parts[0]);
  const auto minor = to_number(parts[1]);
  if (!major || !minor || *major > 99 || *minor > 9999) return std::nullopt;
  return std::pair(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
}

std::string dotted(std::pair<unsigned, unsigned> glibc) {
  return std::to_string(glibc.first) + "." + std::to_string(glibc.second);
}

}  // namespace

std::string abi_tag(const Target& target) {
  if (target.implementation == Target::Implementation::any) return "";
  std::string abi = "cp" + digits_of(target.major, target.minor);
  if (target.free_threaded) abi += 't';
  if (target.debug) abi += 'd';
  if (target.major == 3 && target.minor < 8) abi += 'm';  // pymalloc, which no build is without
  return abi;
}

std::string render(const Tag& tag) { return tag.python + "-" + tag.abi + "-" + tag.platform; }

std::vector<std::string> supported_platforms(const Target& target) {
  std::vector<std::string> found;
  if (target.machine.empty()) return found;
  const bool old = target.machine == "x86_64" || target.machine == "i686";
  const unsigned oldest = old ? 5 : 17;
  // No glibc 3 is in sight; its tags would go down to 3.0 and on with the last 2.x.
  if (target.glibc_major == 2) {
    for (unsigned minor = std::min(target.glibc_minor, kMaxMinor); minor >= oldest; --minor) {
      found.push_back("manylinux_2_" + std::to_string(minor) + "_" + target.machine);
      if (const std::string_view name = older_name(2, minor); !name.empty()) {
        found.push_back(std::string(name) + target.machine);
      }
    }
  }
  found.push_back("linux_" + target.machine);
  return found;
}

std::vector<Tag> supported_tags(const Target& target) {
  const std::vector<std::string> platforms = supported_platforms(target);
  std::vector<Tag> tags;
  const auto add = [&](const std::string& python, std::string_view abi) {
    for (const std::string& platform : platforms) {
      tags.push_back({python, std::string(abi), platform});
    }
  };
  const bool cpython = target.implementation == Target::Implementation::cpython;
  const std::string interpreter = "cp" + digits_of(target.major, target.minor);
  if (cpython) {
    for (const std::string& abi : abis_of(target)) add(interpreter, abi);
    if (has_abi3(target)) add(interpreter, "abi3");
    add(interpreter, kNone);
    for (unsigned minor = target.minor; has_abi3(target) && minor-- > 2;) {
      add("cp" + digits_of(target.major, minor), "abi3");
    }
  }
  const std::vector<std::string> languages = language_tags(target);
  for (const std::string& language : languages) add(language, kNone);
  if (cpython) tags.push_back({interpreter, std::string(kNone), std::string(kAny)});
  for (const std::string& language : languages) {
    tags.push_back({language, std::string(kNone), std::string(kAny)});
  }
  return tags;
}

TagRanks::TagRanks(const std::vector<Tag>& best_first) {
  ranks_.reserve(best_first.size());
  for (std::size_t i = 0; i < best_first.size(); ++i) ranks_.emplace(render(best_first[i]), i);
}

std::optional<std::size_t> TagRanks::rank(const WheelName& wheel) const {
  std::optional<std::size_t> found;
  for (const std::string& python : wheel.pythons) {
    for (const std::string& abi : wheel.abis) {
      for (const std::string& platform : wheel.platforms) {
        const auto at = ranks_.find(render({python, abi, platform}));
        if (at != ranks_.end() && (!found || at->second < *found)) found = at->second;
      }
    }
  }
  return found;
}

std::optional<std::size_t> best(const std::vector<WheelName>& files, const TagRanks& ranks) {
  std::optional<std::size_t> found;
  std::size_t found_rank = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::optional<std::size_t> rank = ranks.rank(files[i]);
    if (!rank) continue;
    const bool better = !found || *rank < found_rank ||
                        (*rank == found_rank && order(files[i].build, files[*found].build) > 0);
    if (!better) continue;
    found = i;
    found_rank = *rank;
  }
  return found;
}

std::string misfit(const WheelName& wheel, const Target& target) {
  const std::vector<std::string> supported = supported_platforms(target);
  const bool placed = std::ranges::any_of(wheel.platforms, [&](const std::string& platform) {
    return platform == kAny || std::ranges::find(supported, platform) != supported.end();
  });
  if (placed) {
    const std::string abi = abi_tag(target);
    return "for " + join(wheel.pythons, ".") + "-" + join(wheel.abis, ".") + ", this Python is " +
           (abi.empty() ? "py" + digits_of(target.major, target.minor) : abi);
  }
  std::optional<std::pair<unsigned, unsigned>> least;
  for (const std::string& platform : wheel.platforms) {
    const auto glibc = glibc_of(platform);
    if (glibc && platform.ends_with("_" + target.machine) && (!least || *glibc < *least)) {
      least = glibc;
    }
  }
  if (least) {
    return "needs glibc " + dotted(*least) + ", this machine has " +
           (target.glibc_major == 0 ? "none that is known"
                                    : dotted({target.glibc_major, target.glibc_minor}));
  }
  return "for " + join(wheel.platforms, ".");
}

}  // namespace goldenv::wheel
