#include "probe/cuda_folder.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/header_version.h"
#include "probe/instances.h"
#include "probe/library_owner.h"
#include "probe/presence.h"
#include "tables/cuda_releases.h"
#include "version/version.h"

namespace goldenv::probe {
namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

struct KnownFolders {
  std::map<std::string, CudaFolder> by_path;
  std::map<std::string, CudaNvcc> nvcc_by_path;
};

constexpr std::string_view kNvccMarker = "Cuda compilation tools, release ";

/// A part of the toolkit under the names that its packages and files have.
struct PartNames {
  std::string_view part;     ///< in NVIDIA's manifests
  std::string_view wheel;    ///< dist-info without CUDA suffix
  std::string_view package;  ///< conda package; Debian package before "-12-1"
  std::string_view library;  ///< file name before ".so.", where the name carries the version
};
constexpr std::array<PartNames, 7> kParts = {{
    {"cuda_cudart", "nvidia_cuda_runtime", "cuda-cudart", "libcudart"},
    {"cuda_nvcc", "nvidia_cuda_nvcc", "cuda-nvcc", ""},
    {"cuda_nvrtc", "nvidia_cuda_nvrtc", "cuda-nvrtc", "libnvrtc"},
    {"libcublas", "nvidia_cublas", "libcublas", "libcublas"},
    {"libcufft", "nvidia_cufft", "libcufft", "libcufft"},
    {"libnvjitlink", "nvidia_nvjitlink", "libnvjitlink", "libnvJitLink"},
    // libcupti.so is named by the year, so the file name says nothing.
    {"cuda_cupti", "nvidia_cuda_cupti", "cuda-cupti", ""},
}};

bool is_version(std::string_view text) {
  return version::parse(version::Scheme::dotted, text).has_value();
}

std::size_t count_dots(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '.'));
}

void add_part(Parts& parts, std::string_view part, std::string_view version) {
  const bool is_new = std::ranges::none_of(
      parts, [&](const auto& known) { return known.first == part && known.second == version; });
  if (is_new && is_version(version)) {
    parts.emplace_back(part, version);
  }
}

/// "13.0" and "13.0.88" of "13.0, V13.0.88".
std::pair<std::string, std::string> parse_nvcc_text(std::string_view text) {
  const std::size_t comma = text.find(", V");
  if (comma == std::string_view::npos) {
    return {};
  }
  std::string_view version = text.substr(comma + 3);
  version = version.substr(0, version.find_first_not_of("0123456789."));
  const std::string_view release = text.substr(0, comma);
  return is_version(version) && is_version(release)
             ? std::pair{std::string(release), std::string(version)}
             : std::pair<std::string, std::string>{};
}

/// nvcc may be a script; ptxas bears the same text.
CudaNvcc learn_nvcc(Survey& survey, const std::string& folder) {
  const host::Host& host = survey.host();
  CudaNvcc nvcc;
  nvcc.version = facts::Absent{"no nvcc in it"};
  nvcc.evidence = seen(survey.tilde(folder + "/bin"));
  for (const std::string_view name : {"nvcc", "ptxas"}) {
    const auto real = host.real_path(folder + "/bin/" + std::string(name));
    if (!real && real.error().code == Errc::absent) {
      if (name == "nvcc") {
        return nvcc;
      }
      continue;
    }
    if (!real) {
      nvcc.version = facts::Unknown::from(real.error());
      return nvcc;
    }
    const auto behind = behind_wrapper(host, *real);
    const std::string& program = behind ? *behind : *real;
    const auto text = behind ? elf::text_after(host, program, kNvccMarker, 64)
                             : Result<std::optional<std::string>>(behind.error());
    nvcc.evidence = seen(survey.tilde(program));
    nvcc.evidence.basis = "text in the file";
    if (!text && text.error().code != Errc::malformed) {
      nvcc.version = facts::Unknown::from(text.error());
      return nvcc;
    }
    if (!text) {
      nvcc.version = facts::Unknown::from(text.error());
      continue;
    }
    auto [release, version] = parse_nvcc_text(text->value_or(""));
    if (!version.empty()) {
      nvcc.version = facts::Value::scalar(std::move(version));
      nvcc.release = std::move(release);
      return nvcc;
    }
    nvcc.version = facts::Unknown{facts::Why::not_stated, "its text states no version", ""};
  }
  return nvcc;
}

