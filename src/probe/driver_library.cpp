// The user-mode driver: which libcuda and libnvidia-ml a program would load, and what other copies
// lie about. The version of either is in the name of its file; a file is never opened for it.
#include "probe/driver_library.h"

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
#include "elf/elf.h"
#include "loader/loader.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/mapped_library.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/redact.h"
#include "tables/driver_branches.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// "535.129.03" of ".../libcuda.so.535.129.03"; "" of libcuda.so.1 and Jetson's libcuda.so.1.1:
/// driver versions of all numberings begin with two digits or more.
std::string version_in_name(std::string_view path, std::string_view soname) {
  const std::string_view stem = soname.substr(0, soname.rfind('.') + 1);  // "libcuda.so."
  const std::string_view name = base_name(path);
  if (!name.starts_with(stem)) {
    return "";
  }
  const std::string_view version = name.substr(stem.size());
  const auto parts = split(version, '.');
  const bool numbers =
      std::ranges::all_of(parts, [](std::string_view part) { return to_number(part).has_value(); });
  return numbers && parts.size() >= 2 && parts.size() <= 3 && parts[0].size() >= 2
             ? std::string(version)
             : "";
}

bool has_part(std::string_view path, std::string_view part) {
  const auto parts = split(path, '/');
  return std::ranges::find(parts, part) != parts.end();
}

std::string_view origin_of(const host::Host& host, std::string_view path) {
  if (has_part(path, "stubs")) {
    return "stub";
  }
  if (path.starts_with("/usr/lib/wsl/")) {
    return "wsl";
  }
  if (has_part(path, "compat")) {
    return "forward-compat";
  }
  // A container's runtime mounts the host's files one by one, or below this folder.
  if (path.starts_with("/usr/local/nvidia/") ||
      std::ranges::any_of(host.mounts(), [&](const host::Mount& m) { return m.point == path; })) {
    return "container";
  }
  return "driver";
}

/// What a program without search paths of its own would load.
struct InForce {
  Result<loader::Answer> answer = Error{Errc::absent, "not asked", {}};
  std::optional<Reading> instead;  ///< of a process whose libraries cannot be told
  std::vector<std::string> notes;
};

InForce ask_loader(Survey& survey, std::string_view soname) {
  const host::Host& host = survey.host();
  InForce found;
  if (const auto mapped = mapped_library(survey, soname)) {
    found.notes = mapped->evidence.notes;
    if (mapped->is_found()) {
      found.answer = loader::Answer{mapped->path, mapped->real_path, "mapped", {}};
    } else {
      found.instead = mapped->found;
    }
    return found;
  }
  if (std::string note = not_mapped_note(survey); !note.empty()) {
    found.notes.push_back(std::move(note));
  }
  loader::Question question;
  question.soname = soname;
  for (const std::string_view name : {"LD_LIBRARY_PATH", "LD_PRELOAD"}) {
    const Result<std::string> value = host.variable(name);
    if (!value) {
      if (value.error().code != Errc::absent) {
        found.notes.push_back(std::string(name) + " is not recorded: taken as not set");
      }
      continue;
    }
    if (name == "LD_LIBRARY_PATH") {
      question.library_path = redact(*value);
      continue;
    }
    std::string text = *value;
    std::ranges::replace(text, ':', ' ');
    for (const std::string_view path : words(text)) {
      question.preloaded.emplace_back(path);
    }
  }
  const Result<std::string> preload = host.read_file("/etc/ld.so.preload", 64u << 10);
  if (preload) {
    std::string text = *preload;
    std::ranges::replace(text, ':', ' ');
    for (const std::string_view path : words(text)) {
      question.preloaded.emplace_back(path);
    }
  }
  question.system = &loader_system(survey);
  question.settings = loader::processor_settings(host);
  found.answer = loader::resolve(host, question);
  if (found.answer) {
    found.notes.insert(found.notes.begin(),
                       found.answer->path + ": " + found.answer->why +
                           (found.answer->choice.empty() ? "" : " (" + found.answer->choice + ")"));
    found.notes.insert(found.notes.end(), found.answer->trace.begin(), found.answer->trace.end());
  }
  return found;
}

Reading version_reading(const InForce& found, std::string_view soname) {
  if (found.instead) {
    return *found.instead;
  }
  if (!found.answer) {
    return found.answer.error().code == Errc::absent ? Reading(Absent{"no library answers"})
                                                     : Reading(Unknown::from(found.answer.error()));
  }
  std::string version = version_in_name(path_on_disk(found.answer->real_path), soname);
  if (version.empty()) {
    return Unknown{Why::not_stated, "the file's name has no version", ""};
  }
  return Value::scalar(std::move(version));
}

