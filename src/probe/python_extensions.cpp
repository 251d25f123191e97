// Compiled extensions of the target Python against what its process would hold: the torch, the C++
// library, the LLVM and the OpenMP in force. Nothing is loaded: what a file needs and which symbols
// it takes stand in it.
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
#include "elf/symbols.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/python_packages.h"
#include "probe/python_prefix.h"
#include "probe/python_target.h"
#include "probe/python_words.h"
#include "probe/wheel_record.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kKey = "python.extensions";
constexpr std::size_t kFileLimit = 300;
constexpr std::size_t kSymbolsNamed = 2;

/// Packages that hold code built against torch, LLVM or OpenMP in folders of their own. Those that
/// put it beside their packages (flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so) are found
/// there.
constexpr auto kPackages = std::to_array<std::string_view>({"apex",
                                                            "bitsandbytes",
                                                            "causal-conv1d",
                                                            "deepspeed",
                                                            "detectron2",
                                                            "fairscale",
                                                            "flash-attn",
                                                            "flashinfer-python",
                                                            "llvmlite",
                                                            "mamba-ssm",
                                                            "numba",
                                                            "pytorch-triton",
                                                            "pytorch3d",
                                                            "torch-cluster",
                                                            "torch-scatter",
                                                            "torch-sparse",
                                                            "torch-spline-conv",
                                                            "torchaudio",
                                                            "torchtext",
                                                            "torchvision",
                                                            "transformer-engine",
                                                            "triton",
                                                            "vllm",
                                                            "xformers"});

/// Symbols that only torch defines, by the namespaces in their names.
const std::vector<std::string>& torch_symbols() {
  static const std::vector<std::string> kBegins = {
      "_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch", "_ZNK5torch", "_ZN6caffe2", "THP"};
  return kBegins;
}

class Extensions {
 public:
  Extensions(Survey& survey, const PythonScene& scene, const Python& python)
      : survey_(survey), host_(survey.host()), scene_(scene), python_(python) {}

  void add() {
    collect();
    for (const std::string& path : files_) {
      if (!look_at(path)) {
        break;
      }
    }
    Evidence evidence;
    evidence.basis = "what " + std::to_string(files_.size()) + " files need and take";
    if (llvms_.size() > 1) {
      std::vector<std::string> names;
      for (const auto& [soname, path] : llvms_) {
        names.push_back(soname + " of " + path);
      }
      problems_.insert("two LLVMs in one process: " + join(names, ", "));
    }
    Reading reading = Value::set({problems_.begin(), problems_.end()});
    if (error_) {
      reading = Unknown::from(*error_);
    } else if (files_.empty()) {
      reading = Absent{"no compiled extensions"};
    } else if (problems_.empty()) {
      reading = Absent{"all of them fit"};
    }
    survey_.add(kKey, std::move(reading), std::move(evidence));
  }

 private:
  void collect() {
    std::set<std::string> found;
    for (const SiteFolder& folder : python_.folders) {
      for (const host::DirEntry& entry : scene_.listings.at(folder.path)) {
        if (entry.name.ends_with(".so") && entry.kind == host::FileStatus::Kind::file) {
          found.insert(path_in(folder.path, entry.name));
        }
      }
    }
    const Installed installed = installed_packages(host_, scene_, python_);
    for (const std::string_view name : kPackages) {
      const Distributions same = distributions_of(installed, name);
      if (same.empty()) {
        continue;
      }
      const std::string& folder = python_.folders[same.first->folder].path;
      const std::string record = path_in(path_in(folder, same.first->entry), "RECORD");
      const Result<std::string> text = host_.read_file(record, 64u << 20);
      if (!text && text.error().code != Errc::absent) {
        error_ = text.error();
      }
      for (const RecordedFile& file :
           text ? parse_record(*text, true) : std::vector<RecordedFile>{}) {
        if (file.path.ends_with(".so") && !file.path.starts_with('/')) {
          found.insert(without_dots(folder + "/" + file.path));
        }
      }
    }
    for (const std::string& path : found) {
      if (files_.size() >= kFileLimit) {
        break;
      }
      files_.push_back(path);
    }
  }

