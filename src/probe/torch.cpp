#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/library_copies.h"
#include "probe/python_names.h"
#include "probe/python_origin.h"
#include "probe/python_prefix.h"
#include "probe/python_target.h"
#include "probe/python_words.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::array<std::string_view, 8> kOfTorch{"torch",        "torch.cuda",     "torch.rocm",
                                                   "torch.git",    "torch.cudnn",    "torch.nccl",
                                                   "torch.origin", "torch.cxx11_abi"};

struct Found {
  Reading reading;
  Evidence evidence;
};

std::string_view public_part(std::string_view version) {
  return version.substr(0, version.find('+'));
}

/// One torch: what its own files, its metadata and conda's record say.
class Torch {
 public:
  Torch(Survey& survey, const PythonScene& scene, const Python& python)
      : survey_(survey), scene_(scene), python_(python) {
    const std::string file = python.torch + "/version.py";
    const auto text = survey.host().read_file(file);
    from_ = survey.tilde(file);
    if (text) {
      version_ = parse_torch_version(*text);
    } else {
      // torch/__init__.py imports it: without it there is a torch, and no saying which.
      unread_ = text.error();
      unread_->code = text.error().code == Errc::absent ? Errc::unreadable : text.error().code;
    }
    read_metadata();
  }

  [[nodiscard]] Found fact(std::string_view key) const {
    if (key == "torch") {
      return version();
    }
    if (key == "torch.cuda") {
      return assigned(version_.cuda, "a build without CUDA");
    }
    if (key == "torch.rocm") {
      return assigned(version_.hip, "a build without ROCm");
    }
    if (key == "torch.git") {
      return assigned(version_.git, "no commit is recorded");
    }
    if (key == "torch.cudnn" || key == "torch.nccl") {
      return pinned(key.substr(6));
    }
    return key == "torch.origin" ? origin() : cxx11_abi();
  }

  /// Errors: those of reading torch/version.py, and unreadable where it states none.
  [[nodiscard]] Result<std::string> stated_version() const {
    if (unread_) {
      return *unread_;
    }
    if (text().empty()) {
      return Error{Errc::unreadable, from_ + " states no version", {}};
    }
    return text();
  }

  /// The version's text, or "".
  [[nodiscard]] std::string text() const { return version_.version ? version_.version->text : ""; }

 private:
  void read_metadata() {
    for (std::size_t i = 0; i < python_.folders.size() && metadata_path_.empty(); ++i) {
      const std::string& folder = python_.folders[i].path;
      for (const host::DirEntry& entry : scene_.listings.at(folder)) {
        const auto name =
            entry.name.starts_with("torch-") ? parse_distribution_name(entry.name) : std::nullopt;
        if (!name || name->name != "torch") {
          continue;
        }
        // Of two, the one that agrees with the files; a second one is python.duplicates' finding.
        const bool agrees = public_part(name->version) == public_part(text());
        if (metadata_path_.empty() || agrees) {
          metadata_ = Distribution{name->name, name->version, i, entry.name,
                                   name->form == DistributionName::Form::egg_info};
          metadata_path_ = path_in(folder, entry.name);
        }
      }
    }
    if (metadata_path_.empty()) {
      return;
    }
    const auto text =
        survey_.host().read_file(metadata_path_ + (metadata_.egg ? "/PKG-INFO" : "/METADATA"));
    if (text) {
      requires_ = parse_core_metadata(*text).requires_dist;
    }
  }

  [[nodiscard]] Evidence evidence(std::uint32_t line = 0) const {
    Evidence evidence;
    evidence.from = from_;
    evidence.line = line;
    evidence.basis = "read";
    return evidence;
  }

  [[nodiscard]] Found assigned(const std::optional<Assignment>& field,
                               const std::string& none) const {
    if (unread_) {
      return {Unknown::from(*unread_), evidence()};
    }
    if (!field) {
      return {Unknown{Why::not_stated, "torch/version.py does not say", ""}, evidence()};
    }
    if (field->none || field->text == "Unknown") {
      return {Absent{none}, evidence(field->line)};
    }
    return {Value::scalar(field->text), evidence(field->line)};
  }

