#include "probe/python_packages.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "probe/python_names.h"
#include "probe/python_origin.h"
#include "probe/python_prefix.h"
#include "probe/python_words.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kFamily = "python.package.";
constexpr std::string_view kTorch = "torch";  // its key is torch, another probe's

/// Whether an entry names metadata and `distribution` could be filled in from it.
bool read_metadata(const host::Host& host, const std::string& path, Distribution& distribution) {
  Result<std::string> text = host.read_file(path + (distribution.egg ? "/PKG-INFO" : "/METADATA"));
  if (!text && distribution.egg) {
    text = host.read_file(path);  // distutils wrote one file and no folder
  }
  if (text) {
    const CoreMetadata metadata = parse_core_metadata(*text);
    if (const auto name = package_name(metadata.name)) {
      distribution.name = *name;
    }
    if (!metadata.version.empty() && metadata.version.size() < 256 && is_utf8(metadata.version)) {
      distribution.version = metadata.version;
    }
  }
  return !distribution.name.empty() && !distribution.version.empty();
}

class Packages {
 public:
  Packages(Survey& survey, const PythonScene& scene, const Python& python)
      : survey_(survey),
        python_(python),
        installed_(installed_packages(survey.host(), scene, python)) {}

  /// Adds every package, with `@label` behind each key where a label is given.
  void add_all(const std::string& label) {
    for (std::size_t i = 0; i < installed_.distributions.size();) {
      const Distributions same = distributions_of(installed_, installed_.distributions[i].name);
      add(same, label);
      i += static_cast<std::size_t>(same.last - same.first);
    }
  }

  /// Adds one package or what is known of its being missing. `member` may end in ".origin" etc.
  void add_named(const std::string& member, const std::string& label) {
    const std::string name = member.substr(0, member.find('.'));
    const Distributions same = distributions_of(installed_, name);
    if (!same.empty()) {
      add(same, label);
    } else if (const auto error = incomplete()) {
      record(member, label, Unknown::from(*error), {});
      return;
    } else {
      record(member, label, Absent{"not installed in " + survey_.tilde(python_.label)}, {});
      return;
    }
    if (member.ends_with(".record")) {
      record(member, label,
             Unknown{Why::not_probed, "installed files are not compared with RECORD", ""}, {});
    }
  }

  /// Why a package that was not found may be there all the same.
  [[nodiscard]] std::optional<Error> incomplete() const {
    return python_.unlisted.empty() ? std::nullopt : std::optional(python_.unlisted.front().error);
  }

  [[nodiscard]] Reading duplicates() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < installed_.distributions.size();) {
      const Distributions same = distributions_of(installed_, installed_.distributions[i].name);
      if (same.doubled()) {
        names.push_back(same.first->name);
      }
      i += static_cast<std::size_t>(same.last - same.first);
    }
    return whole_or_unknown(std::move(names), "every package is there once");
  }

  [[nodiscard]] Reading broken() const {
    return whole_or_unknown(installed_.broken, "no left-overs");
  }

 private:
  /// A set of what was found. Where a folder could not be listed nobody knows what it holds.
  [[nodiscard]] Reading whole_or_unknown(std::vector<std::string> found, std::string none) const {
    if (const std::optional<Error> error = incomplete()) {
      return Unknown::from(*error);
    }
    return found.empty() ? Reading(Absent{std::move(none)}) : Reading(Value::set(std::move(found)));
  }

  void record(const std::string& member, const std::string& label, Reading reading,
              Evidence evidence) {
    const std::string key = std::string(kFamily) + member;
    if (survey_.wants(key)) {
      survey_.add(label.empty() ? key : key + "@" + label, std::move(reading), std::move(evidence));
    }
  }

  [[nodiscard]] std::string path_of(const Distribution& distribution) const {
    return path_in(python_.folders[distribution.folder].path, distribution.entry);
  }

  void add(const Distributions& same, const std::string& label) {
    const Distribution& first = *same.first;
    if (first.name == kTorch) {
      return;
    }
    Evidence evidence;
    evidence.from = survey_.tilde(path_of(first));
    evidence.basis = "read";
    for (const Distribution* other = &first + 1; other != same.last; ++other) {
      evidence.notes.push_back("also " + other->version + ": " + survey_.tilde(path_of(*other)));
    }
    Reading reading = Value::scalar(first.version);
    if (const UnlistedFolder* doubt = doubt_before(python_, first.folder)) {
      reading = Unknown::from(doubt->error);
    } else if (same.doubled()) {
      reading = Unknown{Why::ambiguous, doubled_detail(same), ""};
    }
    const std::string origin_member = first.name + ".origin";
    const std::string digest_member = first.name + ".digest";
    if (!std::holds_alternative<Value>(reading)) {
      record(origin_member, label, reading, evidence);
      record(digest_member, label, reading, evidence);
    } else if (survey_.wants(std::string(kFamily) + origin_member) ||
               survey_.wants(std::string(kFamily) + digest_member)) {
      const PackageOrigin origin = origins().of(first);
      record(origin_member, label, origin.origin, origin.evidence);
      if (!origin.sha256.empty()) {
        record(digest_member, label, Value::scalar(origin.sha256), origin.evidence);
      }
    }
    record(first.name, label, std::move(reading), std::move(evidence));
  }

  /// Only where some origin is wanted: it reads files.
  PackageOrigins& origins() {
    if (!origins_) {
      origins_.emplace(survey_, python_);
    }
    return *origins_;
  }

  std::string doubled_detail(const Distributions& same) const {
    std::vector<std::string> entries;
    for (const Distribution* one = same.first; one != same.last; ++one) {
      if (one->folder == same.first->folder) {
        entries.push_back(one->entry);
      }
    }
    return join(entries, " and ") + " are both in " +
           survey_.tilde(python_.folders[same.first->folder].path);
  }

  Survey& survey_;
  const Python& python_;
  Installed installed_;
  std::optional<PackageOrigins> origins_;
};