void add_file_names(const host::Host& host, const std::string& folder, Parts& parts,
                    std::vector<Error>& unseen) {
  std::vector<std::string> libraries = {folder + "/lib64", folder + "/lib"};
  for (const host::DirEntry& target : entries_or_none(host, folder + "/targets", unseen)) {
    libraries.push_back(folder + "/targets/" + target.name + "/lib");
  }
  for (const std::string& library : libraries) {
    for (const host::DirEntry& entry : entries_or_none(host, library, unseen)) {
      for (const PartNames& names : kParts) {
        const bool is_its = !names.library.empty() && entry.name.starts_with(names.library) &&
                            entry.name.substr(names.library.size()).starts_with(".so.");
        const std::string version = is_its ? version_in_name(entry.name) : "";
        if (count_dots(version) >= 2) {
          add_part(parts, names.part, version);
        }
      }
    }
  }
}

void add_wheels(const host::Host& host, const std::string& home, Parts& parts,
                std::vector<Error>& unseen) {
  for (const host::DirEntry& entry : entries_or_none(host, home, unseen)) {
    const auto wheel = parse_dist_info(entry.name);
    for (const PartNames& names : kParts) {
      if (wheel && is_wheel_of(wheel->first, names.wheel)) {
        add_part(parts, names.part, wheel->second);
      }
    }
  }
}

/// conda-meta holds <name>-<version>-<build>.json. Gives the release that cuda-toolkit or
/// cudatoolkit states, "" where there is none.
std::string add_conda(const host::Host& host, const std::string& folder, Parts& parts,
                      std::vector<Error>& unseen) {
  std::string release;
  for (const host::DirEntry& entry : entries_or_none(host, folder + "/conda-meta", unseen)) {
    const std::vector<std::string_view> pieces = split(entry.name, '-');
    if (pieces.size() < 3) {
      continue;
    }
    const std::string version(pieces[pieces.size() - 2]);
    const std::string name =
        entry.name.substr(0, entry.name.size() - pieces.back().size() - version.size() - 2);
    for (const PartNames& names : kParts) {
      if (name == names.package) {
        add_part(parts, names.part, version);
      }
    }
    if ((name == "cuda-toolkit" || name == "cudatoolkit") && count_dots(version) == 2) {
      release = version;
    }
  }
  return release;
}

/// Packages of NVIDIA's archive are named for the release: cuda-cudart-12-1 is of
/// /usr/local/cuda-12.1. Gives the release that cuda-toolkit-12-1 states (12.1.1-1), or Debian's
/// own toolkit (11.8.89~11.8.0-5).
std::string add_debian(Survey& survey, const std::string& folder, Parts& parts,
                       std::vector<Error>& unseen) {
  std::string suffix;
  if (folder.starts_with("/usr/local/cuda-")) {
    suffix = folder.substr(std::string_view("/usr/local/cuda").size());
    std::ranges::replace(suffix, '.', '-');
  } else if (!folder.starts_with("/usr/lib/")) {
    return {};
  }
  std::string release;
  const auto& packages = debian_packages(survey);
  if (!packages) {
    note_unseen(packages.error(), unseen);
    return {};
  }
  for (const auto& [name, package_version] : *packages) {
    const std::string version = debian_parts(package_version).first;
    if (suffix.empty()) {
      const std::size_t tilde = version.find('~');
      if (name == "nvidia-cuda-toolkit" && tilde != std::string::npos) {
        release = version.substr(tilde + 1);
      }
      continue;
    }
    for (const PartNames& names : kParts) {
      if (name == std::string(names.package) + suffix) {
        add_part(parts, names.part, version);
      }
    }
    if (name == "cuda-toolkit" + suffix && count_dots(version) == 2) {
      release = version;
    }
  }
  return is_version(release) ? release : "";
}

/// "12.1" of `#define CUDA_VERSION 12010` in cuda.h; the update is not in it. The line stands 14 kB
/// into a header of more than a megabyte (13.0).
std::string header_release(const host::Host& host, const std::string& folder,
                           std::vector<Error>& unseen) {
  constexpr std::size_t kHeadBytes = 64u << 10;
  const std::string path = folder + "/include/cuda.h";
  auto text = host.read_head(path, kHeadBytes);
  std::optional<std::string> stated;
  if (text) {
    stated = version_in_header(text->substr(0, text->rfind('\n')), {"CUDA_VERSION"});
  }
  if (text && !stated && text->size() == kHeadBytes) {
    text = host.read_file(path);
    stated = text ? version_in_header(*text, {"CUDA_VERSION"}) : std::nullopt;
  }
  if (!text) {
    note_unseen(text.error(), unseen);
  }
  const auto code = stated ? to_number(*stated) : std::nullopt;
  const auto version = code ? version::from_code(version::Code::cuda, *code)
                            : Result<std::string>(Error{Errc::malformed, "", {}});
  return version ? *version : "";
}

