#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"cuda", "cudnn", "cudnn.parts", "nccl.cuda"};

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

void look(const View& view, std::vector<Finding>& found) {
  look_at_parts(view, found);
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
