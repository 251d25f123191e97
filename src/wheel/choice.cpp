#include "wheel/choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/version.h"
#include "wheel/specifier.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kNearestEachSide = 2;
constexpr std::size_t kShownReasons = 4;
constexpr std::size_t kShownVersions = 8;

/// A wheel of the version that is asked for.
struct Candidate {
  const PageFile* file = nullptr;
  WheelName wheel;
};
using Candidates = std::vector<Candidate>;

version::Version as_version(std::string_view text) {
  return {version::Scheme::pep440, std::string(text)};
}

std::string public_part(std::string_view version) {
  return std::string(version.substr(0, version.find('+')));
}

bool has_label(std::string_view version) { return version.find('+') != std::string_view::npos; }

/// "numpy 1.26.4".
std::string title(const Wanted& wanted, std::string_view version) {
  return normalised_name(wanted.name) + " " + std::string(version);
}

Error refusal(Errc code, std::string message) { return Error{code, std::move(message), {}}; }

/// "1 wheel", "3 wheels".
std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

/// What a page has of one version.
struct Offer {
  Candidates wheels;
  std::vector<std::string> sources;

  [[nodiscard]] bool empty() const { return wheels.empty() && sources.empty(); }
};

Offer offer_of(const std::vector<PageFile>& files, std::string_view name,
               std::string_view version) {
  Offer offer;
  const auto clause = parse_specifiers("==" + std::string(version));
  if (!clause) return offer;
  for (const PageFile& file : files) {
    if (file.file.ends_with(".whl")) {
      auto wheel = parse_wheel_name(file.file);
      if (wheel && wheel->name == name && contains(*clause, wheel->version)) {
        offer.wheels.push_back({&file, *std::move(wheel)});
      }
    } else if (const auto source = parse_source_name(file.file);
               source && source->name == name && contains(*clause, source->version)) {
      offer.sources.push_back(file.file);
    }
  }
  return offer;
}

/// Why a page has nothing of a version, with what it has beside it.
Error not_offered(const std::vector<PageFile>& files, const Wanted& wanted) {
  const std::vector<std::string> versions = offered_versions(files, wanted.name);
  const std::string name = normalised_name(wanted.name);
  if (versions.empty()) return refusal(Errc::absent, "the index has no file of " + name);
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(versions,
                           [&](const std::string& version) {
                             return version::order(as_version(wanted.version),
                                                   as_version(version)) < 0;
                           }) -
      versions.begin());
  const std::size_t begin = at < kNearestEachSide ? 0 : at - kNearestEachSide;
  const std::size_t end = std::min(at + kNearestEachSide, versions.size());
  std::vector<std::string> nearest(versions.begin() + static_cast<std::ptrdiff_t>(begin),
                                   versions.begin() + static_cast<std::ptrdiff_t>(end));
  std::string message = "the index has no " + title(wanted, wanted.version) + "; nearest of its " +
                        counted(versions.size(), "version") + ": " + join(nearest, ", ");
  if (has_label(wanted.version)) {
    message += "; versions with +" + wanted.version.substr(wanted.version.find('+') + 1) +
               " are usually on an index of their own: add it as extra index";
  }
  return refusal(Errc::absent, std::move(message));
}

/// "10 for cp310-cp310, this Python is cp311; 4 for win_amd64".
std::string misfits(const Candidates& wheels, const Target& target) {
  std::map<std::string, std::size_t> counts;
  for (const Candidate& candidate : wheels) ++counts[misfit(candidate.wheel, target)];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  // Files of this platform first: they say most.
  const auto is_near = [](const std::string& reason) {
    return reason.find(", this ") != std::string::npos;
  };
  std::ranges::stable_sort(sorted, [&](const auto& a, const auto& b) {
    return std::pair(is_near(a.first), a.second) > std::pair(is_near(b.first), b.second);
  });
  std::vector<std::string> said;
  std::size_t rest = 0;
  for (const auto& [reason, count] : sorted) {
    if (said.size() < kShownReasons) {
      said.push_back(std::to_string(count) + " " + reason);
    } else {
      rest += count;
    }
  }
  if (rest > 0) said.push_back(std::to_string(rest) + " more");
  return join(said, "; ");
}

/// Leaves aside what another Python's version keeps out.
Result<void> keep_for_python(Candidates& wheels, const Wanted& wanted, std::string_view version,
                             std::vector<std::string>& remarks) {
  std::string asked;
  std::erase_if(wheels, [&](const Candidate& candidate) {
    const std::string& text = candidate.file->requires_python;
    if (text.empty()) return false;
    const auto specifiers = parse_specifiers(text);
    if (!specifiers) {  // pip takes no notice of what it cannot read there
      std::string remark = "Requires-Python " + version::quoted(text) + " of " +
                           title(wanted, version) + " cannot be read and is left aside";
      if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(std::move(remark));
      return false;
    }
    if (contains(*specifiers, wanted.python)) return false;
    asked = text;
    return true;
  });
  if (!wheels.empty()) return {};
  return refusal(Errc::absent, title(wanted, version) + " needs Python " +
                                   shortened(to_utf8(asked), 80) + "; this one is " +
                                   wanted.python);
}