  [[nodiscard]] Found version() const {
    Found found = assigned(version_.version, "torch/version.py says None");
    if (!metadata_path_.empty() && version_.version &&
        public_part(metadata_.version) != public_part(version_.version->text)) {
      found.evidence.notes.push_back("but " + survey_.tilde(metadata_path_) + " says " +
                                     metadata_.version);
    }
    return found;
  }

  [[nodiscard]] std::optional<CondaName> conda_package() const {
    if (python_.kind != PythonKind::conda && python_.kind != PythonKind::pixi) {
      return std::nullopt;
    }
    if (!python_.torch.starts_with(path_in(python_.prefix, "lib/"))) {
      return std::nullopt;
    }
    for (const CondaName& package : conda_packages(survey_.host(), python_.prefix).value_or({})) {
      if (package.name == "pytorch" && package.version == public_part(text())) {
        return package;
      }
    }
    return std::nullopt;
  }

  /// `torch.cudnn` and `torch.nccl`: what the metadata pins, else what conda's build string names.
  [[nodiscard]] Found pinned(std::string_view library) const {
    const auto system = survey_.host().system_name();
    const std::string machine = system ? system->machine : "x86_64";
    for (const std::string& requirement : requires_) {
      if (auto version = pinned_version(requirement, "nvidia-" + std::string(library), machine)) {
        Evidence evidence;
        evidence.from = survey_.tilde(metadata_path_ + "/METADATA");
        evidence.basis = "read";
        evidence.notes.push_back("Requires-Dist: " + requirement);
        return {Value::scalar(*std::move(version)), evidence};
      }
    }
    if (const auto package = conda_package()) {
      for (const std::string_view word :
           split(package->build, '_')) {  // py3.10_cuda12.1_cudnn8.9.2_0
        const std::string_view version = word.substr(std::min(word.size(), library.size()));
        if (word.starts_with(library) && !version.empty()) {
          Evidence evidence;
          evidence.from = survey_.tilde(path_in(python_.prefix, "conda-meta"));
          evidence.notes.push_back("build " + package->build);
          return {Value::scalar(std::string(version)), evidence};
        }
      }
    }
    if (version_.cuda && version_.cuda->none) {
      return {Absent{"a build without CUDA"}, this->evidence(version_.cuda->line)};
    }
    Evidence evidence;
    evidence.from = survey_.tilde(metadata_path_);
    return {Unknown{Why::not_stated, "torch's metadata pins none", ""}, evidence};
  }

  [[nodiscard]] Found origin() const {
    Found found;
    const auto say = [&](const char* who, const std::string& from, std::string note = "") {
      found.reading = Value::scalar(who);
      found.evidence.from = survey_.tilde(from);
      found.evidence.basis = "derived";
      if (!note.empty()) {
        found.evidence.notes.push_back(std::move(note));
      }
      return found;
    };
    const std::string version = text();
    const std::size_t plus = version.find('+');
    const std::string_view local =
        plus == std::string::npos ? "" : std::string_view(version).substr(plus + 1);
    // NVIDIA's containers: 2.1.0a0+32f93b1, 2.6.0a0+ecf3bae40a.nv25.01.
    const auto container = survey_.host().variable("NVIDIA_PYTORCH_VERSION");
    if (local.find(".nv") != std::string_view::npos ||
        (container && version.find("a0+") != std::string::npos && !local.starts_with("git"))) {
      return say("ngc", from_, "version " + version);
    }
    if (local.starts_with("git")) {
      return say("source", from_, "version " + version);
    }
    if (conda_package()) {
      return say("conda", path_in(python_.prefix, "conda-meta"));
    }
    if (metadata_path_.empty()) {
      found.reading = Unknown{Why::not_stated, "no dist-info of torch stands beside it", ""};
      found.evidence = evidence();
      return found;
    }
    if (python_.folders[metadata_.folder].distribution) {
      return say("system", metadata_path_);
    }
    const PackageOrigin origin = PackageOrigins(survey_, python_).of(metadata_);
    const Value* value = std::get_if<Value>(&origin.origin);
    if (value == nullptr) {
      return {origin.origin, origin.evidence};
    }
    const bool built_here =
        value->text == "editable" || value->text == "folder" || value->text.starts_with("git ");
    return say(built_here ? "source" : value->text == "conda" ? "conda" : "wheel", metadata_path_);
  }

