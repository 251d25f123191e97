// Kernel modules as files: what modprobe would load under the running kernel and the other ones
// that are installed. The gap to what is in memory (module.X.loaded) is what a reboot would bring.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/installed_modules.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/probe.h"
#include "probe/watched_modules.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

Reading stated(const std::optional<std::string>& value, std::string_view what) {
  return value ? Reading(Value::scalar(*value)) : Reading(Absent{"has no " + std::string(what)});
}

Reading version(const ModuleFile& file) { return stated(file.version, "version"); }
Reading srcversion(const ModuleFile& file) { return stated(file.srcversion, "srcversion"); }
Reading vermagic(const ModuleFile& file) { return stated(file.vermagic, "vermagic"); }
Reading license(const ModuleFile& file) { return stated(file.license, "license"); }
Reading digest(const ModuleFile& file) { return Value::scalar(file.digest); }
Reading built_for(const ModuleFile& file) {
  const auto parts = file.vermagic ? words(*file.vermagic) : std::vector<std::string_view>();
  return parts.empty() ? Reading(Absent{"has no vermagic"})
                       : Reading(Value::scalar(std::string(parts.front())));
}
Reading signer(const ModuleFile& file) {
  if (!file.is_signed) {
    return Absent{"unsigned"};
  }
  return file.signer.empty()
             ? Reading(Unknown{Why::not_stated, "its signature does not name who signed it", ""})
             : Reading(Value::scalar(file.signer));
}

constexpr std::string_view kDigest = ".digest";
constexpr std::string_view kPath = ".path";

struct Part {
  std::string_view name;  ///< behind module.<module>.on_disk
  Reading (*read)(const ModuleFile& file);
};

constexpr auto kParts = std::to_array<Part>({
    {"", version},
    {".srcversion", srcversion},
    {".built_for", built_for},
    {".vermagic", vermagic},
    {".license", license},
    {".signer", signer},
    {kDigest, digest},
    {kPath, nullptr},
});

/// Whether a key is asked for as such, by a name or by a family.
bool is_asked(const Survey& survey, std::string_view key, std::string_view label) {
  const Request& request = survey.request();
  return std::ranges::any_of(request.named,
                             [&](const facts::FactKey& named) {
                               return named.name == key && named.label == label;
                             }) ||
         std::ranges::any_of(request.families, [&](const std::string& family) {
           return key == family || facts::in_family(key, family);
         });
}

/// Digests take the time to read 300 MB: on request.
bool is_wanted(const Survey& survey, std::string_view key, std::string_view label) {
  const bool by_default = !survey.request().only_named && !key.ends_with(kDigest);
  return by_default || (survey.request().all && survey.wants(key)) || is_asked(survey, key, label);
}

std::vector<const Part*> wanted_parts(const Survey& survey, const std::string& key,
                                      std::string_view label) {
  std::vector<const Part*> parts;
  for (const Part& part : kParts) {
    if (is_wanted(survey, key + std::string(part.name), label)) {
      parts.push_back(&part);
    }
  }
  return parts;
}

void add_all(Survey& survey, const std::string& key, std::string_view label,
             const std::vector<const Part*>& parts, const Reading& reading,
             const facts::Evidence& evidence) {
  for (const Part* part : parts) {
    std::string name = key + std::string(part->name);
    if (!label.empty()) {
      name += "@" + std::string(label);
    }
    survey.add(name, reading, evidence);
  }
}

/// The facts of one file. `label`: the release, or "" for the running kernel's own.
void add_file(Survey& survey, const std::string& key, std::string_view label,
              const std::vector<const Part*>& parts, const ModuleLookup& lookup) {
  const bool with_digest =
      std::ranges::any_of(parts, [](const Part* part) { return part->name == kDigest; });
  for (const Part* part : parts) {
    Reading reading;
    if (part->read == nullptr) {
      reading = Value::scalar(lookup.relative);
    } else {
      const Result<ModuleFile>& file = module_file(survey, lookup.path, with_digest);
      reading = file ? part->read(*file) : Reading(Unknown::from(file.error()));
    }
    add_all(survey, key, label, {part}, reading, lookup.evidence);
  }
}

