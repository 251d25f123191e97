// torch's wheels and what they stand on: Python, glibc, the C++ ABI.
#include <string>
#include <utility>

#include "compat/rule.h"
#include "tables/torch_releases.h"

namespace goldenv::compat {
namespace {

using tables::Confidence;

struct Asked {
  Choice torch;
  Choice other;
  const tables::TorchMinor* minor = nullptr;
  tables::TorchBuild build;
};

/// torch and another member, where the tables know that torch.
std::optional<Asked> asked(const Set& versions, std::string_view key) {
  auto torch = torch_of(versions);
  const auto other = versions.one(key);
  if (!torch || !other) {
    return std::nullopt;
  }
  Asked found{*std::move(torch), {std::string(key), std::string(*other)}, nullptr, {}};
  found.minor = tables::torch_minor(found.torch.version);
  return found.minor == nullptr ? std::nullopt : std::optional(std::move(found));
}

Answer begun(const Asked& asked) {
  Answer answer;
  answer.of = {asked.torch, asked.other};
  answer.source = tables::kTorchSource;
  answer.as_of = tables::kTorchDate;
  answer.confidence = Confidence::reported;
  return answer;
}

void judge_python(const Set& versions, std::vector<Answer>& answers) {
  const auto found = asked(versions, "python");
  if (!found || !order(minor_of(found->other.version), "1")) {
    return;
  }
  Answer answer = begun(*found);
  const std::string_view python = minor_of(found->other.version);
  const tables::TorchMinor& minor = *found->minor;
  const std::string served = "wheels of torch " + std::string(minor.minor) + " are for Python " +
                             std::string(minor.first_python) + " to " +
                             std::string(minor.last_python);
  if (minor.first_python.empty()) {
    answer.reason = "no table says which Pythons torch " + std::string(minor.minor) + " is for";
  } else if (python == minor.trial_python) {
    answer.reason = served + "; for " + std::string(python) + " on trial";
  } else if (older(python, minor.first_python) || older(minor.last_python, python)) {
    answer.verdict = Verdict::incompatible;
    answer.reason = served + ", not " + std::string(python);
  } else {
    answer.verdict = Verdict::compatible;
    answer.reason = served;
  }
  answers.push_back(std::move(answer));
}

void judge_glibc(const Set& versions, std::vector<Answer>& answers) {
  const auto found = asked(versions, "glibc");
  if (!found || !order(found->other.version, "1")) {
    return;
  }
  const tables::TorchBuild build = tables::torch_build(found->torch.version);
  const tables::TorchAbi abi = tables::torch_abi(build.release, build.label);
  if (abi.glibc.empty()) {
    return;
  }
  Answer answer = begun(*found);
  answer.source = "images in torch's build scripts (manylinux2014: 2.17, manylinux_2_28: 2.28)";
  const bool fits = !older(found->other.version, abi.glibc);
  answer.verdict = fits ? Verdict::compatible : Verdict::incompatible;
  answer.reason = "torch " + found->torch.version + " was built for glibc " +
                  std::string(abi.glibc) + " and newer" +
                  (fits ? std::string{} : ", not " + found->other.version);
  answers.push_back(std::move(answer));
}

void judge_abi(const Set& versions, std::vector<Answer>& answers) {
  const auto found = asked(versions, "torch.cxx11_abi");
  if (!found) {
    return;
  }
  const tables::TorchBuild build = tables::torch_build(found->torch.version);
  const tables::TorchAbi abi = tables::torch_abi(build.release, build.label);
  Answer answer = begun(*found);
  answer.source = "torch's build scripts";
  answer.confidence = abi.confidence;
  const bool same = (found->other.version == "true") == abi.cxx11;
  answer.verdict = same                                  ? Verdict::compatible
                   : abi.confidence == Confidence::guess ? Verdict::unknown
                                                         : Verdict::incompatible;
  answer.reason = "wheels of torch " + found->torch.version + " have the " +
                  (abi.cxx11 ? "new" : "old") + " C++ ABI";
  answers.push_back(std::move(answer));
}

}  // namespace

extern const Rule torch_abi{"torch-abi", judge_abi};
extern const Rule torch_glibc{"torch-glibc", judge_glibc};
extern const Rule torch_python{"torch-python", judge_python};

}  // namespace goldenv::compat