  /// The build's own CMake file: `set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")`.
  [[nodiscard]] Found cxx11_abi() const {
    const std::string file = python_.torch + "/share/cmake/Torch/TorchConfig.cmake";
    Evidence evidence;
    evidence.from = survey_.tilde(file);
    evidence.basis = "read";
    const auto text = survey_.host().read_file(file);
    if (!text && text.error().code != Errc::absent) {
      return {Unknown::from(text.error()), evidence};
    }
    constexpr std::string_view kFlag = "_GLIBCXX_USE_CXX11_ABI=";
    const std::size_t at = text ? text->find(kFlag) : std::string::npos;
    const char digit = at == std::string::npos || at + kFlag.size() >= text->size()
                           ? '\0'
                           : (*text)[at + kFlag.size()];
    if (digit != '0' && digit != '1') {
      return {Unknown{Why::not_stated, "no file of this torch says it", ""}, evidence};
    }
    return {Value::boolean(digit == '1'), evidence};
  }

  Survey& survey_;
  const PythonScene& scene_;
  const Python& python_;
  std::string from_;
  TorchVersion version_;
  std::optional<Error> unread_;
  Distribution metadata_;
  std::string metadata_path_;
  std::vector<std::string> requires_;
};

/// Why the target has no torch, with where there is one.
Reading without_torch(Survey& survey, const PythonScene& scene, const Python& target,
                      const std::map<std::string, std::string>& others) {
  if (target.torch_error) {
    return Unknown::from(*target.torch_error);
  }
  for (const SiteFolder& folder : target.folders) {
    for (const host::DirEntry& entry : scene.listings.at(folder.path)) {
      if (entry.name.starts_with("torch-") && parse_distribution_name(entry.name)) {
        return Absent{to_utf8(entry.name) + " is in " + survey.tilde(folder.path) +
                      ", the package is not"};
      }
    }
  }
  if (!target.unlisted.empty()) {
    return Unknown::from(target.unlisted.front().error);
  }
  std::string reason = "not in " + survey.tilde(target.label);
  for (const auto& [label, version] : others) {
    reason += "; torch@" + label + (version.empty() ? "" : " " + version) + " exists, use --python";
    break;
  }
  if (others.size() > 1) {
    reason += " (" + std::to_string(others.size() - 1) + " more)";
  }
  return Absent{std::move(reason)};
}

/// `Cuda compilation tools, release 12.4, V12.4.131` in triton's own ptxas.
Found triton_ptxas(Survey& survey, const PythonScene& scene, const Python& target) {
  Found found;
  for (const SiteFolder& folder : target.folders) {
    const bool named =
        std::ranges::any_of(scene.listings.at(folder.path),
                            [](const host::DirEntry& entry) { return entry.name == "triton"; });
    if (!named) {
      continue;
    }
    // 3.x; 2.x.
    for (const char* place :
         {"triton/backends/nvidia/bin/ptxas", "triton/third_party/cuda/bin/ptxas",
          "triton/common/../third_party/cuda/bin/ptxas"}) {
      const std::string path = path_in(folder.path, place);
      const auto text =
          elf::text_after(survey.host(), path, "Cuda compilation tools, release ", 64);
      if (!text && text.error().code == Errc::absent) {
        continue;
      }
      found.evidence.from = survey.tilde(path);
      found.evidence.basis = "read";
      if (!text) {
        found.reading = Unknown::from(text.error());
        return found;
      }
      const std::string after = text->value_or("");
      const std::size_t v = after.find(", V");
      std::string version = v == std::string::npos ? "" : after.substr(v + 3);
      version = version.substr(0, version.find_first_not_of("0123456789."));
      found.reading = version.empty()
                          ? Reading(Unknown{Why::not_stated, "its ptxas names no release", ""})
                          : Reading(Value::scalar(std::move(version)));
      return found;
    }
    found.reading = Absent{"this triton bundles no ptxas"};
    found.evidence.from = survey.tilde(path_in(folder.path, "triton"));
    return found;
  }
  found.reading = target.unlisted.empty() ? Reading(Absent{"triton is not installed"})
                                          : Reading(Unknown::from(target.unlisted.front().error));
  return found;
}