  /// Where a person finds the file: below the site folder.
  [[nodiscard]] std::string short_name(const std::string& path) const {
    for (const SiteFolder& folder : python_.folders) {
      if (is_below(path, folder.path) && path.size() > folder.path.size() + 1) {
        return path.substr(folder.path.size() + 1);
      }
    }
    return survey_.tilde(path);
  }

  void say(const std::string& path, const std::string& what) {
    problems_.insert(short_name(path) + ": " + what);
  }

  /// False where the look as a whole has failed.
  bool look_at(const std::string& path) {
    const Result<elf::Image>& image = image_of(survey_, path);
    if (!image) {
      // A file that RECORD names and that is gone is another fact's, one that is no ELF file
      // nobody's.
      if (image.error().code != Errc::absent && image.error().code != Errc::malformed) {
        error_ = image.error();
      }
      return !error_;
    }
    bool takes_torch = false;
    for (const std::string& soname : image->needed) {
      takes_torch = takes_torch || soname.starts_with("libtorch") || soname.starts_with("libc10");
      look_at_need(path, soname);
    }
    const auto taken = elf::demands(host_, path, torch_symbols());
    if (!taken) {
      // Of another machine, or damaged: no Python here can load it, and none tries before its
      // import.
      if (taken.error().code != Errc::malformed) {
        error_ = taken.error();
      }
      return !error_;
    }
    for (const auto& [library, version] : taken->versions) {
      look_at_version(path, library, version);
    }
    if (takes_torch || !taken->symbols.empty()) {
      look_at_symbols(path, taken->symbols);
    }
    return !error_;
  }

  void look_at_need(const std::string& path, const std::string& soname) {
    if (soname.starts_with("libLLVM")) {
      llvms_.try_emplace(soname, short_name(path));
    }
    look_at_openmp(path, soname);
    if (is_library_of(soname, "libcudart")) {
      const std::string& own = torch_cudart();
      if (!own.empty() && own != soname && own.find('-') == std::string::npos &&
          soname.find('-') == std::string::npos) {
        say(path, "was built for " + soname + ", torch for " + own);
        return;
      }
    }
    // What torch's process holds already answers by its name.
    if (names_of_torch().contains(soname)) {
      return;
    }
    std::vector<std::string> loaders{path};
    const std::vector<std::string> python = python_loaders(survey_);
    loaders.insert(loaders.end(), python.begin(), python.end());
    const LibraryInForce library = resolve_library(survey_, soname, loaders);
    if (std::holds_alternative<Absent>(library.found)) {
      say(path, "needs " + soname + ", which nothing answers");
    } else if (const auto* unknown = std::get_if<Unknown>(&library.found)) {
      error_ = Error{unknown->why == Why::denied ? Errc::denied : Errc::unreadable,
                     soname + ": " + unknown->detail,
                     {}};
    }
  }

  static std::string_view openmp_of(std::string_view soname) {
    for (const std::string_view stem : {"libgomp", "libiomp5", "libomp"}) {
      if (is_library_of(soname, stem)) {
        return stem;
      }
    }
    return {};
  }

  void look_at_openmp(const std::string& path, const std::string& soname) {
    const std::string_view mine = openmp_of(soname);
    if (mine.empty()) {
      return;
    }
    std::string_view torchs;
    for (const std::string& name : names_of_torch()) {
      const std::string_view one = openmp_of(name);
      if (one == mine) {
        return;
      }
      torchs = one.empty() ? torchs : one;
    }
    if (!torchs.empty()) {
      say(path, "brings the OpenMP runtime " + soname + " beside torch's " + std::string(torchs));
    }
  }

  void look_at_version(const std::string& path, const std::string& library,
                       const std::string& version) {
    const std::set<std::string>* defined = versions_of(library);
    if (defined != nullptr && !defined->empty() && !defined->contains(version)) {
      say(path, "needs " + version + " of " + library + ", which the one in force lacks");
    }
  }

