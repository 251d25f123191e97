// The driver's kernel module and what has to be of its very version.
#include <array>
#include <string>
#include <utility>

#include "compat/rule.h"

namespace goldenv::compat {
namespace {

struct Part {
  std::string_view key;
  std::string_view called;
  std::string_view otherwise;  ///< what happens where they differ
};

constexpr std::array<Part, 9> kParts = {
    {{"driver.nvml", "libnvidia-ml", "NVML answers Driver/library version mismatch"},
     {"driver.userland", "userland", "CUDA does not initialise (error 803)"},
     {"driver.gsp", "the GSP firmware", "the GPU does not start"},
     {"driver.fabricmanager", "the fabric manager",
      "it stops, and NVSwitch systems have no fabric"},
     {"module.nvidia.loaded", "nvidia.ko", "this is the module itself"},
     {"module.nvidia_uvm.loaded", "nvidia_uvm.ko", "CUDA does not initialise"},
     {"module.nvidia_modeset.loaded", "nvidia_modeset.ko", "the module does not load"},
     {"module.nvidia_drm.loaded", "nvidia_drm.ko", "the module does not load"},
     {"module.nvidia_peermem.loaded", "nvidia_peermem.ko", "GPUDirect RDMA is missing"}}};

constexpr std::string_view kSource = "NVIDIA's driver README: one version of all parts";
constexpr std::string_view kDate = "2026-09-16";

Answer answer_of(const Part& part, std::string_view version, std::string_view driver) {
  Answer answer;
  answer.of = {{std::string(part.key), std::string(version)}, {"driver", std::string(driver)}};
  answer.source = kSource;
  answer.as_of = kDate;
  const bool same = version == driver;
  answer.verdict = same ? Verdict::compatible : Verdict::incompatible;
  answer.reason = std::string(part.called) + " " + std::string(version) +
                  (same ? " is of the module's version"
                        : " is not of the module's version " + std::string(driver) + ": " +
                              std::string(part.otherwise));
  return answer;
}

/// libcuda alone may be newer than the module.
Answer libcuda(std::string_view version, std::string_view driver) {
  Answer answer = answer_of({"driver.libcuda", "libcuda", "CUDA does not initialise (error 803)"},
                            version, driver);
  if (older(driver, version)) {
    answer.verdict = Verdict::unknown;
    answer.confidence = tables::Confidence::reported;
    answer.reason = "libcuda " + std::string(version) + " is newer than the module's " +
                    std::string(driver) +
                    ": right from a forward compatibility package on data-centre GPUs, else CUDA "
                    "does not initialise (error 803)";
  }
  return answer;
}

void judge(const Set& versions, std::vector<Answer>& answers) {
  const auto driver = versions.one("driver");
  if (!driver) {
    return;
  }
  if (const auto version = versions.one("driver.libcuda")) {
    answers.push_back(libcuda(*version, *driver));
  }
  for (const Part& part : kParts) {
    if (const auto version = versions.one(part.key)) {
      answers.push_back(answer_of(part, *version, *driver));
    }
  }
}

}  // namespace

extern const Rule driver_userland{"driver-userland", judge};

}  // namespace goldenv::compat
