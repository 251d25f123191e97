#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "probe/cuda_folder.h"
#include "probe/instances.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/mapped_library.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kStem = "libcudart";
constexpr std::array<std::string_view, 4> kSonames = {"libcudart.so.13", "libcudart.so.12",
                                                      "libcudart.so.11.0", "libcudart.so.10.2"};
constexpr std::array<std::string_view, 1> kWheels = {"nvidia_cuda_runtime"};
constexpr std::array<std::string_view, 2> kDebian = {"cuda-cudart-", "libcudart"};
constexpr std::array<std::string_view, 1> kConda = {"cuda-cudart"};

/// Wheels beside the runtime's whose numbers tell releases apart where the runtime's cannot. No
/// others: torch's sets take nvrtc and cuFFT of a neighbouring release on purpose.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNeighbours = {{
    {"nvidia_cublas", "libcublas"},
    {"nvidia_cuda_nvcc", "cuda_nvcc"},
}};

struct CudartFile {
  facts::Reading version = facts::Unknown{facts::Why::not_stated, "nothing states it", ""};
  std::string basis;
  std::vector<std::string> notes;
};

std::size_t count_dots(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '.'));
}

/// "11.6" of torch/version.py: `cuda = '11.6'` or `cuda: Optional[str] = '12.1'`; "" where it says
/// no such thing. Errors: those of reading it.
Result<std::string> torch_cuda(Survey& survey) {
  GOLDENV_TRY(const std::string text,
              survey.host().read_file(torch_folder(survey) + "/version.py", 64u << 10));
  for (const std::string_view line : lines(text)) {
    if (line.starts_with("cuda =") || line.starts_with("cuda:")) {
      const std::size_t open = line.find_first_of("'\"", line.find('='));
      if (open == std::string_view::npos) {
        return std::string();
      }
      const std::string_view rest = line.substr(open + 1);
      const std::string_view version = rest.substr(0, rest.find(line[open]));
      return version.find_first_not_of("0123456789.") == std::string_view::npos
                 ? std::string(version)
                 : std::string();
    }
  }
  return std::string();
}

/// libcudart holds no text of its version, so everything around it is asked, the file's name first.
CudartFile read_cudart(Survey& survey, const std::string& path, const std::string& real_path) {
  CudartFile file;
  const auto learn = [&](const std::string& version, const std::string& basis) {
    const auto* known = std::get_if<facts::Value>(&file.version);
    if (known == nullptr) {
      file.version = facts::Value::scalar(version);
      file.basis = basis;
    } else if (known->text != version) {
      file.notes.push_back(basis + " says " + version);
    }
  };
  const std::string named = version_in_name(base_name(real_path));
  if (count_dots(named) >= 2) {
    learn(named, "file name");
  }
  const LibraryOwners owners = library_owners(survey, path, real_path, {kWheels, kDebian, kConda});
  for (const LibraryOwner& owner : owners.found) {
    if (owner.is_other_file) {
      file.notes.push_back(owner.package + " says " + owner.version + " (" + owner.from +
                           "), but its file list has another size");
    } else if (count_dots(owner.version) >= 2) {
      learn(owner.version, "package " + owner.package);
    }
  }
  // What could not be read may name another version than what stands behind it in this list.
  std::vector<Error> unseen = owners.unseen;
  const Result<std::string> toolkit = toolkit_of(survey, real_path);
  if (!toolkit) {
    unseen.push_back(toolkit.error());
  }
  if (std::holds_alternative<facts::Unknown>(file.version) && !unseen.empty()) {
    file.version = facts::Unknown::from(unseen.front());
    return file;
  }
  // What a process has mapped and is no longer there is of the toolkit that stood there before.
  if (toolkit && !toolkit->empty() && path_on_disk(real_path) == real_path) {
    const std::string json = *toolkit + "/version.json";
    for (const auto& [component, version] :
         parse_version_json(text_or_none(survey.host(), json, unseen))) {
      if (component == "cuda_cudart") {
        learn(version, survey.tilde(json));
      }
    }
  }
  if (std::holds_alternative<facts::Value>(file.version)) {
    return file;
  }
  if (!unseen.empty()) {
    file.version = facts::Unknown::from(unseen.front());
    return file;
  }
  const std::string torch = torch_folder(survey);
  const std::string built_for =
      !torch.empty() && is_below(real_path, torch) ? torch_cuda(survey).value_or("") : "";
  if (!built_for.empty()) {
    file.version = facts::Value::prefix(built_for);
    file.basis = "torch/version.py, which bundles it";
  } else if (!named.empty()) {
    // The soname of all 11.x is libcudart.so.11.0; before, it had both numbers.
    file.version = facts::Value::prefix(named == "11.0" ? std::string("11") : named);
    file.basis = "soname";
  }
  return file;
}

