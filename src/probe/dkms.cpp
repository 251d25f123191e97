// What DKMS has of each module it keeps, and how far it got for each kernel.
// /var/lib/dkms/<module>/<version>/source                    added
// /var/lib/dkms/<module>/<version>/<kernel>/<arch>/module/   built: holds *.ko*
// /var/lib/dkms/<module>/kernel-<kernel>-<arch>              installed: leads to
// <version>/<kernel>/<arch> Source: dkms(8), dkms 3.0.10.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;
using Kind = host::FileStatus::Kind;

constexpr std::string_view kTree = "/var/lib/dkms";

/// Versions of one module by what was done with them for one kernel.
struct Builds {
  std::set<std::string> built;
  std::set<std::string> installed;
};

struct Module {
  std::set<std::string> versions;
  std::map<std::string, Builds> kernels;
};

/// Entries of a folder; none where it is absent.
Result<std::vector<host::DirEntry>> entries_of(const host::Host& host, const std::string& folder) {
  auto entries = host.list(folder);
  if (!entries && entries.error().code == Errc::absent) {
    return std::vector<host::DirEntry>();
  }
  return entries;
}

Result<bool> holds_module(const host::Host& host, const std::string& folder) {
  GOLDENV_TRY(const std::vector<host::DirEntry> files, entries_of(host, folder + "/module"));
  return std::ranges::any_of(
      files, [](const host::DirEntry& file) { return file.name.find(".ko") != std::string::npos; });
}

Result<void> add_version(const host::Host& host, const std::string& folder,
                         const std::string& version, Module& module) {
  GOLDENV_TRY(const std::vector<host::DirEntry> kernels, entries_of(host, folder));
  for (const host::DirEntry& kernel : kernels) {
    if (kernel.kind != Kind::folder || kernel.name == "source" || kernel.name == "build") {
      continue;
    }
    const std::string below = folder + "/" + kernel.name;
    GOLDENV_TRY(const std::vector<host::DirEntry> machines, entries_of(host, below));
    for (const host::DirEntry& machine : machines) {
      if (machine.kind == Kind::folder) {
        GOLDENV_TRY(const bool built, holds_module(host, below + "/" + machine.name));
        if (built) {
          module.kernels[kernel.name].built.insert(version);
        }
      }
    }
  }
  return {};
}

/// "5.4.0-149-generic" of the link "kernel-5.4.0-149-generic-x86_64".
std::string kernel_of_link(std::string_view name) {
  constexpr std::string_view kStart = "kernel-";
  const std::size_t machine = name.rfind('-');
  return name.starts_with(kStart) && machine > kStart.size()
             ? std::string(name.substr(kStart.size(), machine - kStart.size()))
             : std::string();
}

Result<Module> read_module(const host::Host& host, const std::string& folder) {
  GOLDENV_TRY(const std::vector<host::DirEntry> entries, host.list(folder));
  Module module;
  for (const host::DirEntry& entry : entries) {
    const std::string path = folder + "/" + entry.name;
    if (entry.kind == Kind::folder && entry.name != "original_module") {
      module.versions.insert(entry.name);
      if (const Result<void> added = add_version(host, path, entry.name, module); !added) {
        return added.error();
      }
    } else if (std::string kernel = kernel_of_link(entry.name);
               entry.kind == Kind::link && !kernel.empty()) {
      GOLDENV_TRY(const std::string target, host.read_link(path));
      // A link that leads nowhere is what an interrupted removal leaves.
      const auto parts = split(target, '/');
      const auto status = host.status(path);
      if (!status && status.error().code != Errc::absent) {
        return status.error();
      }
      if (parts.size() >= 3 && status) {
        module.kernels[kernel].installed.emplace(parts[parts.size() - 3]);
      }
    }
  }
  return module;
}

struct Answer {
  Reading version;
  Reading state;
};

/// The version that got furthest.
std::optional<Answer> furthest(const std::set<std::string>& versions, std::string_view state) {
  if (versions.empty()) {
    return {};
  }
  if (versions.size() == 1) {
    return Answer{Value::scalar(*versions.begin()), Value::scalar(std::string(state))};
  }
  const std::string all = join(std::vector<std::string>(versions.begin(), versions.end()), ", ");
  return Answer{Unknown{Why::ambiguous, "several are " + std::string(state) + ": " + all, ""},
                Value::scalar(std::string(state))};
}

std::optional<Answer> answer_for(const Module& module, const std::string& kernel) {
  const auto builds = module.kernels.find(kernel);
  if (builds == module.kernels.end()) {
    return {};
  }
  const auto installed = furthest(builds->second.installed, "installed");
  return installed ? installed : furthest(builds->second.built, "built");
}

void add(Survey& survey, const std::string& name, const std::string& label, const Answer& answer,
         const facts::Evidence& evidence) {
  const std::string key = "dkms." + name;
  const std::string at = label.empty() ? "" : "@" + label;
  survey.add(key + at, answer.version, evidence);
  survey.add(key + ".state" + at, answer.state, evidence);
}

void add_module(Survey& survey, const std::string& name, const Result<std::string>& running) {
  const std::string folder = std::string(kTree) + "/" + name;
  const facts::Evidence evidence = seen(folder);
  const Result<Module> module = read_module(survey.host(), folder);
  if (!module) {
    const Unknown unknown = Unknown::from(module.error());
    add(survey, name, "", {unknown, unknown}, evidence);
    return;
  }
  if (!running) {
    const Unknown unknown = Unknown::from(running.error());
    add(survey, name, "", {unknown, unknown}, evidence);
  } else if (const auto answer = answer_for(*module, *running)) {
    add(survey, name, "", *answer, evidence);
  } else if (const auto added = furthest(module->versions, "added")) {
    add(survey, name, "", *added, evidence);
  }
  for (const auto& [kernel, builds] : module->kernels) {
    const bool other = !running || *running != kernel;
    if (other || !survey.labels_of("dkms." + name).empty() ||
        !survey.labels_of("dkms." + name + ".state").empty()) {
      if (const auto answer = answer_for(*module, kernel)) {
        add(survey, name, kernel, *answer, evidence);
      }
    }
  }
}

/// Of modules that were asked for by name and labels of kernels that DKMS did nothing for; what is
/// there overwrites it.
void add_asked(Survey& survey, const Reading& reading, const facts::Evidence& evidence) {
  for (const facts::FactKey& key : survey.request().named) {
    if (key.name.starts_with("dkms.")) {
      survey.add(key.text(), reading, evidence);
    }
  }
}

void run(Survey& survey) {
  const host::Host& host = survey.host();
  const auto modules = host.list(kTree);
  const facts::Evidence evidence = seen(kTree);
  if (!modules && modules.error().code != Errc::absent) {
    add_asked(survey, Unknown::from(modules.error()), evidence);
    return;
  }
  add_asked(survey, Absent{modules ? "DKMS does not have it" : "no DKMS"}, evidence);
  if (modules) {
    const Result<std::string> running = kernel_release(host).text;
    for (const host::DirEntry& module : *modules) {
      if (module.kind == Kind::folder && survey.wants_below("dkms") &&
          (survey.wants("dkms." + module.name) || survey.wants("dkms." + module.name + ".state"))) {
        add_module(survey, module.name, running);
      }
    }
  }
  if (survey.wants("dkms")) {
    survey.listed("dkms");
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"dkms.*", "dkms.*.state"});

}  // namespace

extern const Probe dkms{.name = "dkms", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
