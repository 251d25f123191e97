// NCCL and cuDNN, and the CUDA majors that they were published for.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"
#include "compat/rule.h"

namespace goldenv::compat {
namespace {

/// Releases from `first` on, up to the next row's.
struct Range {
  std::string_view first;
  std::string_view majors;  ///< of CUDA, between blanks
};

// Source: the default gencode lists of makefiles/common.mk at each tag of NVIDIA/nccl, and names of
// wheels: the last for CUDA 11 is 2.21.5, the first for 13 is 2.27.7.
constexpr auto kNccl = std::to_array<Range>(
    {{"2.4", "8 9 10"}, {"2.7", "9 10 11"}, {"2.15", "11 12"}, {"2.22", "12"}, {"2.27", "12 13"}});

// Source: names of NVIDIA's archives: 8.8.1 the first for CUDA 12 (8.8.0 was not seen for any),
// 9.10.2 the last for 11, 9.12.0 the first for 13.
constexpr auto kCudnn = std::to_array<Range>({{"7.6", "9 10"},
                                              {"8.0", "10 11"},
                                              {"8.5", "11"},
                                              {"8.8", "11 12"},
                                              {"9.11", "12"},
                                              {"9.12", "12 13"}});

std::string_view majors_of(std::span<const Range> ranges, std::string_view version) {
  std::string_view majors;
  for (const Range& range : ranges) {
    if (!older(version, range.first) && order(version, range.first)) {
      majors = range.majors;
    }
  }
  return majors;
}

std::string either(std::string_view majors) {
  std::string text;
  for (const std::string_view major : words(majors)) {
    text += (text.empty() ? "" : " or ") + std::string(major);
  }
  return text;
}

void judge(const Set& versions, const Choice& library, std::string_view called,
           std::span<const Range> ranges, std::string_view source, std::string_view as_of,
           std::vector<Answer>& answers) {
  const auto cuda = first_of(versions, {"cuda", "cuda.runtime", "torch.cuda"});
  if (!cuda) {
    return;
  }
  Answer answer;
  answer.of = {library, *cuda};
  answer.source = source;
  answer.as_of = as_of;
  answer.confidence = tables::Confidence::reported;
  const std::string_view majors = majors_of(ranges, library.version);
  const std::string asking = std::string(called) + " " + library.version;
  if (majors.empty()) {
    answer.reason = "no table says for which CUDA " + asking + " was published";
  } else if (std::ranges::count(words(majors), major_of(cuda->version)) != 0) {
    answer.verdict = Verdict::compatible;
    answer.reason = asking + " was published for CUDA " + either(majors);
  } else {
    answer.verdict = Verdict::incompatible;
    answer.reason = asking + " was published for CUDA " + either(majors) + ", not for " +
                    std::string(major_of(cuda->version)) + " (" + cuda->version + ")";
  }
  answers.push_back(std::move(answer));
}

void judge_nccl(const Set& versions, std::vector<Answer>& answers) {
  if (const auto nccl = nccl_of(versions)) {
    judge(versions, *nccl, "NCCL", kNccl, "makefiles of NVIDIA/nccl at its tags, names of wheels",
          "2026-06-11", answers);
  }
}

void judge_cudnn(const Set& versions, std::vector<Answer>& answers) {
  if (const auto cudnn = cudnn_of(versions)) {
    judge(versions, *cudnn, "cuDNN", kCudnn, "names of NVIDIA's archives by CUDA major",
          "2026-09-29", answers);
  }
}

}  // namespace

extern const Rule cudnn_cuda{"cudnn-cuda", judge_cudnn};
extern const Rule nccl_cuda{"nccl-cuda", judge_nccl};

}  // namespace goldenv::compat