/// The release of a libcudart that lies in no toolkit. What wheels beside it say narrows the
/// choice; pip mixes releases, so a neighbour that contradicts is told and left out.
CudaReleaseReading release_of_runtime(Survey& survey, const std::string& version,
                                      const LibraryInForce& library) {
  std::vector<std::pair<std::string, std::string>> parts = {{"cuda_cudart", version}};
  CudaReleaseReading release = release_of_parts(parts);
  const std::string plain = without_dots(library.path);
  const std::size_t nvidia = plain.rfind("/nvidia/");
  if (nvidia == std::string::npos) {
    return release;
  }
  const std::string site = plain.substr(0, nvidia);
  std::vector<Error> unseen;
  for (const host::DirEntry& entry : entries_or_none(survey.host(), site, unseen)) {
    const auto* value = std::get_if<facts::Value>(&release.reading);
    if (value == nullptr || value->form != facts::Value::Form::one_of) {
      break;
    }
    const auto wheel = parse_dist_info(entry.name);
    if (!wheel) {
      continue;
    }
    // From torch 2.11 on one wheel without files stands for the whole release.
    if (wheel->first == "cuda_toolkit" &&
        std::ranges::find(value->items, wheel->second) != value->items.end()) {
      release.reading = facts::Value::scalar(wheel->second);
      release.basis += ", " + entry.name;
      break;
    }
    for (const auto& [name, part] : kNeighbours) {
      if (!is_wheel_of(wheel->first, name)) {
        continue;
      }
      parts.emplace_back(part, wheel->second);
      CudaReleaseReading narrowed = release_of_parts(parts);
      if (!narrowed.is_mixed) {
        release = std::move(narrowed);
      } else {
        release.notes.push_back(entry.name + " is of another release");
        parts.pop_back();
      }
    }
  }
  return release;
}

void add_toolkit_as_release(Survey& survey, std::string_view why) {
  const CudaChoice& choice = cuda_choice(survey);
  if (choice.path.empty()) {
    facts::Evidence evidence;
    evidence.notes.emplace_back(why);
    survey.add("cuda", choice.otherwise, evidence);
    return;
  }
  const CudaFolder& folder = cuda_folder(survey, choice.path);
  facts::Evidence evidence = folder.release_evidence;
  evidence.notes.insert(evidence.notes.begin(),
                        {std::string(why) + ": cuda.toolkit", "chosen by " + choice.why});
  survey.add("cuda", folder.release, evidence);
}