/// Folders in which driver packages, run files, container runtimes and NixOS put the library.
std::vector<std::string> usual_folders(const host::Host& host, std::optional<Error>& unseen) {
  std::vector<std::string> folders = {
      "/usr/lib64",
      "/usr/lib",
      "/usr/lib/wsl/lib",
      "/usr/local/nvidia/lib64",
      "/usr/local/nvidia/lib",
      "/run/opengl-driver/lib",
      "/usr/lib64/nvidia",
      "/usr/lib/nvidia",
      "/usr/local/lib",
      "/usr/local/lib64",
  };
  const Result<host::SystemName> uname = host.system_name();
  // A tree that does not state its machine may be any of those for which there are drivers.
  for (const std::string& machine :
       uname ? std::vector{uname->machine} : std::vector<std::string>{"x86_64", "aarch64"}) {
    const std::string triplet = "/usr/lib/" + machine + "-linux-gnu";
    folders.push_back(triplet);
    folders.push_back(triplet + "/nvidia/current");
    folders.push_back(triplet + "/nvidia");
    folders.push_back(triplet + "/tegra");
  }
  const auto local = host.list("/usr/local");
  if (local) {
    for (const host::DirEntry& entry : *local) {
      if (entry.name.starts_with("cuda")) {
        folders.push_back("/usr/local/" + entry.name + "/compat");
      }
    }
  } else if (local.error().code != Errc::absent) {
    unseen = local.error();
  }
  return folders;
}

/// 32-bit copies are a second set for another kind of program, not a leftover.
bool is_32bit(const host::Host& host, const std::string& path) {
  if (folder_of(path) != "/usr/lib") {
    return false;
  }
  const Result<elf::Image> image = elf::read(host, path);
  return image && !image->is_64bit;
}

struct Copies {
  std::set<std::string> paths;  // real ones
  std::optional<Error> unseen;  // what is there and could not be looked at
};

Copies find_copies(const host::Host& host, std::string_view soname) {
  const std::string stem(soname.substr(0, soname.rfind('.') + 1));
  Copies copies;
  std::set<std::string> seen_folders;
  for (const std::string& folder : usual_folders(host, copies.unseen)) {
    const Result<std::string> real = host.real_path(folder);
    if (!real) {
      if (real.error().code != Errc::absent) {
        copies.unseen = real.error();
      }
      continue;
    }
    if (!seen_folders.insert(*real).second) {
      continue;
    }
    const auto entries = host.list(*real);
    if (!entries) {
      copies.unseen = entries.error();
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      if (!entry.name.starts_with(stem)) {
        continue;
      }
      const Result<std::string> file = host.real_path(*real + "/" + entry.name);
      if (!file && file.error().code != Errc::absent) {
        copies.unseen = file.error();
      }
      if (file && !has_part(*file, "stubs") && !is_32bit(host, *file)) {
        copies.paths.insert(*file);
      }
    }
  }
  return copies;
}

void add_copies(Survey& survey, std::string_view key, std::string_view soname,
                const InForce& found) {
  const std::string copies_key = std::string(key) + ".copies";
  const bool counted = key == "driver.libcuda";  // the catalogue has no driver.nvml.copies
  if (!survey.wants(key) && !(counted && survey.wants(copies_key))) {
    return;
  }
  Copies copies = find_copies(survey.host(), soname);
  if (found.answer && origin_of(survey.host(), found.answer->real_path) != "stub" &&
      path_on_disk(found.answer->real_path) == found.answer->real_path) {
    copies.paths.insert(found.answer->real_path);
  }
  std::map<std::string, std::uint64_t> counts;
  bool unnamed = false;
  for (const std::string& path : copies.paths) {
    std::string version = version_in_name(path, soname);
    facts::Evidence evidence = seen(survey.tilde(path));
    evidence.notes.emplace_back(origin_of(survey.host(), path));
    if (version.empty()) {
      unnamed = true;
      survey.add(std::string(key) + "@" + survey.tilde(path),
                 Unknown{Why::not_stated, "the file's name has no version", ""},
                 std::move(evidence));
      continue;
    }
    ++counts[version];
    survey.add(std::string(key) + "@" + survey.tilde(path), Value::scalar(version),
               std::move(evidence));
  }
  if (!counted) {
    return;
  }
  facts::Evidence evidence = seen("folders of driver libraries");
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [version, count] : counts) {
    entries.emplace_back(version, std::to_string(count));
  }
  Reading reading = Value::map(std::move(entries));
  if (copies.unseen) {
    reading = Unknown::from(*copies.unseen);
  } else if (unnamed) {
    reading = Unknown{Why::not_stated, "a copy has no version in its name", ""};
  } else if (counts.empty()) {
    reading = Absent{"no copy"};
  }
  survey.add(copies_key, std::move(reading), std::move(evidence));
}