/// Labels of python.package keys that were asked for by name: member and label.
void add_labelled(Survey& survey) {
  if (!survey.request().all &&
      std::ranges::none_of(survey.request().named, [](const facts::FactKey& key) {
        return key.name.starts_with(kFamily) && !key.label.empty();
      })) {
    return;
  }
  const PythonScene& scene = python_scene(survey);
  for (const Python& python : scene.pythons) {
    const std::string label = survey.tilde(python.label);
    std::optional<Packages> packages;
    if (survey.request().all) {
      packages.emplace(survey, scene, python);
      packages->add_all(label);
      continue;
    }
    for (const facts::FactKey& key : survey.request().named) {
      if (key.name.starts_with(kFamily) && (key.label == label || key.label == python.label)) {
        if (!packages) {
          packages.emplace(survey, scene, python);
        }
        packages->add_named(key.name.substr(kFamily.size()), key.label);
      }
    }
  }
}

void run(Survey& survey) {
  const PythonScene& scene = python_choice(survey);
  const Python* target = scene.target();
  const std::vector<std::string> named = survey.named_below("python.package");
  if (target == nullptr) {
    Evidence evidence;
    evidence.notes = why_of(survey, scene);
    for (const char* key : {"python.duplicates", "python.broken"}) {
      survey.add(key, scene.otherwise, evidence);
    }
    for (const std::string& member : named) {
      survey.add(std::string(kFamily) + member, scene.otherwise, evidence);
    }
    if (std::holds_alternative<Absent>(scene.otherwise)) {
      survey.listed("python.package");
    }
    return;
  }
  Packages packages(survey, scene, *target);
  const bool whole = survey.wants("python.package");
  if (whole) {
    packages.add_all("");
  }
  for (const std::string& member : named) {
    packages.add_named(member, "");
  }
  add_labelled(survey);
  const auto incomplete = packages.incomplete();
  Evidence evidence;
  if (incomplete) {
    evidence.notes.push_back(tilde_within(survey, incomplete->message));
  } else if (whole) {
    survey.listed("python.package");
  }
  survey.add("python.duplicates", packages.duplicates(), evidence);
  survey.add("python.broken", packages.broken(), evidence);
}

constexpr std::array<std::string_view, 3> kKeys{"python.package.**", "python.duplicates",
                                                "python.broken"};

}  // namespace

Installed installed_packages(const host::Host& host, const PythonScene& scene,
                             const Python& python) {
  Installed installed;
  for (std::size_t folder = 0; folder < python.folders.size(); ++folder) {
    const std::string& path = python.folders[folder].path;
    for (const host::DirEntry& entry : scene.listings.at(path)) {
      if (entry.name.starts_with('~')) {
        installed.broken.push_back(to_utf8(entry.name));
        continue;
      }
      auto parsed = parse_distribution_name(entry.name);
      if (!parsed) {
        continue;
      }
      Distribution distribution{std::move(parsed->name), std::move(parsed->version), folder,
                                entry.name, parsed->form == DistributionName::Form::egg_info};
      if (!parsed->certain && !read_metadata(host, path_in(path, entry.name), distribution)) {
        installed.broken.push_back(to_utf8(entry.name));
        continue;
      }
      installed.distributions.push_back(std::move(distribution));
    }
  }
  std::ranges::sort(installed.distributions, {}, [](const Distribution& one) {
    return std::tie(one.name, one.folder, one.entry);
  });
  return installed;
}

bool Distributions::doubled() const {
  return !empty() && std::any_of(first + 1, last, [&](const Distribution& other) {
    return other.folder == first->folder && other.version != first->version;
  });
}

Distributions distributions_of(const Installed& installed, std::string_view name) {
  const auto by_name = [](const Distribution& one) { return std::string_view(one.name); };
  const std::vector<Distribution>& all = installed.distributions;
  return {all.data() + (std::ranges::lower_bound(all, name, {}, by_name) - all.begin()),
          all.data() + (std::ranges::upper_bound(all, name, {}, by_name) - all.begin())};
}

extern const Probe python_packages{.name = "python_packages", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