void add_release(Survey& survey, const LibraryInForce& library, const CudartFile& file) {
  if (!survey.wants("cuda")) {
    return;
  }
  if (library.asker == LibraryInForce::Asker::nobody &&
      std::holds_alternative<facts::Absent>(library.found)) {
    add_toolkit_as_release(survey, "torch asks for no libcudart");
    return;
  }
  if (library.asker == LibraryInForce::Asker::program) {
    add_toolkit_as_release(survey, "no torch");
    return;
  }
  if (!library.is_found()) {
    survey.add("cuda", library.found, library.evidence);
    return;
  }
  facts::Evidence evidence = library.evidence;
  evidence.notes.insert(evidence.notes.begin(), "origin: " + facts::describe(library.origin));
  const Result<std::string> toolkit = toolkit_of(survey, library.real_path);
  if (!toolkit) {
    survey.add("cuda", facts::Unknown::from(toolkit.error()), evidence);
    return;
  }
  if (!toolkit->empty()) {
    const CudaFolder& folder = cuda_folder(survey, *toolkit);
    evidence.notes.push_back("release of " + survey.tilde(*toolkit) + " by " +
                             (folder.release_evidence.basis.empty()
                                  ? folder.release_evidence.from
                                  : folder.release_evidence.basis));
    survey.add("cuda", folder.release, evidence);
    return;
  }
  const auto* version = std::get_if<facts::Value>(&file.version);
  if (version == nullptr) {
    survey.add("cuda", file.version, evidence);
    return;
  }
  if (version->form == facts::Value::Form::prefix) {
    evidence.notes.push_back("libcudart " + version->text + "... by " + file.basis);
    survey.add("cuda", *version, evidence);
    return;
  }
  const CudaReleaseReading release = release_of_runtime(survey, version->text, library);
  evidence.notes.push_back("release by " + release.basis);
  evidence.notes.insert(evidence.notes.end(), release.notes.begin(), release.notes.end());
  survey.add("cuda", release.reading, evidence);
}

void add_in_force(Survey& survey) {
  const LibraryInForce& library = library_in_force(survey, kStem, kSonames);
  if (!library.is_found()) {
    facts::Reading found = library.found;
    if (library.asker == LibraryInForce::Asker::nobody &&
        std::holds_alternative<facts::Absent>(found)) {
      const Result<std::string> built_for = torch_cuda(survey);
      if (!built_for) {
        found = facts::Unknown::from(built_for.error());
      } else if (!built_for->empty()) {
        found = facts::Unknown{facts::Why::not_stated,
                               "torch was built for CUDA " + *built_for +
                                   " and asks for no libcudart: it holds it inside",
                               ""};
      }
    }
    for (const std::string_view key :
         {"cuda.runtime", "cuda.runtime.build_id", "cuda.runtime.origin"}) {
      survey.add(key, found, library.evidence);
    }
    add_release(survey, library, {});
    return;
  }
  const CudartFile file = read_cudart(survey, library.path, library.real_path);
  facts::Evidence evidence = library.evidence;
  const facts::Reading build_id = build_id_reading(survey, library.real_path);
  if (const auto* value = std::get_if<facts::Value>(&build_id)) {
    evidence.build_id = value->text;
  }
  if (!file.basis.empty()) {
    evidence.notes.insert(evidence.notes.begin(), "version by: " + file.basis);
  }
  evidence.notes.insert(evidence.notes.end(), file.notes.begin(), file.notes.end());
  survey.add("cuda.runtime", file.version, evidence);
  survey.add("cuda.runtime.build_id", build_id, evidence);
  survey.add("cuda.runtime.origin", library.origin, evidence);
  add_release(survey, library, file);
}

void add_copies(Survey& survey) {
  for (const LibraryCopy& copy : library_copies(survey, kStem).copies) {
    const CudartFile file = read_cudart(survey, copy.path, copy.real_path);
    facts::Evidence evidence{survey.tilde(copy.real_path), 0, file.basis, "", file.notes};
    const facts::Reading build_id = build_id_reading(survey, copy.real_path);
    if (const auto* value = std::get_if<facts::Value>(&build_id)) {
      evidence.build_id = value->text;
    }
    const std::string label = "@" + survey.tilde(copy.path);
    survey.add("cuda.runtime" + label, file.version, evidence);
    survey.add("cuda.runtime.build_id" + label, build_id, evidence);
    survey.add("cuda.runtime.origin" + label, copy.origin, evidence);
  }
}

void run(Survey& survey) {
  if (survey.wants("cuda") || survey.wants("cuda.runtime") || survey.wants_below("cuda.runtime")) {
    add_in_force(survey);
  }
  if (wants_copies(survey, {"cuda.runtime", "cuda.runtime.build_id", "cuda.runtime.origin"}, "")) {
    add_copies(survey);
  }
}

constexpr std::string_view kKeys[] = {"cuda", "cuda.runtime", "cuda.runtime.build_id",
                                      "cuda.runtime.origin"};

}  // namespace

extern const Probe cuda_runtime{.name = "cuda_runtime", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