  /// Versions that the library in force defines; nullptr where nothing is known of it.
  const std::set<std::string>* versions_of(const std::string& soname) {
    if (soname != "libstdc++.so.6" && soname != "libc.so.6") {
      return nullptr;
    }
    auto at = versions_.find(soname);
    if (at == versions_.end()) {
      std::set<std::string> defined;
      LibraryInForce library;
      if (soname == "libc.so.6") {
        library = resolve_library(survey_, soname, python_loaders(survey_));
      } else {
        constexpr auto kSonames = std::to_array<std::string_view>({"libstdc++.so.6"});
        library = library_in_force(survey_, "libstdc++", kSonames);
      }
      if (library.is_found()) {
        if (const auto& image = image_of(survey_, library.real_path)) {
          defined.insert(image->version_definitions.begin(), image->version_definitions.end());
        }
      }
      at = versions_.emplace(soname, std::move(defined)).first;
    }
    return &at->second;
  }

  void look_at_symbols(const std::string& path, const std::vector<std::string>& symbols) {
    if (python_.torch.empty()) {
      if (!python_.torch_error) {
        say(path, "was built against torch, which is not installed");
      }
      return;
    }
    std::vector<std::string> missing = symbols;
    for (const std::string_view name :
         {"libc10.so", "libtorch_cpu.so", "libtorch_python.so", "libc10_cuda.so",
          "libtorch_cuda.so", "libtorch.so", "libc10_hip.so", "libtorch_hip.so"}) {
      if (missing.empty()) {
        return;
      }
      const std::string library = python_.torch + "/lib/" + std::string(name);
      auto rest = elf::not_defined(host_, library, missing, survey_.request().memory);
      if (rest) {
        missing = *std::move(rest);
      } else if (rest.error().code != Errc::absent) {
        error_ = rest.error();
        return;
      }
    }
    if (missing.empty()) {
      return;
    }
    std::vector<std::string> named(
        missing.begin(),
        missing.begin() + static_cast<std::ptrdiff_t>(std::min(missing.size(), kSymbolsNamed)));
    say(path, "takes " + join(named, ", ") +
                  (missing.size() > kSymbolsNamed
                       ? " and " + std::to_string(missing.size() - kSymbolsNamed) + " more"
                       : "") +
                  ", which this torch does not define");
  }

  /// Sonames that torch's own libraries need, and their own.
  const std::set<std::string>& names_of_torch() {
    if (!names_) {
      names_.emplace();
      for (const TorchObject& object : torch_objects(survey_)) {
        names_->emplace(base_name(object.path));
        if (const auto& image = image_of(survey_, object.path)) {
          names_->insert(image->needed.begin(), image->needed.end());
        }
      }
      if (!python_.torch.empty()) {
        for (const host::DirEntry& entry :
             host_.list(python_.torch + "/lib").value_or(std::vector<host::DirEntry>{})) {
          names_->insert(entry.name);
        }
      }
    }
    return *names_;
  }

  const std::string& torch_cudart() {
    if (!cudart_) {
      cudart_.emplace();
      for (const TorchObject& object : torch_objects(survey_)) {
        const auto& image = image_of(survey_, object.path);
        for (const std::string& soname : image ? image->needed : std::vector<std::string>{}) {
          if (is_library_of(soname, "libcudart")) {
            *cudart_ = soname;
          }
        }
      }
    }
    return *cudart_;
  }

  Survey& survey_;
  const host::Host& host_;
  const PythonScene& scene_;
  const Python& python_;
  std::vector<std::string> files_;
  std::set<std::string> problems_;
  std::map<std::string, std::string> llvms_;  ///< soname -> the first file that needs it
  std::map<std::string, std::set<std::string>> versions_;
  std::optional<std::set<std::string>> names_;
  std::optional<std::string> cudart_;
  std::optional<Error> error_;
};

void run(Survey& survey) {
  if (!survey.wants(kKey)) {
    return;
  }
  const PythonScene& scene = python_scene(survey);
  const Python* target = scene.target();
  if (target == nullptr) {
    Evidence evidence;
    evidence.notes = why_of(survey, scene);
    survey.add(kKey, scene.otherwise, std::move(evidence));
    return;
  }
  if (!target->unlisted.empty()) {
    survey.add(kKey, Unknown::from(target->unlisted.front().error), {});
    return;
  }
  Extensions(survey, scene, *target).add();
}

constexpr auto kKeys = std::to_array<std::string_view>({kKey});

}  // namespace

extern const Probe python_extensions{.name = "python_extensions", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
