#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 7> kKeys = {
    "cuda", "cuda.runtime", "cudnn", "cudnn.parts", "cudnn.origin", "nccl.cuda", "python.package"};

std::string_view major(std::string_view version) { return version.substr(0, version.find('.')); }

/// cuDNN's sub-libraries are opened by name at run time, each found on its own.
void look_at_parts(const View& view, std::vector<Finding>& found) {
  const facts::Value* parts = view.value("cudnn.parts");
  if (parts == nullptr || parts->entries.size() < 2) {
    return;
  }
  std::string versions;
  for (const auto& [version, count] : parts->entries) {
    versions += (versions.empty() ? "" : ", ") + version;
  }
  found.push_back({{},
                   facts::Level::must,
                   "cuDNN's libraries are of several versions: " + versions,
                   "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH or a crash in the first convolution",
                   "remove the copies that LD_LIBRARY_PATH or ld.so.cache find first",
                   {{"cudnn", ""}, {"cudnn.parts", ""}}});
}

/// nvidia-cudnn-cu11 is built with CUDA 11, and cuDNN does not say so in its own text.
void look_at_wheel(const View& view, std::vector<Finding>& found) {
  constexpr std::string_view kWheel = "python.package.nvidia-cudnn-cu";
  const auto runtime = view.text("cuda.runtime");
  if (!runtime || view.text("cudnn.origin") != "wheel") {
    return;
  }
  const facts::Fact* only = nullptr;
  for (const facts::Fact& fact : view.below(kWheel)) {
    const bool is_package = fact.key.label.empty() &&
                            fact.key.name.find('.', kWheel.size()) == std::string::npos &&
                            std::holds_alternative<facts::Value>(fact.reading);
    if (is_package && only != nullptr) {
      return;  // of several nobody knows which wrote the file: python-wheels tells
    }
    only = is_package ? &fact : only;
  }
  const std::string_view built =
      only == nullptr ? std::string_view{} : std::string_view(only->key.name).substr(kWheel.size());
  if (built.empty() || built == major(*runtime)) {
    return;
  }
  found.push_back({{},
                   facts::Level::must,
                   "cuDNN in force is of nvidia-cudnn-cu" + std::string(built) +
                       ", the runtime is CUDA " + *runtime,
                   "cuDNN was built for another CUDA than the runtime beside it: it asks for "
                   "libraries that are not there, or fails in its first call",
                   "install the nvidia-cudnn wheel of the CUDA version that torch was built for",
                   {{"cuda.runtime", ""}, {"cudnn", ""}, only->key}});
}

void look(const View& view, std::vector<Finding>& found) {
  look_at_parts(view, found);
  look_at_wheel(view, found);
  const auto cuda = view.text("cuda");
  const auto built = view.text("nccl.cuda");
  if (cuda && built && major(*cuda) != major(*built)) {
    found.push_back({{},
                     facts::Level::should,
                     "NCCL was built for CUDA " + *built + ", the runtime is CUDA " + *cuda,
                     "it carries a runtime of its own, which may ask for more than the driver has",
                     "install the NCCL of this CUDA's major version",
                     {{"cuda", ""}, {"nccl.cuda", ""}}});
  }
}

}  // namespace

extern const Rule cuda_libraries{"cuda-libraries", kKeys, look};

}  // namespace goldenv::findings
