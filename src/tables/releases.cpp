#include "tables/releases.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "tables/cuda_releases.h"
#include "tables/torch_releases.h"

namespace goldenv::tables {
namespace {

struct Row {
  std::string_view version;
  std::string_view date;
  std::string_view note;
};

// Source: the tags of NVIDIA/nccl with the dates of their commits; 2.31.2 is a wheel that was seen.
constexpr auto kNccl = std::to_array<Row>({
    // clang-format off
    {"2.3.5", "2018-09-25", ""},
    {"2.3.7", "2018-10-24", ""},
    {"2.4.2", "2019-01-29", ""},
    {"2.4.6", "2019-04-05", ""},
    {"2.4.7", "2019-05-10", ""},
    {"2.4.8", "2019-06-25", ""},
    {"2.5.6", "2019-11-19", ""},
    {"2.5.7", "2020-01-16", ""},
    {"2.6.4", "2020-03-20", ""},
    {"2.7.3", "2020-06-08", ""},
    {"2.7.5", "2020-06-26", ""},
    {"2.7.6", "2020-06-26", ""},
    {"2.7.8", "2020-07-27", ""},
    {"2.8.3", "2020-11-17", ""},
    {"2.8.4", "2021-02-09", ""},
    {"2.9.6", "2021-04-12", ""},
    {"2.9.8", "2021-05-10", ""},
    {"2.9.9", "2021-05-12", ""},
    {"2.10.3", "2021-07-08", ""},
    {"2.11.4", "2021-09-08", ""},
    {"2.12.7", "2022-03-02", ""},
    {"2.12.10", "2022-03-30", ""},
    {"2.12.12", "2022-05-13", ""},
    {"2.13.4", "2022-07-11", ""},
    {"2.14.3", "2022-08-18", ""},
    {"2.15.1", "2022-09-27", ""},
    {"2.15.5", "2022-10-25", ""},
    {"2.16.2", "2022-11-30", ""},
    {"2.16.5", "2023-02-02", ""},
    {"2.17.1", "2023-03-01", ""},
    {"2.18.1", "2023-04-18", ""},
    {"2.18.3", "2023-06-14", ""},
    {"2.18.5", "2023-08-23", ""},
    {"2.18.6", "2023-10-10", ""},
    {"2.19.1", "2023-09-26", ""},
    {"2.19.3", "2023-09-26", ""},
    {"2.19.4", "2023-11-13", ""},
    {"2.20.3", "2024-02-13", ""},
    {"2.20.5", "2024-02-26", ""},
    {"2.21.5", "2024-04-02", ""},
    {"2.22.3", "2024-06-19", ""},
    {"2.23.4", "2024-09-16", ""},
    {"2.24.3", "2025-01-07", ""},
    {"2.25.1", "2025-01-27", ""},
    {"2.26.2", "2025-03-12", ""},
    {"2.26.3", "2025-04-22", ""},
    {"2.26.5", "2025-04-22", ""},
    {"2.26.6", "2025-05-20", ""},
    {"2.27.3", "2025-05-29", ""},
    {"2.27.5", "2025-06-18", ""},
    {"2.27.6", "2025-07-11", ""},
    {"2.27.7", "2025-07-24", ""},
    {"2.28.3", "2025-09-02", ""},
    {"2.28.7", "2025-10-17", ""},
    {"2.28.9", "2025-11-10", ""},
    {"2.29.2", "2025-12-24", ""},
    {"2.29.3", "2026-02-03", ""},
    {"2.29.7", "2026-02-27", ""},
    {"2.30.3", "2026-04-14", ""},
    {"2.30.4", "2026-04-22", ""},
    {"2.30.7", "2026-06-04", ""},
    {"2.31.2", "", "seen as a wheel only"},
    // clang-format on
});

// Sources: spack's recipe of cuDNN (archives by CUDA major), the channels nvidia and conda-forge,
// the pins of torch's wheels, NVIDIA's release manifests. What is noted is what an archive was seen
// for.
constexpr auto kCudnn = std::to_array<Row>({
    // clang-format off
    {"7.6.0", "", ""},
    {"7.6.3.30", "", "CUDA 10.1"},
    {"7.6.4.38", "", "CUDA 9.0, 9.2, 10.0, 10.1"},
    {"7.6.5.32", "", "CUDA 9.0, 9.2, 10.0, 10.1, 10.2"},
    {"8.0.0.180", "", "CUDA 10.2, 11.0"},
    {"8.0.2.39", "", "CUDA 10.1, 10.2, 11.0"},
    {"8.0.3.33", "", "CUDA 10.1, 10.2, 11.0"},
    {"8.0.4.30", "", "CUDA 10.1, 10.2, 11.0, 11.1"},
    {"8.0.5.39", "", "CUDA 10.1, 10.2, 11.0, 11.1"},
    {"8.1.0.77", "", "CUDA 10.2, 11.2"},
    {"8.1.1.33", "", "CUDA 10.2, 11.2"},
    {"8.2.0.53", "", "CUDA 10.2, 11.3"},
    {"8.2.1.32", "", ""},
    {"8.2.4.15", "", "CUDA 11.4"},
    {"8.3.1.22", "", "CUDA 11.5"},
    {"8.3.2.44", "", "CUDA 11.5"},
    {"8.3.3.40", "", "CUDA 10.2, 11.5"},
    {"8.4.0.27", "", "CUDA 10.2, 11.6"},
    {"8.4.1.50", "", ""},
    {"8.5.0.96", "", "CUDA 11"},
    {"8.6.0.163", "", "CUDA 11"},
    {"8.7.0.84", "", "CUDA 11"},
    {"8.8.0.121", "", ""},
    {"8.8.1.3", "", "CUDA 11, 12"},
    {"8.9.0.131", "", "CUDA 11, 12"},
    {"8.9.1.23", "", ""},
    {"8.9.2.26", "", "CUDA 12"},
    {"8.9.4.25", "", "CUDA 12"},
    {"8.9.5.29", "", "CUDA 11, 12"},
    {"8.9.5.30", "", "CUDA 11, 12"},
    {"8.9.6.50", "", "CUDA 12"},
    {"8.9.7.29", "", "CUDA 11, 12"},
    {"9.1.0.70", "", "CUDA 11, 12"},
    {"9.1.1.17", "", "CUDA 12"},
    {"9.2.0.82", "", "CUDA 11, 12"},
    {"9.2.1.18", "", ""},
    {"9.3.0.75", "", ""},
    {"9.5.1.17", "", "CUDA 11, 12"},
    {"9.6.0.74", "", "CUDA 11, 12"},
    {"9.7.1.26", "", "CUDA 11, 12"},
    {"9.8.0.87", "", "CUDA 11, 12"},
    {"9.9.0.52", "", "CUDA 11, 12"},
    {"9.10.0.56", "", "CUDA 11, 12"},
    {"9.10.1.4", "", "CUDA 11, 12"},
    {"9.10.2.21", "", "CUDA 11, 12"},
    {"9.11.0.98", "", "CUDA 12"},
    {"9.11.1.4", "", "CUDA 12"},
    {"9.12.0.46", "", "CUDA 12, 13"},
    {"9.13.0.50", "", "CUDA 12, 13"},
    {"9.13.1.26", "", "CUDA 12, 13"},
    {"9.14.0.64", "", "CUDA 12, 13"},
    {"9.15.0.57", "", "CUDA 12"},
    {"9.15.0.58", "", "CUDA 13"},
    {"9.15.1.9", "", "CUDA 12, 13"},
    {"9.16.0.29", "", "CUDA 12, 13"},
    {"9.17.0.29", "", "CUDA 12, 13"},
    {"9.17.1.4", "", ""},
    {"9.18.0.77", "", ""},
    {"9.18.1.3", "", ""},
    {"9.19.0.56", "", "CUDA 12, 13"},
    {"9.19.1.2", "", ""},
    {"9.20.0.48", "", "CUDA 13"},
    {"9.21.0.82", "", ""},
    {"9.21.1.3", "", ""},
    {"9.22.0.52", "", ""},
    {"9.23.0.39", "", ""},
    {"9.23.1.3", "", ""},
    {"9.24.0.43", "", "CUDA 13"},
    {"9.27.0.42", "2026-09-29", "CUDA 12, 13"},
    // clang-format on
});

// Source: the tags of NVIDIA/open-gpu-kernel-modules, which begin with 515. Some releases for data
// centres alone have none (535.86.09, 570.86.10).
constexpr std::string_view kDriver =
    // clang-format off
    "515.43.04 515.48.07 515.57 515.65.01 515.65.07 515.76 515.86.01 515.105.01 "
    "520.56.06 520.61.05 520.61.07 "
    "525.53 525.60.11 525.60.13 525.78.01 525.85.05 525.85.12 525.89.02 525.105.17 "
    "525.116.03 525.116.04 525.125.06 525.147.05 "
    "530.30.02 530.41.03 "
    "535.43.02 535.54.03 535.86.05 535.86.10 535.98 535.104.05 535.104.12 535.113.01 "
    "535.129.03 535.146.02 535.154.05 535.161.07 535.161.08 535.171.04 535.179 535.183.01 "
    "535.183.06 535.216.01 535.216.03 535.230.02 535.247.01 535.261.03 535.274.02 "
    "535.288.01 "
    "545.23.06 545.23.08 545.29.02 545.29.03 545.29.06 "
    "550.40.07 550.54.14 550.54.15 550.67 550.76 550.78 550.90.07 550.90.12 550.100 "
    "550.107.02 550.120 550.127.05 550.127.08 550.135 550.142 550.144.03 550.163.01 "
    "555.42.02 555.42.06 555.52.04 555.58 555.58.02 "
    "560.28.03 560.31.02 560.35.03 "
    "565.57.01 565.77 "
    "570.86.15 570.86.16 570.124.04 570.124.06 570.133.07 570.133.20 570.144 570.148.08 "
    "570.153.02 570.158.01 570.169 570.172.08 570.181 570.190 570.195.03 570.207 "
    "570.211.01 "
    "575.51.02 575.51.03 575.57.08 575.64 575.64.03 575.64.05 "
    "580.65.06 580.76.05 580.82.07 580.82.09 580.95.05 580.105.08 580.119.02 580.126.09 "
    "580.126.16 580.126.18 580.126.20 580.142 "
    "590.44.01 590.48.01 "
    "595.44.02 595.44.03 595.45.04";
// clang-format on

constexpr std::array<std::string_view, 5> kComponents = {"cuda", "cudnn", "driver", "nccl",
                                                         "torch"};

template <std::size_t N>
std::vector<Release> from_rows(const std::array<Row, N>& rows) {
  std::vector<Release> releases;
  releases.reserve(N);
  for (const Row& row : rows) {
    releases.push_back({std::string(row.version), std::string(row.date), std::string(row.note)});
  }
  return releases;
}

std::vector<Release> cuda_list() {
  std::vector<Release> releases;
  for (const std::string_view release : cuda_releases()) {
    releases.push_back({std::string(release), {}, {}});
  }
  return releases;
}

std::vector<Release> driver_list() {
  std::vector<Release> releases;
  for (const std::string_view driver : words(kDriver)) {
    releases.push_back({std::string(driver), {}, {}});
  }
  return releases;
}

/// Every release with every variant that was published of it.
std::vector<Release> torch_list() {
  std::vector<Release> releases;
  for (const TorchMinor& minor : torch_minors()) {
    for (const std::string_view release : words(minor.releases)) {
      for (const std::string_view label : words(minor.variants)) {
        releases.push_back({std::string(release) + "+" + std::string(label), {}, {}});
      }
    }
  }
  return releases;
}

}  // namespace

std::span<const std::string_view> listed_components() { return kComponents; }

ReleaseList releases_of(std::string_view component) {
  using version::Scheme;
  if (component == "nccl") {
    return {"nccl",       Scheme::dotted,      "tags of NVIDIA/nccl",
            "2026-06-11", Confidence::certain, from_rows(kNccl)};
  }
  if (component == "cudnn") {
    return {"cudnn",      Scheme::dotted,       "recipes of spack and NVIDIA's channels",
            "2026-09-29", Confidence::reported, from_rows(kCudnn)};
  }
  if (component == "driver") {
    return {"driver",     Scheme::dotted,      "tags of NVIDIA/open-gpu-kernel-modules",
            "2026-03-05", Confidence::certain, driver_list()};
  }
  if (component == "cuda") {
    return {"cuda",
            Scheme::dotted,
            "NVIDIA's release manifests",
            cuda_table_date(),
            Confidence::certain,
            cuda_list()};
  }
  if (component == "torch") {
    return {"torch", Scheme::pep440, kTorchSource, kTorchDate, Confidence::reported, torch_list()};
  }
  return {};
}

}  // namespace goldenv::tables
