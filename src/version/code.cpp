#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "version/number.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

/// Far above every release, and low enough that no sum overflows.
constexpr std::uint64_t kLargestMajor = 999;

std::string_view library(Code code) {
  switch (code) {
    case Code::nccl:
      return "NCCL";
    case Code::cudnn:
      return "cuDNN";
    case Code::cuda:
      return "CUDA";
  }
  return "";
}

Error no_code(Code code, std::uint64_t value) {
  return Error{Errc::malformed,
               std::to_string(value) + " is no version code of " + std::string(library(code)),
               {}};
}

struct Numbers {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
};

// Sources: NCCL_VERSION in nccl.h, CUDNN_VERSION in cudnn_version.h, CUDA_VERSION in cuda.h.

/// NCCL has two digits for the minor number from 2.9 on, cuDNN from 9.0 on.
bool is_wide(Code code, const Numbers& n) {
  return code == Code::nccl ? n.major > 2 || (n.major == 2 && n.minor > 8) : n.major > 8;
}

std::uint64_t encode(Code code, const Numbers& n) {
  if (code == Code::cuda) return n.major * 1000 + n.minor * 10;
  return (is_wide(code, n) ? n.major * 10000 : n.major * 1000) + n.minor * 100 + n.patch;
}

Numbers decode(Code code, std::uint64_t value) {
  if (code == Code::cuda) return {value / 1000, value % 1000 / 10, 0};
  const std::uint64_t per_major = value < 10000 ? 1000 : 10000;
  return {value / per_major, value % per_major / 100, value % 100};
}

}  // namespace

Result<std::string> from_code(Code code, std::uint64_t value) {
  const Numbers n = decode(code, value);
  // What would be written otherwise (NCCL 20804 for 2.8.4, CUDA 12011) no release has.
  if (n.major == 0 || n.major > kLargestMajor || encode(code, n) != value) {
    return no_code(code, value);
  }
  std::string text = std::to_string(n.major) + "." + std::to_string(n.minor);
  if (code != Code::cuda) text += "." + std::to_string(n.patch);
  return text;
}

Result<std::uint64_t> to_code(Code code, std::string_view text) {
  GOLDENV_TRY(const Version version, parse(Scheme::dotted, text));
  const std::vector<std::string_view> parts = split(version.text, '.');
  const std::size_t wanted = code == Code::cuda ? 2 : 3;
  if (parts.size() != wanted) {
    return no_version(text, std::string(library(code)) + "'s codes have " + std::to_string(wanted) +
                                " numbers, this has " + std::to_string(parts.size()));
  }
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = to_number(parts[i]);
    if (!number || *number > kLargestMajor) {
      return no_version(text, "its number " + quoted(parts[i]) + " fits no version code");
    }
    numbers[i] = *number;
  }
  const Numbers n{numbers[0], numbers[1], numbers[2]};
  const std::uint64_t value = encode(code, n);
  const Numbers back = decode(code, value);
  if (n.major == 0 || back.major != n.major || back.minor != n.minor || back.patch != n.patch) {
    return no_version(text, "no version code of " + std::string(library(code)) + " stands for it");
  }
  return value;
}

}  // namespace goldenv::version