void add_ngc(Survey& survey) {
  Evidence evidence;
  evidence.from = "NVIDIA_PYTORCH_VERSION";
  const auto release = survey.host().variable("NVIDIA_PYTORCH_VERSION");
  if (release) {
    survey.add("ngc.release", Value::scalar(*release), evidence);
  } else if (release.error().code == Errc::absent) {
    survey.add("ngc.release", Absent{"NVIDIA_PYTORCH_VERSION is not set"}, evidence);
  } else {
    survey.add("ngc.release", Unknown::from(release.error()), evidence);
  }
}

void run(Survey& survey) {
  add_ngc(survey);
  const bool asks_of_all = std::ranges::any_of(
      kOfTorch, [&](std::string_view key) { return wants_copies(survey, {key}, "torch.copies"); });
  const Python* target = python_choice(survey).target();
  // Where the target holds none, the answer names those that do.
  const PythonScene& scene = asks_of_all || target == nullptr || target->torch.empty()
                                 ? python_scene(survey)
                                 : python_choice(survey);

  std::map<std::string, std::string> elsewhere;  // label -> version
  std::vector<Reading> copies;                   // versions
  std::vector<Error> unseen = scene.unseen;
  std::set<std::string> counted;
  std::optional<Torch> ours;
  for (const Python& python : scene.pythons) {
    if (python.torch.empty()) {
      if (python.torch_error) {
        unseen.push_back(*python.torch_error);
      }
      for (const UnlistedFolder& folder : python.unlisted) {
        unseen.push_back(folder.error);
      }
      continue;
    }
    const Torch torch(survey, scene, python);
    const std::string label = survey.tilde(python.label);
    for (const std::string_view key : kOfTorch) {
      if (key == "torch.cxx11_abi") {
        continue;  // has no instances
      }
      Found found = torch.fact(key);
      survey.add(std::string(key) + "@" + label, std::move(found.reading),
                 std::move(found.evidence));
    }
    // A venv with its base's packages sees the same files.
    if (counted.insert(survey.host().real_path(python.torch).value_or(python.torch)).second) {
      if (Result<std::string> version = torch.stated_version()) {
        copies.push_back(Value::scalar(*std::move(version)));
      } else {
        unseen.push_back(std::move(version).error());
      }
    }
    if (&python == target) {
      ours.emplace(torch);
    } else {
      elsewhere.emplace(label, torch.text());
    }
  }
  Reading counts = copies_reading(copies, unseen);
  if (std::holds_alternative<Absent>(counts)) {
    counts = Absent{"no Python found holds torch"};
  }
  survey.add("torch.copies", std::move(counts), unseen_evidence(survey, unseen));

  const std::vector<std::string> why = why_of(survey, scene);
  for (const std::string_view key : kOfTorch) {
    Found found;
    if (ours) {
      found = ours->fact(key);
    } else if (target != nullptr) {
      found.reading = without_torch(survey, scene, *target, elsewhere);
      found.evidence.from = survey.tilde(target->prefix);
    } else {
      found.reading = scene.otherwise;
    }
    if (key == "torch") {
      found.evidence.notes.insert(found.evidence.notes.end(), why.begin(), why.end());
    }
    survey.add(key, std::move(found.reading), std::move(found.evidence));
  }
  Found ptxas{scene.otherwise, {}};
  if (target != nullptr && survey.wants("triton.ptxas")) {
    ptxas = triton_ptxas(survey, scene, *target);
  }
  survey.add("triton.ptxas", std::move(ptxas.reading), std::move(ptxas.evidence));
}

constexpr std::array<std::string_view, 11> kKeys{
    "torch",        "torch.cuda",      "torch.rocm",   "torch.git",    "torch.cudnn", "torch.nccl",
    "torch.origin", "torch.cxx11_abi", "torch.copies", "triton.ptxas", "ngc.release"};

}  // namespace

extern const Probe torch{.name = "torch", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
