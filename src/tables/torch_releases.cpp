#include "tables/torch_releases.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "tables/torch_variants.h"

namespace goldenv::tables {
namespace {

// Sources: variants from a public index of wheels by torch build (PyTorch Geometric's) up to 2.5,
// from the build matrix of pytorch/pytorch and its Release Compatibility Matrix since; Python from
// that matrix. Releases as their tags.
constexpr auto kMinors = std::to_array<TorchMinor>({
    // clang-format off
    {"1.12", "1.12.0 1.12.1", "cpu cu102 cu113 cu116", "3.7", "3.10", ""},
    {"1.13", "1.13.0 1.13.1", "cpu cu116 cu117", "3.7", "3.10", "3.11"},
    {"2.0", "2.0.0 2.0.1", "cpu cu117 cu118", "3.8", "3.11", ""},
    {"2.1", "2.1.0 2.1.1 2.1.2", "cpu cu118 cu121", "3.8", "3.11", ""},
    {"2.2", "2.2.0 2.2.1 2.2.2", "cpu cu118 cu121", "3.8", "3.11", "3.12"},
    {"2.3", "2.3.0 2.3.1", "cpu cu118 cu121", "3.8", "3.11", "3.12"},
    {"2.4", "2.4.0 2.4.1", "cpu cu118 cu121 cu124", "3.8", "3.12", ""},
    {"2.5", "2.5.0 2.5.1", "cpu cu118 cu121 cu124", "3.9", "3.12", "3.13"},
    {"2.6", "2.6.0", "cpu cu118 cu124 cu126", "3.9", "3.13", ""},
    {"2.7", "2.7.0 2.7.1", "cpu cu118 cu126 cu128", "3.9", "3.13", ""},
    {"2.8", "2.8.0", "cpu cu126 cu128 cu129", "3.9", "3.13", ""},
    {"2.9", "2.9.0 2.9.1", "cpu cu126 cu128 cu130", "3.10", "3.14", ""},
    {"2.10", "2.10.0", "cpu cu126 cu128 cu130", "3.10", "3.14", ""},
    {"2.11", "2.11.0", "cpu cu126 cu128 cu130", "3.10", "3.14", ""},
    {"2.12", "2.12.0 2.12.1", "cpu cu126 cu130 cu132", "", "", ""},
    {"2.13", "2.13.0", "cpu cu126 cu130 cu132", "", "", ""},
    {"2.14", "2.14.0", "cu130", "", "", ""},
    // clang-format on
});

struct ArchRow {
  std::string_view minors;
  std::string_view labels;
  std::string_view archs;
  std::string_view source;
};

constexpr std::string_view kBuilder = "TORCH_CUDA_ARCH_LIST in pytorch/builder's release branch";
constexpr std::string_view kMatrix = "Release Compatibility Matrix of pytorch/pytorch";
constexpr std::string_view kScript = "pytorch/pytorch .ci/manywheel/build_cuda.sh at 00c7a380b836";

constexpr auto kArchs = std::to_array<ArchRow>({
    // clang-format off
    {"1.12", "cu102", "3.7 5.0 6.0 7.0", kBuilder},
    {"1.12", "cu113 cu116", "3.7 5.0 6.0 7.0 7.5 8.0 8.6", kBuilder},
    {"1.13", "cu116 cu117", "3.7 5.0 6.0 7.0 7.5 8.0 8.6", kBuilder},
    {"2.0", "cu117", "3.7 5.0 6.0 7.0 7.5 8.0 8.6", kBuilder},
    {"2.0", "cu118", "3.7 5.0 6.0 7.0 7.5 8.0 8.6 9.0", kBuilder},
    {"2.1 2.2 2.3", "cu121", "5.0 6.0 7.0 7.5 8.0 8.6 9.0", kBuilder},
    {"2.1 2.2 2.3", "cu118", "5.0 6.0 7.0 7.5 8.0 8.6 3.7 9.0", kBuilder},
    {"2.4 2.5", "cu121 cu124", "5.0 6.0 7.0 7.5 8.0 8.6 9.0", kBuilder},
    {"2.4 2.5", "cu118", "5.0 6.0 7.0 7.5 8.0 8.6 3.7 9.0", kBuilder},
    {"2.9", "cu126", "5.0 6.0 7.0 7.5 8.0 8.6 9.0", kScript},
    {"2.9", "cu128", "7.0 7.5 8.0 8.6 9.0 10.0 12.0", kScript},
    {"2.11", "cu126", "5.0 6.0 7.0 7.5 8.0 8.6 9.0", kMatrix},
    {"2.11", "cu128", "7.5 8.0 8.6 9.0 10.0 12.0", kMatrix},
    {"2.11", "cu130", "7.5 8.0 8.6 9.0 10.0 12.0+PTX", kMatrix},
    // clang-format on
});

bool has(std::string_view list, std::string_view word) {
  return std::ranges::count(words(list), word) != 0;
}

std::size_t index_of(const TorchMinor& minor) {
  return static_cast<std::size_t>(&minor - kMinors.data());
}

}  // namespace

std::span<const TorchMinor> torch_minors() { return kMinors; }

const TorchMinor* torch_minor(std::string_view version) {
  const std::string_view release = version.substr(0, version.find('+'));
  const auto* const row = std::ranges::find_if(
      kMinors, [release](const TorchMinor& minor) { return has(minor.releases, release); });
  return row == kMinors.end() ? nullptr : row;
}

TorchBuild torch_build(std::string_view version) {
  const std::size_t plus = version.find('+');
  TorchBuild build{version.substr(0, plus), {}, Confidence::certain};
  if (plus != std::string_view::npos) {
    build.label = version.substr(plus + 1);
  } else if (const auto variant = default_torch_variant(version)) {
    build.label = variant->label;
    build.confidence = variant->certain ? Confidence::certain : Confidence::guess;
  }
  return build;
}

TorchArchs torch_archs(std::string_view release, std::string_view label) {
  const TorchMinor* const minor = torch_minor(release);
  for (const ArchRow& row : kArchs) {
    if (minor != nullptr && has(row.minors, minor->minor) && has(row.labels, label)) {
      return {row.archs, row.source};
    }
  }
  return {};
}

TorchAbi torch_abi(std::string_view release, std::string_view label) {
  const TorchMinor* const minor = torch_minor(release);
  if (minor == nullptr) {
    return {};
  }
  // manylinux2014 up to 2.5, manylinux_2_28 from 2.7 on; in 2.6 the newest variant went first.
  const std::size_t at = index_of(*minor);
  const std::size_t moved = index_of(*torch_minor("2.6.0"));
  if (at > moved) {
    return {"2.28", true, Confidence::certain};
  }
  if (at == moved && label == "cu126") {
    return {"2.28", true, Confidence::guess};
  }
  return {"2.17", false, Confidence::guess};
}

}  // namespace goldenv::tables
