// torch and what it loads: CUDA by its variant, libraries by the versions its wheel requires, and
// symbols that it cannot be loaded without.
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

/// "12.1" of the label "cu121", "10.2" of "cu102"; "" of cpu and others.
std::string cuda_of_label(std::string_view label) {
  if (!label.starts_with("cu") || label.size() < 5 ||
      label.find_first_not_of("0123456789", 2) != std::string_view::npos) {
    return {};
  }
  return std::string(label.substr(2, label.size() - 3)) + "." +
         std::string(label.substr(label.size() - 1));
}

Answer begun(const Choice& torch, const Choice& other) {
  Answer answer;
  answer.of = {torch, other};
  answer.source = tables::kTorchSource;
  answer.as_of = tables::kTorchDate;
  return answer;
}

/// Whether wheels of that variant are known at all.
void judge_variant(const Choice& torch, std::vector<Answer>& answers) {
  const tables::TorchMinor* const minor = tables::torch_minor(torch.version);
  const std::size_t plus = torch.version.find('+');
  if (minor == nullptr || plus == std::string::npos) {
    return;
  }
  const std::string label = torch.version.substr(plus + 1);
  Answer answer;
  answer.of = {torch};
  answer.source = tables::kTorchSource;
  answer.as_of = tables::kTorchDate;
  answer.confidence = Confidence::reported;
  const bool known = std::ranges::count(words(minor->variants), label) != 0;
  answer.verdict = known ? Verdict::compatible : Verdict::unknown;
  answer.reason = "wheels of torch " + std::string(minor->minor) + " are known as " +
                  std::string(minor->variants) + (known ? "" : ", not as " + label);
  answers.push_back(std::move(answer));
}

void judge_cuda(const Set& versions, std::vector<Answer>& answers) {
  const auto torch = torch_of(versions);
  if (!torch) {
    return;
  }
  judge_variant(*torch, answers);
  const tables::TorchBuild build = tables::torch_build(torch->version);
  const std::string built = cuda_of_label(build.label);
  const auto cuda = first_of(versions, {"cuda", "cuda.runtime"});
  if (built.empty() || !cuda) {
    return;
  }
  Answer answer = begun(*torch, *cuda);
  answer.confidence = build.confidence;
  const std::string asking = "torch " + torch->version + " was built with CUDA " + built;
  if (major_of(built) != major_of(cuda->version)) {
    answer.verdict =
        build.confidence == Confidence::guess ? Verdict::unknown : Verdict::incompatible;
    answer.reason =
        asking + " and loads libraries of that major by their names, not of CUDA " + cuda->version;
  } else if (older(minor_of(cuda->version), built)) {
    answer.reason =
        asking + "; whether it needs what CUDA " + cuda->version + " lacks is in no table";
    answer.confidence = Confidence::reported;
  } else {
    answer.verdict = Verdict::compatible;
    answer.reason = asking + ", and " + cuda->version + " is of that major and not older";
  }
  answers.push_back(std::move(answer));
}

/// The key under which what a wheel requires would stand in a set.
std::optional<Choice> member(const Set& versions, std::string_view project) {
  const std::string key = "python.package." + std::string(project);
  if (const auto version = versions.one(key)) {
    return Choice{key, std::string(*version)};
  }
  if (project == "nccl" || project.starts_with("nvidia-nccl-cu")) {
    return first_of(versions, {"nccl"});
  }
  if (project == "cudnn" || project.starts_with("nvidia-cudnn-cu")) {
    return first_of(versions, {"cudnn"});
  }
  return std::nullopt;
}

bool is_library(std::string_view project, std::string_view name) {
  return project == name || project.starts_with("nvidia-" + std::string(name) + "-cu");
}