/// A version that is asked for without local label: no label is guessed.
Result<void> settle_label(Candidates& wheels, const Wanted& wanted, std::string_view version,
                          std::vector<std::string>& remarks) {
  if (has_label(version)) return {};
  const auto labelled = [](const Candidate& c) { return has_label(c.wheel.version); };
  if (!std::ranges::all_of(wheels, labelled)) {
    std::erase_if(wheels, labelled);
    return {};
  }
  std::vector<PageFile> files;
  for (const Candidate& candidate : wheels) files.push_back(*candidate.file);
  std::vector<std::string> labels = offered_versions(files, wanted.name);
  if (labels.size() == 1) {
    remarks.push_back(title(wanted, version) + " is there as " + labels.front() + " alone");
    return {};
  }
  const std::size_t count = labels.size();
  if (count > kShownVersions) labels.resize(kShownVersions);
  return refusal(Errc::absent, "the index has " + title(wanted, version) + " only as " +
                                   join(labels, ", ") + (count > kShownVersions ? ", ..." : "") +
                                   ": say which");
}

/// Only what the lock's digests allow.
Result<void> keep_locked(Candidates& wheels, const Wanted& wanted, std::string_view version) {
  if (wanted.digests.empty()) return {};
  const std::size_t count = wheels.size();
  const bool one = wanted.digests.size() == 1;
  std::erase_if(wheels, [&](const Candidate& candidate) {
    const auto& digest = candidate.file->sha256;
    // Without a digest on the page the lock's own can still be held against the bytes.
    return digest ? std::ranges::find(wanted.digests, *digest) == wanted.digests.end() : !one;
  });
  if (!wheels.empty()) return {};
  return refusal(Errc::failed, "the index has " + counted(count, "wheel") + " of " +
                                   title(wanted, version) +
                                   " for this Python, and none has a sha256 of the lock");
}

}  // namespace

std::vector<std::string> offered_versions(const std::vector<PageFile>& files,
                                          std::string_view name) {
  const std::string normalised = normalised_name(name);
  std::vector<std::string> found;
  for (const PageFile& file : files) {
    if (file.file.ends_with(".whl")) {
      const auto wheel = parse_wheel_name(file.file);
      if (wheel && wheel->name == normalised) found.push_back(wheel->version);
    } else if (const auto source = parse_source_name(file.file);
               source && source->name == normalised) {
      found.push_back(source->version);
    }
  }
  // By text first: pages have dozens of files of one version.
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const auto order = [](const std::string& a, const std::string& b) {
    return version::order(as_version(a), as_version(b));
  };
  std::ranges::stable_sort(
      found, [&](const std::string& a, const std::string& b) { return order(a, b) < 0; });
  found.erase(
      std::unique(found.begin(), found.end(),
                  [&](const std::string& a, const std::string& b) { return order(a, b) == 0; }),
      found.end());
  return found;
}

Result<Choice> choose(const std::vector<PageFile>& files, const Wanted& wanted,
                      const Target& target, const TagRanks& ranks) {
  GOLDENV_TRY(const version::Version parsed,
              version::parse(version::Scheme::pep440, wanted.version));
  const std::string name = normalised_name(wanted.name);
  std::string version = parsed.text;
  std::vector<std::string> remarks;
  Offer offer = offer_of(files, name, version);
  if (offer.empty() && wanted.plain_serves && has_label(version)) {
    version = public_part(version);
    offer = offer_of(files, name, version);
    std::erase_if(offer.wheels, [](const Candidate& c) { return has_label(c.wheel.version); });
    if (!offer.empty()) {
      remarks.push_back("the index's " + title(wanted, version) + " is " + wanted.version);
    }
  }
  if (offer.empty()) return not_offered(files, wanted);
  Candidates& wheels = offer.wheels;
  if (wheels.empty()) {
    return refusal(Errc::absent, "the index has " + title(wanted, version) + " only as source (" +
                                     offer.sources.front() + "), and goldenv takes wheels");
  }
  Candidates fitting;
  for (const Candidate& candidate : wheels) {
    if (ranks.rank(candidate.wheel)) fitting.push_back(candidate);
  }
  if (fitting.empty()) {
    return refusal(Errc::absent, "none of the " + counted(wheels.size(), "wheel") + " of " +
                                     title(wanted, version) + " fits: " + misfits(wheels, target));
  }
  if (const auto kept = keep_for_python(fitting, wanted, version, remarks); !kept) {
    return kept.error();
  }
  if (const auto kept = settle_label(fitting, wanted, version, remarks); !kept) {
    return kept.error();
  }
  if (const auto kept = keep_locked(fitting, wanted, version); !kept) return kept.error();
  const auto yanked = [](const Candidate& c) { return c.file->yanked.has_value(); };
  if (!std::ranges::all_of(fitting, yanked)) std::erase_if(fitting, yanked);
  std::vector<WheelName> names;
  for (const Candidate& candidate : fitting) names.push_back(candidate.wheel);
  const Candidate& taken = fitting[best(names, ranks).value_or(0)];
  Choice choice{*taken.file, taken.wheel, std::move(remarks)};
  if (!choice.file.sha256) {
    if (wanted.digests.empty()) {
      return refusal(Errc::failed, "the index gives no sha256 for " + choice.file.file +
                                       (choice.file.other_digests.empty()
                                            ? ""
                                            : ", only " + join(choice.file.other_digests, ", ")) +
                                       "; a lock with its digest would do");
    }
    choice.file.sha256 = wanted.digests.front();
  }
  if (choice.file.yanked) {
    choice.remarks.push_back(choice.file.file + " is yanked: " +
                             (choice.file.yanked->empty()
                                  ? "no reason given"
                                  : shortened(to_utf8(*choice.file.yanked))));
  }
  return choice;
}

}  // namespace goldenv::wheel