struct Kernels {
  Result<std::string> running;
  std::string running_from;
  Result<std::vector<std::string>> others;
};

void add_running(Survey& survey, const Kernels& kernels, const std::string& module) {
  const std::string key = "module." + module + ".on_disk";
  const auto parts = wanted_parts(survey, key, "");
  if (parts.empty()) {
    return;
  }
  if (!kernels.running) {
    add_all(survey, key, "", parts, Unknown::from(kernels.running.error()),
            seen(kernels.running_from));
    return;
  }
  const ModuleLookup lookup = find_module(survey, *kernels.running, module);
  if (lookup.is_found()) {
    add_file(survey, key, "", parts, lookup);
    return;
  }
  // What is not there has no parts: one line says it for all.
  for (const Part* part : parts) {
    const std::string name = key + std::string(part->name);
    if (part->name.empty() || is_asked(survey, name, "")) {
      survey.add(name, lookup.missing, lookup.evidence);
    }
  }
  if (std::holds_alternative<Absent>(lookup.missing) && !survey.request().only_named) {
    survey.listed(key);
  }
}

void add_labelled(Survey& survey, const Kernels& kernels, const std::string& module) {
  const std::string key = "module." + module + ".on_disk";
  // Those that are asked for are answered, those that are installed come by themselves.
  std::set<std::string> asked;
  for (const Part& part : kParts) {
    for (std::string& label : survey.labels_of(key + std::string(part.name))) {
      asked.insert(std::move(label));
    }
  }
  std::set<std::string> releases = asked;
  if (kernels.others) {
    releases.insert(kernels.others->begin(), kernels.others->end());
  }
  for (const std::string& release : releases) {
    const auto parts = wanted_parts(survey, key, release);
    if (parts.empty()) {
      continue;
    }
    if (release.empty() || release.find('/') != std::string::npos || release == "..") {
      add_all(survey, key, release, parts, Absent{"no kernel is called so"}, seen("/lib/modules"));
      continue;
    }
    const ModuleLookup lookup = find_module(survey, release, module);
    if (lookup.is_found()) {
      add_file(survey, key, release, parts, lookup);
    } else if (asked.contains(release) || std::holds_alternative<Unknown>(lookup.missing)) {
      add_all(survey, key, release, parts, lookup.missing, lookup.evidence);
    }
  }
}

Kernels find_kernels(const host::Host& host) {
  const KernelName running = kernel_release(host);
  Kernels kernels{running.text, running.from, releases_with_modules(host)};
  if (kernels.others && running.text) {
    std::erase(*kernels.others, *running.text);
  }
  return kernels;
}

void run(Survey& survey) {
  std::set<std::string> names;
  if (!survey.request().only_named) {
    names.insert(kWatchedModules.begin(), kWatchedModules.end());
  }
  for (const std::string& named : survey.named_below("module")) {
    const std::size_t dot = named.find('.');
    if (dot != std::string::npos && named.compare(dot, 8, ".on_disk") == 0) {
      names.insert(named.substr(0, dot));
    }
  }
  for (const std::string_view watched : kWatchedModules) {  // "module.nvidia.*" as a family
    if (survey.wants("module." + std::string(watched) + ".on_disk")) {
      names.emplace(watched);
    }
  }
  if (names.empty()) {
    return;
  }
  const Kernels kernels = find_kernels(survey.host());
  for (const std::string& name : names) {
    add_running(survey, kernels, name);
    add_labelled(survey, kernels, name);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "module.*.on_disk",
    "module.*.on_disk.*",
});

}  // namespace

extern const Probe modules_on_disk{.name = "modules_on_disk", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
