// A CUDA release and the driver: at least the one that the release notes pair with it, or by
// minor-version compatibility the one of its major's first release.
#include <array>
#include <string>
#include <utility>

#include "compat/rule.h"
#include "tables/cuda_drivers.h"

namespace goldenv::compat {
namespace {

using tables::Confidence;

struct Asking {
  std::string_view key;
  std::string_view called;
};

constexpr std::array<Asking, 5> kAsking = {{{"cuda", "CUDA "},
                                            {"cuda.runtime", "CUDA runtime "},
                                            {"cuda.toolkit", "CUDA toolkit "},
                                            {"torch.cuda", "torch's CUDA "},
                                            {"nccl.cuda", "NCCL's CUDA "}}};

Answer answer_of(std::string asking, std::string_view cuda, std::string_view driver,
                 std::string_view userland) {
  Answer answer;
  answer.source = tables::kCudaDriverSource;
  answer.as_of = tables::kCudaDriverDate;
  const tables::CudaDriver* row = tables::cuda_driver(cuda);
  if (row == nullptr) {
    row = tables::cuda_driver(minor_of(cuda));
  }
  const std::string_view floor = tables::least_driver_of_major(major_of(cuda));
  const std::string_view least = row == nullptr ? std::string_view{} : row->least;
  if ((floor.empty() && least.empty()) || !order(driver, "1")) {
    answer.reason = "no table says which driver " + asking + " needs";
    return answer;
  }
  if (!least.empty() && !older(driver, least)) {
    answer.verdict = Verdict::compatible;
    answer.reason = asking + " came with driver " + std::string(least) + ", and " +
                    std::string(driver) + " is not older";
    return answer;
  }
  if (!floor.empty() && !older(driver, floor)) {
    answer.verdict = Verdict::compatible;
    answer.reason = "programs of any CUDA " + std::string(major_of(cuda)) + " run on driver " +
                    std::string(floor) + " or newer (minor-version compatibility); PTX made by " +
                    asking + " is not compiled by a driver older than the one it came with" +
                    (least.empty() ? std::string{} : ", " + std::string(least));
    return answer;
  }
  // The earliest releases of a major came with drivers older than its floor.
  const std::string_view need =
      floor.empty() || (!least.empty() && older(least, floor)) ? least : floor;
  const bool forward = !userland.empty() && older(driver, userland) && !older(userland, need);
  answer.verdict = forward ? Verdict::unknown : Verdict::incompatible;
  answer.confidence = forward ? Confidence::guess : Confidence::certain;
  answer.reason = asking + " needs driver " + std::string(need) + " or newer, and " +
                  std::string(driver) + " is older";
  answer.reason += forward ? "; libcuda " + std::string(userland) +
                                 " comes from a forward compatibility package, which data-centre "
                                 "GPUs take on some older branches"
                           : "; a forward compatibility package (cuda-compat) can help on "
                             "data-centre GPUs";
  return answer;
}

void judge(const Set& versions, std::vector<Answer>& answers) {
  const auto driver = versions.one("driver");
  if (!driver) {
    return;
  }
  const std::string_view userland = versions.one("driver.libcuda").value_or("");
  for (const Asking& asking : kAsking) {
    if (const auto cuda = versions.one(asking.key)) {
      Answer answer =
          answer_of(std::string(asking.called) + std::string(*cuda), *cuda, *driver, userland);
      answer.of = {{std::string(asking.key), std::string(*cuda)}, {"driver", std::string(*driver)}};
      answers.push_back(std::move(answer));
    }
  }
}

}  // namespace

extern const Rule cuda_driver{"cuda-driver", judge};

}  // namespace goldenv::compat