facts::Evidence evidence_of(const Survey& survey, const InForce& found, std::string_view soname) {
  facts::Evidence evidence =
      seen(found.answer ? survey.tilde(found.answer->real_path) : std::string(soname));
  evidence.basis = "resolved";
  for (const std::string& note : found.notes) {
    evidence.notes.push_back(survey.tilde(note));
  }
  return evidence;
}

/// What the libcuda in force serves, by its branch; NVML, where it is asked, tells it itself.
void add_driver_api(Survey& survey, const Reading& libcuda, facts::Evidence evidence) {
  const auto* version = std::get_if<Value>(&libcuda);
  if (version == nullptr) {
    survey.add("cuda.driver_api", libcuda, std::move(evidence));
    return;
  }
  std::string cuda = tables::cuda_of_driver(version->text);
  evidence.basis = "table of driver branches";
  evidence.notes = {"libcuda " + version->text};
  survey.add("cuda.driver_api",
             cuda.empty()
                 ? Reading(Unknown{Why::not_stated,
                                   "no table tells which CUDA libcuda " + version->text + " serves",
                                   "nvml"})
                 : Reading(Value::scalar(std::move(cuda))),
             std::move(evidence));
}

constexpr std::string_view kNvml = "libnvidia-ml.so.1";

struct NvmlInForce {
  InForce found;
  Result<std::string> path = Error{Errc::absent, "not asked", {}};
};

const NvmlInForce& nvml_in_force(Survey& survey) {
  return survey.shared<NvmlInForce>([&survey] {
    NvmlInForce nvml{ask_loader(survey, kNvml)};
    nvml.path = nvml.found.answer ? Result<std::string>(nvml.found.answer->real_path)
                                  : nvml.found.answer.error();
    return nvml;
  });
}

void run(Survey& survey) {
  constexpr std::string_view kCuda = "libcuda.so.1";
  const host::Host& host = survey.host();
  const bool userland = survey.wants("driver.userland");
  InForce cuda;
  InForce nvml;
  const bool api = survey.wants("cuda.driver_api");
  if (userland || api || survey.wants("driver.libcuda") || survey.wants("driver.libcuda.path") ||
      survey.wants("driver.libcuda.origin") || survey.wants("driver.libcuda.copies")) {
    cuda = ask_loader(survey, kCuda);
    const facts::Evidence evidence = evidence_of(survey, cuda, kCuda);
    survey.add("driver.libcuda", version_reading(cuda, kCuda), evidence);
    Reading missing = version_reading(cuda, kCuda);
    survey.add("driver.libcuda.path",
               cuda.answer
                   ? Reading(Value::scalar(survey.tilde(path_on_disk(cuda.answer->real_path))))
                   : missing,
               evidence);
    survey.add("driver.libcuda.origin",
               cuda.answer
                   ? Reading(Value::scalar(std::string(origin_of(host, cuda.answer->real_path))))
                   : missing,
               evidence);
    if (api) {
      add_driver_api(survey, missing, evidence);
    }
    add_copies(survey, "driver.libcuda", kCuda, cuda);
  }
  if (userland || survey.wants("driver.nvml")) {
    nvml = nvml_in_force(survey).found;
    survey.add("driver.nvml", version_reading(nvml, kNvml), evidence_of(survey, nvml, kNvml));
    add_copies(survey, "driver.nvml", kNvml, nvml);
  }
  if (userland) {
    Reading by_cuda = version_reading(cuda, kCuda);
    Reading by_nvml = version_reading(nvml, kNvml);
    const bool take_nvml =
        !std::holds_alternative<Value>(by_cuda) &&
        (std::holds_alternative<Value>(by_nvml) || std::holds_alternative<Absent>(by_cuda));
    survey.add("driver.userland", take_nvml ? by_nvml : by_cuda,
               take_nvml ? evidence_of(survey, nvml, kNvml) : evidence_of(survey, cuda, kCuda));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "cuda.driver_api",
    "driver.libcuda",
    "driver.libcuda.*",
    "driver.nvml",
    "driver.userland",
});

}  // namespace

const Result<std::string>& nvml_library(Survey& survey) { return nvml_in_force(survey).path; }

extern const Probe driver_library{.name = "driver_library", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
