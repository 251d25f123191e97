// What GPUs of a compute capability run: which toolkits make code for them, which driver branches
// know them, which wheels of torch hold such code. Code of sm_X.Y runs on X.Z with Z >= Y; PTX of
// X.Y is compiled on the spot for anything not older.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "compat/rule.h"
#include "tables/torch_releases.h"

namespace goldenv::compat {
namespace {

using tables::Confidence;

constexpr std::string_view kKey = "gpu.compute_capability";

/// GPUs of one generation.
struct Generation {
  std::string_view first;  ///< compute capability from which on
  std::string_view called;
  std::string_view first_cuda;   ///< release that makes code for it
  std::string_view last_cuda;    ///< "" while it is served
  std::string_view last_driver;  ///< branch; "" while it is served
};

// Sources: makefiles/common.mk of NVIDIA/nccl (sm_80 with CUDA 11, sm_90 with 11.8, sm_100 and
// sm_120 with 12.8, sm_75 the oldest under 13); NVIDIA's page of current releases for branch 470
// and Kepler; the NixOS wiki for branch 580, Maxwell, Pascal and Volta. The others are from memory.
constexpr auto kGenerations = std::to_array<Generation>({
    // clang-format off
    {"3.0", "Kepler", "5.0", "11.8", "470"},
    {"5.0", "Maxwell", "6.5", "12.9", "580"},
    {"6.0", "Pascal", "8.0", "12.9", "580"},
    {"7.0", "Volta", "9.0", "12.9", "580"},
    {"7.5", "Turing", "10.0", "", ""},
    {"8.0", "Ampere", "11.0", "", ""},
    {"9.0", "Hopper", "11.8", "", ""},
    {"10.0", "Blackwell", "12.8", "", ""},
    {"11.0", "Thor", "13.0", "", ""},
    {"12.0", "Blackwell", "12.8", "", ""},
    // clang-format on
});

const Generation* generation_of(std::string_view capability) {
  const Generation* found = nullptr;
  for (const Generation& generation : kGenerations) {
    if (order(capability, generation.first) && !older(capability, generation.first)) {
      found = &generation;
    }
  }
  // A generation is of one major, or it is one that came later.
  return found != nullptr && major_of(found->first) == major_of(capability) ? found : nullptr;
}

Answer begun(std::string_view capability, const Choice& other, std::string_view source) {
  Answer answer;
  answer.of = {{std::string(kKey), std::string(capability)}, other};
  answer.source = source;
  answer.as_of = "2026-09-16";
  return answer;
}

void judge_cuda(const Set& versions, std::vector<Answer>& answers) {
  const auto cuda = first_of(versions, {"cuda", "cuda.toolkit", "cuda.runtime", "torch.cuda"});
  if (!cuda || !order(cuda->version, "1")) {
    return;
  }
  for (const std::string& capability : versions.all(kKey)) {
    const Generation* const generation = generation_of(capability);
    Answer answer = begun(capability, *cuda, "makefiles of NVIDIA/nccl, in part from memory");
    answer.confidence = Confidence::reported;
    if (generation == nullptr) {
      answer.reason = "no table knows GPUs of compute capability " + capability;
      answers.push_back(std::move(answer));
      continue;
    }
    const std::string called = std::string(generation->called) + " (" + capability + ")";
    if (!generation->last_cuda.empty() && older(generation->last_cuda, minor_of(cuda->version))) {
      answer.verdict = Verdict::incompatible;
      answer.reason = "CUDA " + cuda->version + " has no code for " + called + ": " +
                      std::string(generation->last_cuda) + " was the last";
    } else if (older(minor_of(cuda->version), generation->first_cuda)) {
      answer.reason = "CUDA makes code for " + called + " from " +
                      std::string(generation->first_cuda) + " on; what " + cuda->version +
                      " built runs there only where PTX lies beside it";
    } else {
      answer.verdict = Verdict::compatible;
      answer.reason =
          "CUDA makes code for " + called + " from " + std::string(generation->first_cuda) + " on";
    }
    answers.push_back(std::move(answer));
  }
}

void judge_driver(const Set& versions, std::vector<Answer>& answers) {
  const auto driver = first_of(versions, {"driver"});
  if (!driver || !order(driver->version, "1")) {
    return;
  }
  for (const std::string& capability : versions.all(kKey)) {
    const Generation* const generation = generation_of(capability);
    if (generation == nullptr || generation->last_driver.empty()) {
      continue;
    }
    Answer answer = begun(capability, *driver, "NVIDIA's Unix driver page and the NixOS wiki");
    answer.confidence = Confidence::reported;
    const bool served = !older(generation->last_driver, major_of(driver->version));
    answer.verdict = served ? Verdict::compatible : Verdict::incompatible;
    answer.reason = "branch " + std::string(generation->last_driver) + " is the last for " +
                    std::string(generation->called) + " (" + capability + ")" +
                    (served ? "" : ", and " + driver->version + " is of a later one");
    answers.push_back(std::move(answer));
  }
}

/// How code for `arch` ("8.6", "12.0+PTX") serves a GPU: "" not at all.
std::string serves(std::string_view arch, std::string_view capability) {
  const bool has_ptx = arch.ends_with("+PTX");
  const std::string_view code = has_ptx ? arch.substr(0, arch.size() - 4) : arch;
  if (older(capability, code)) {
    return {};
  }
  if (major_of(code) == major_of(capability)) {
    return code == capability ? "its code" : "code for " + std::string(code);
  }
  return has_ptx ? "PTX of " + std::string(code) : std::string{};
}

void judge_torch(const Set& versions, std::vector<Answer>& answers) {
  const auto torch = torch_of(versions);
  if (!torch) {
    return;
  }
  const tables::TorchBuild build = tables::torch_build(torch->version);
  const tables::TorchArchs archs = tables::torch_archs(build.release, build.label);
  for (const std::string& capability : versions.all(kKey)) {
    if (!order(capability, "1") || tables::torch_minor(build.release) == nullptr) {
      continue;
    }
    Answer answer = begun(capability, *torch, archs.source);
    answer.confidence = build.confidence;
    if (archs.archs.empty()) {
      answer.source = tables::kTorchSource;
      answer.reason = "no table says for which GPUs torch " + torch->version + " holds code";
      answers.push_back(std::move(answer));
      continue;
    }
    std::string way;
    for (const std::string_view arch : words(archs.archs)) {
      std::string found = serves(arch, capability);
      // PTX only where no code fits; of several the last, which is the nearest.
      if (!found.empty() && (way.empty() || !found.starts_with("PTX"))) {
        way = std::move(found);
      }
    }
    const std::string holds =
        "torch " + torch->version + " holds code for " + std::string(archs.archs);
    if (!way.empty()) {
      answer.verdict = Verdict::compatible;
      answer.reason = holds + "; a GPU of " + capability + " runs " + way;
    } else {
      answer.verdict =
          build.confidence == Confidence::guess ? Verdict::unknown : Verdict::incompatible;
      answer.reason =
          holds + ", none for a GPU of " + capability + ": no kernel image is available";
    }
    answers.push_back(std::move(answer));
  }
}

}  // namespace

extern const Rule gpu_cuda{"gpu-cuda", judge_cuda};
extern const Rule gpu_driver{"gpu-driver", judge_driver};
extern const Rule gpu_torch{"gpu-torch", judge_torch};

}  // namespace goldenv::compat