void judge_pins(const Set& versions, std::vector<Answer>& answers) {
  const auto torch = torch_of(versions);
  if (!torch) {
    return;
  }
  const tables::TorchBuild build = tables::torch_build(torch->version);
  for (const tables::TorchPin& pin : tables::torch_pins(build.release, build.label)) {
    const auto found = member(versions, pin.project);
    if (!found) {
      continue;
    }
    Answer answer = begun(*torch, *found);
    answer.source = "Requires-Dist of torch's wheels and their build scripts";
    answer.confidence = build.confidence == Confidence::guess ? Confidence::guess : pin.confidence;
    const std::string wants = "torch " + torch->version + " wants " + std::string(pin.project) +
                              " " + std::string(pin.version);
    const std::string_view public_part =
        std::string_view(found->version).substr(0, found->version.find('+'));
    if (public_part == pin.version) {
      answer.verdict = Verdict::compatible;
      answer.reason = wants;
    } else if (is_library(pin.project, "cudnn") && major_of(public_part) != major_of(pin.version)) {
      answer.verdict =
          answer.confidence == Confidence::guess ? Verdict::unknown : Verdict::incompatible;
      answer.reason = wants + " and loads libcudnn.so." + std::string(major_of(pin.version)) +
                      ", not that of " + found->version;
    } else if ((is_library(pin.project, "cudnn") || is_library(pin.project, "nccl")) &&
               older(pin.version, public_part)) {
      answer.verdict = Verdict::compatible;
      answer.confidence = Confidence::guess;
      answer.reason = wants + "; " + found->version + " is newer under the same library name";
    } else {
      answer.reason = wants + ", and whether it works with " + found->version + " is in no table";
    }
    answers.push_back(std::move(answer));
  }
}

/// A symbol that torch of some releases looks up when it is loaded.
struct Need {
  std::string_view minors;  ///< of torch, between blanks
  std::string_view symbol;
  std::string_view since;  ///< the first NCCL that has it
  std::string_view lacks;  ///< the last that has it not
  std::string_view source;
};

// Source: pytorch/pytorch issue 119072 and NVIDIA/nccl issue 1180 (undefined symbol:
// ncclCommRegister); src/nccl.h.in of NVIDIA/nccl at its tags.
constexpr auto kNeeds = std::to_array<Need>({
    {"2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 2.12 2.13 2.14", "ncclCommRegister", "2.19.1",
     "2.18.6", "pytorch/pytorch issue 119072, NVIDIA/nccl issue 1180, nccl.h at its tags"},
});

void judge_symbols(const Set& versions, std::vector<Answer>& answers) {
  const auto torch = torch_of(versions);
  const auto nccl = nccl_of(versions);
  const tables::TorchMinor* const minor = torch ? tables::torch_minor(torch->version) : nullptr;
  if (minor == nullptr || !nccl || !order(nccl->version, "1")) {
    return;
  }
  for (const Need& need : kNeeds) {
    if (std::ranges::count(words(need.minors), minor->minor) == 0) {
      continue;
    }
    Answer answer = begun(*torch, *nccl);
    answer.source = need.source;
    answer.as_of = "2026-06-11";
    // It was read for 2.2; later releases go on from that code.
    answer.confidence = minor->minor == "2.2" ? Confidence::certain : Confidence::reported;
    const std::string asking = "torch " + torch->version + " needs " + std::string(need.symbol);
    if (older(nccl->version, need.since)) {
      answer.verdict = Verdict::incompatible;
      answer.reason = asking + ", which NCCL " + nccl->version + " lacks (it is in " +
                      std::string(need.since) + " and newer): import torch would fail";
    } else {
      answer.verdict = Verdict::compatible;
      answer.reason = asking + ", which NCCL " + nccl->version + " has";
    }
    answers.push_back(std::move(answer));
  }
}

}  // namespace

extern const Rule torch_cuda{"torch-cuda", judge_cuda};
extern const Rule torch_pins{"torch-pins", judge_pins};
extern const Rule torch_symbols{"torch-symbols", judge_symbols};

}  // namespace goldenv::compat