/// Up to 11.0: "CUDA Version 10.2.89", which is the name of the release up to 10.2 and a build
/// number in 11.0.
std::string text_release(const host::Host& host, const std::string& folder,
                         std::vector<Error>& unseen) {
  const std::string text = text_or_none(host, folder + "/version.txt", unseen, 4096);
  constexpr std::string_view kBefore = "CUDA Version ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string::npos) {
    return {};
  }
  const std::string_view rest = std::string_view(text).substr(at + kBefore.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

void learn_release(Survey& survey, CudaFolder& folder) {
  const host::Host& host = survey.host();
  facts::Evidence& evidence = folder.release_evidence;
  const std::string json_path = folder.path + "/version.json";
  const auto json = host.read_file(json_path);
  if (!json && json.error().code != Errc::absent) {
    folder.release = facts::Unknown::from(json.error());
    evidence = seen(survey.tilde(json_path));
    return;
  }
  Parts parts;
  if (json) {
    evidence = seen(survey.tilde(json_path));
    for (const auto& [component, version] : parse_version_json(*json)) {
      // "11.8.20220929" is a date: some releases were labelled so.
      if (component == "cuda" && tables::is_cuda_label(version)) {
        folder.release = facts::Value::scalar(version);
        return;
      }
      if (std::ranges::find(kParts, component, &PartNames::part) != kParts.end()) {
        add_part(parts, component, version);
      }
    }
  }
  // What could not be read may say more, or another thing, than what is found in its place.
  std::vector<Error> unseen;
  const std::string text = text_release(host, folder.path, unseen);
  if (is_version(text) && to_number(text.substr(0, text.find('.'))).value_or(99) < 11) {
    folder.release = facts::Value::scalar(text);
    evidence = seen(survey.tilde(folder.path + "/version.txt"));
    return;
  }
  std::string packaged;
  if (parts.empty()) {
    evidence = seen(survey.tilde(folder.path));
    add_file_names(host, folder.path, parts, unseen);
    add_wheels(host, folder.path + "/dist-info", parts, unseen);
    const std::size_t site = folder.path.rfind("/nvidia/");  // wheels share <site>/nvidia/cu13
    if (site != std::string::npos) {
      add_wheels(host, folder.path.substr(0, site), parts, unseen);
    }
    packaged = add_conda(host, folder.path, parts, unseen);
    if (packaged.empty()) {
      packaged = add_debian(survey, folder.path, parts, unseen);
    }
    // Its version only narrows what the others leave open.
    if (const auto* nvcc = std::get_if<facts::Value>(&cuda_nvcc(survey, folder.path).version)) {
      add_part(parts, "cuda_nvcc", nvcc->text);
    }
    if (!unseen.empty()) {
      folder.release = facts::Unknown::from(unseen.front());
      return;
    }
  }
  std::string stated = header_release(host, folder.path, unseen);
  if (stated.empty()) {
    stated = cuda_nvcc(survey, folder.path).release;
  }
  CudaReleaseReading release = release_of_parts(parts);
  evidence.basis = release.basis;
  evidence.notes = release.notes;
  const auto* value = std::get_if<facts::Value>(&release.reading);
  const bool is_whole = value != nullptr && value->form == facts::Value::Form::scalar;
  if (!is_whole && !packaged.empty()) {
    folder.release = facts::Value::scalar(packaged);
    evidence.basis = "package of the whole toolkit";
    return;
  }
  if (value != nullptr) {
    const std::string& any = value->items.empty() ? value->text : value->items.front();
    if (!stated.empty() && any != stated && !any.starts_with(stated + ".")) {
      evidence.notes.push_back("its header or nvcc says " + stated);
    }
    folder.release = release.reading;
    return;
  }
  if (!stated.empty()) {
    folder.release = facts::Value::prefix(stated);
    evidence.basis = "its header or nvcc, which name no update";
    return;
  }
  if (count_dots(text) >= 1) {
    const std::size_t second = text.find('.', text.find('.') + 1);
    folder.release = facts::Value::prefix(text.substr(0, second));
    evidence = seen(survey.tilde(folder.path + "/version.txt"));
    return;
  }
  folder.release = facts::Unknown{facts::Why::not_stated, "nothing in it states its release", ""};
}

}  // namespace

const CudaNvcc& cuda_nvcc(Survey& survey, const std::string& path) {
  auto& known = survey.shared<KnownFolders>([] { return KnownFolders(); }).nvcc_by_path;
  const auto at = known.find(path);
  return at != known.end() ? at->second
                           : known.emplace(path, learn_nvcc(survey, path)).first->second;
}

const CudaFolder& cuda_folder(Survey& survey, const std::string& path) {
  auto& known = survey.shared<KnownFolders>([] { return KnownFolders(); }).by_path;
  const auto at = known.find(path);
  if (at != known.end()) {
    return at->second;
  }
  CudaFolder folder;
  folder.path = path;
  learn_release(survey, folder);
  return known.emplace(path, std::move(folder)).first->second;
}

}  // namespace goldenv::probe
