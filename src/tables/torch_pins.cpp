#include <algorithm>
#include <array>

#include "base/text.h"
#include "tables/torch_releases.h"

namespace goldenv::tables {
namespace {

struct Row {
  std::string_view releases;  ///< between blanks
  std::string_view label;
  Confidence confidence;     ///< of `pins`
  std::string_view pins;     ///< "PROJECT VERSION; ..."; of what lies inside the wheel, the key
  std::string_view guessed;  ///< the same, from memory
};

// Sources: certain rows from the Requires-Dist of published wheels, as METADATA or the logs of pip
// quote it; reported ones from the build scripts of pytorch/builder and pytorch/pytorch, the
// Release Compatibility Matrix of pytorch/pytorch's RELEASE.md, and what pip freeze printed. cuDNN
// and NCCL without nvidia- lie inside the wheel. From 2.11 on the toolkit's libraries come by
// cuda-toolkit, and their numbers are what it was resolved to.
constexpr auto kRows = std::to_array<Row>({
    // clang-format off
    {"1.12.0 1.12.1", "cu102", Confidence::reported,
     "cudnn 7.6.5.32",
     ""},
    {"1.12.0 1.12.1", "cu113", Confidence::reported,
     "cudnn 8.3.2.44",
     ""},
    {"1.12.0 1.12.1", "cu116", Confidence::reported,
     "cudnn 8.3.2.44",
     ""},
    {"1.13.0 1.13.1", "cu116", Confidence::reported,
     "cudnn 8.3.2.44",
     ""},
    {"1.13.0 1.13.1", "cu117", Confidence::reported,
     "cudnn 8.5.0.96",
     ""},
    {"2.0.0 2.0.1", "cu117", Confidence::certain,
     "nvidia-cuda-nvrtc-cu11 11.7.99; nvidia-cuda-runtime-cu11 11.7.99; "
     "nvidia-cuda-cupti-cu11 11.7.101; nvidia-cudnn-cu11 8.5.0.96; nvidia-cublas-cu11 "
     "11.10.3.66; nvidia-cufft-cu11 10.9.0.58; nvidia-curand-cu11 10.2.10.91; "
     "nvidia-cusolver-cu11 11.4.0.1; nvidia-cusparse-cu11 11.7.4.91; nvidia-nccl-cu11 "
     "2.14.3; nvidia-nvtx-cu11 11.7.91; triton 2.0.0",
     ""},
    {"2.0.0 2.0.1", "cu118", Confidence::reported,
     "cudnn 8.7.0.84",
     "nccl 2.15.5"},
    {"2.1.0 2.1.1 2.1.2", "cu121", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.1.105; nvidia-cuda-runtime-cu12 12.1.105; "
     "nvidia-cuda-cupti-cu12 12.1.105; nvidia-cudnn-cu12 8.9.2.26; nvidia-cublas-cu12 "
     "12.1.3.1; nvidia-cufft-cu12 11.0.2.54; nvidia-curand-cu12 10.3.2.106; "
     "nvidia-cusolver-cu12 11.4.5.107; nvidia-cusparse-cu12 12.1.0.106; "
     "nvidia-nccl-cu12 2.18.1; nvidia-nvtx-cu12 12.1.105; triton 2.1.0",
     ""},
    {"2.1.0 2.1.1 2.1.2", "cu118", Confidence::reported,
     "cudnn 8.7.0.84",
     ""},
    {"2.2.0 2.2.1 2.2.2", "cu121", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.1.105; nvidia-cuda-runtime-cu12 12.1.105; "
     "nvidia-cuda-cupti-cu12 12.1.105; nvidia-cudnn-cu12 8.9.2.26; nvidia-cublas-cu12 "
     "12.1.3.1; nvidia-cufft-cu12 11.0.2.54; nvidia-curand-cu12 10.3.2.106; "
     "nvidia-cusolver-cu12 11.4.5.107; nvidia-cusparse-cu12 12.1.0.106; "
     "nvidia-nccl-cu12 2.19.3; nvidia-nvtx-cu12 12.1.105",
     "triton 2.2.0"},
    {"2.2.0 2.2.1 2.2.2", "cu118", Confidence::reported,
     "nvidia-cudnn-cu11 8.7.0.84; nccl 2.19.3",
     ""},
    {"2.3.0 2.3.1", "cu121", Confidence::reported,
     "nvidia-cuda-nvrtc-cu12 12.1.105; nvidia-cuda-runtime-cu12 12.1.105; "
     "nvidia-cuda-cupti-cu12 12.1.105; nvidia-cudnn-cu12 8.9.2.26; nvidia-cublas-cu12 "
     "12.1.3.1; nvidia-cufft-cu12 11.0.2.54; nvidia-curand-cu12 10.3.2.106; "
     "nvidia-cusolver-cu12 11.4.5.107; nvidia-cusparse-cu12 12.1.0.106; "
     "nvidia-nccl-cu12 2.20.5; nvidia-nvtx-cu12 12.1.105",
     ""},
    {"2.3.0 2.3.1", "cu118", Confidence::reported,
     "nvidia-cuda-nvrtc-cu11 11.8.89; nvidia-cuda-runtime-cu11 11.8.89; "
     "nvidia-cuda-cupti-cu11 11.8.87; nvidia-cudnn-cu11 8.7.0.84; nvidia-cublas-cu11 "
     "11.11.3.6; nvidia-cufft-cu11 10.9.0.58; nvidia-curand-cu11 10.3.0.86; "
     "nvidia-cusolver-cu11 11.4.1.48; nvidia-cusparse-cu11 11.7.5.86; nvidia-nccl-cu11 "
     "2.20.5; nvidia-nvtx-cu11 11.8.86",
     ""},
    {"2.4.0 2.4.1", "cu121", Confidence::reported,
     "nvidia-cuda-nvrtc-cu12 12.1.105; nvidia-cuda-runtime-cu12 12.1.105; "
     "nvidia-cuda-cupti-cu12 12.1.105; nvidia-cudnn-cu12 9.1.0.70; nvidia-cublas-cu12 "
     "12.1.3.1; nvidia-cufft-cu12 11.0.2.54; nvidia-curand-cu12 10.3.2.106; "
     "nvidia-cusolver-cu12 11.4.5.107; nvidia-cusparse-cu12 12.1.0.106; "
     "nvidia-nccl-cu12 2.20.5; nvidia-nvtx-cu12 12.1.105",
     "triton 3.0.0"},
    {"2.4.0 2.4.1", "cu118", Confidence::reported,
     "nvidia-cuda-nvrtc-cu11 11.8.89; nvidia-cuda-runtime-cu11 11.8.89; "
     "nvidia-cuda-cupti-cu11 11.8.87; nvidia-cudnn-cu11 9.1.0.70; nvidia-cublas-cu11 "
     "11.11.3.6; nvidia-cufft-cu11 10.9.0.58; nvidia-curand-cu11 10.3.0.86; "
     "nvidia-cusolver-cu11 11.4.1.48; nvidia-cusparse-cu11 11.7.5.86; nvidia-nccl-cu11 "
     "2.20.5; nvidia-nvtx-cu11 11.8.86",
     ""},
    {"2.4.0 2.4.1", "cu124", Confidence::reported,
     "nvidia-cudnn-cu12 9.1.0.70; nvidia-nccl-cu12 2.20.5",
     ""},
    {"2.5.0 2.5.1", "cu118", Confidence::reported,
     "cudnn 9.1.0.70",
     "nccl 2.21.5"},
    {"2.5.0 2.5.1", "cu121", Confidence::reported,
     "cudnn 9.1.0.70",
     "nccl 2.21.5"},
    {"2.5.0 2.5.1", "cu124", Confidence::reported,
     "cudnn 9.1.0.70",
     "nccl 2.21.5; triton 3.1.0"},
    {"2.6.0", "cu124", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.4.127; nvidia-cuda-runtime-cu12 12.4.127; "
     "nvidia-cuda-cupti-cu12 12.4.127; nvidia-cudnn-cu12 9.1.0.70; nvidia-cublas-cu12 "
     "12.4.5.8; nvidia-cufft-cu12 11.2.1.3; nvidia-curand-cu12 10.3.5.147; "
     "nvidia-cusolver-cu12 11.6.1.9; nvidia-cusparse-cu12 12.3.1.170; "
     "nvidia-cusparselt-cu12 0.6.2; nvidia-nccl-cu12 2.21.5; nvidia-nvtx-cu12 "
     "12.4.127; nvidia-nvjitlink-cu12 12.4.127; triton 3.2.0",
     ""},
    {"2.6.0", "cu118", Confidence::reported,
     "nvidia-cuda-nvrtc-cu11 11.8.89; nvidia-cuda-runtime-cu11 11.8.89; "
     "nvidia-cuda-cupti-cu11 11.8.87; nvidia-cudnn-cu11 9.1.0.70; nvidia-cublas-cu11 "
     "11.11.3.6; nvidia-cufft-cu11 10.9.0.58; nvidia-curand-cu11 10.3.0.86; "
     "nvidia-cusolver-cu11 11.4.1.48; nvidia-cusparse-cu11 11.7.5.86; nvidia-nccl-cu11 "
     "2.21.5; nvidia-nvtx-cu11 11.8.86",
     ""},
    {"2.6.0", "cu126", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.6.77; nvidia-cuda-runtime-cu12 12.6.77; "
     "nvidia-cuda-cupti-cu12 12.6.80; nvidia-cudnn-cu12 9.5.1.17; nvidia-cublas-cu12 "
     "12.6.4.1; nvidia-cufft-cu12 11.3.0.4; nvidia-curand-cu12 10.3.7.77; "
     "nvidia-cusolver-cu12 11.7.1.2; nvidia-cusparse-cu12 12.5.4.2; "
     "nvidia-cusparselt-cu12 0.6.3; nvidia-nccl-cu12 2.21.5; nvidia-nvtx-cu12 12.6.77; "
     "nvidia-nvjitlink-cu12 12.6.85",
     ""},
    {"2.7.0 2.7.1", "cu126", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.6.77; nvidia-cuda-runtime-cu12 12.6.77; "
     "nvidia-cuda-cupti-cu12 12.6.80; nvidia-cudnn-cu12 9.5.1.17; nvidia-cublas-cu12 "
     "12.6.4.1; nvidia-cufft-cu12 11.3.0.4; nvidia-curand-cu12 10.3.7.77; "
     "nvidia-cusolver-cu12 11.7.1.2; nvidia-cusparse-cu12 12.5.4.2; "
     "nvidia-cusparselt-cu12 0.6.3; nvidia-nccl-cu12 2.26.2; nvidia-nvtx-cu12 12.6.77; "
     "nvidia-nvjitlink-cu12 12.6.85; nvidia-cufile-cu12 1.11.1.6",
     ""},
    {"2.7.0 2.7.1", "cu118", Confidence::reported,
     "nvidia-cuda-nvrtc-cu11 11.8.89; nvidia-cuda-runtime-cu11 11.8.89; "
     "nvidia-cuda-cupti-cu11 11.8.87; nvidia-cudnn-cu11 9.1.0.70; nvidia-cublas-cu11 "
     "11.11.3.6; nvidia-cufft-cu11 10.9.0.58; nvidia-curand-cu11 10.3.0.86; "
     "nvidia-cusolver-cu11 11.4.1.48; nvidia-cusparse-cu11 11.7.5.86; nvidia-nccl-cu11 "
     "2.21.5; nvidia-nvtx-cu11 11.8.86",
     ""},
    {"2.7.0 2.7.1", "cu128", Confidence::reported,
     "nvidia-nccl-cu12 2.26.2; nvidia-cuda-nvrtc-cu12 12.8.61; "
     "nvidia-cuda-runtime-cu12 12.8.57; nvidia-cuda-cupti-cu12 12.8.57; "
     "nvidia-cublas-cu12 12.8.3.14; nvidia-cufft-cu12 11.3.3.41; nvidia-curand-cu12 "
     "10.3.9.55; nvidia-cusolver-cu12 11.7.2.55; nvidia-cusparse-cu12 12.5.7.53; "
     "nvidia-cusparselt-cu12 0.6.3; nvidia-nvtx-cu12 12.8.55; nvidia-nvjitlink-cu12 "
     "12.8.61; nvidia-cufile-cu12 1.13.0.11",
     ""},
    {"2.8.0", "cu128", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.8.93; nvidia-cuda-runtime-cu12 12.8.90; "
     "nvidia-cuda-cupti-cu12 12.8.90; nvidia-cudnn-cu12 9.10.2.21; nvidia-cublas-cu12 "
     "12.8.4.1; nvidia-cufft-cu12 11.3.3.83; nvidia-curand-cu12 10.3.9.90; "
     "nvidia-cusolver-cu12 11.7.3.90; nvidia-cusparse-cu12 12.5.8.93; "
     "nvidia-cusparselt-cu12 0.7.1; nvidia-nccl-cu12 2.27.3; nvidia-nvtx-cu12 12.8.90; "
     "nvidia-nvjitlink-cu12 12.8.93; nvidia-cufile-cu12 1.13.1.3; triton 3.4.0",
     ""},
    {"2.8.0", "cu126", Confidence::certain,
     "nvidia-cuda-cupti-cu12 12.6.80; nvidia-cudnn-cu12 9.10.2.21; nvidia-cublas-cu12 "
     "12.6.4.1; nvidia-cufft-cu12 11.3.0.4; nvidia-curand-cu12 10.3.7.77; "
     "nvidia-cusolver-cu12 11.7.1.2; nvidia-cusparse-cu12 12.5.4.2; "
     "nvidia-cusparselt-cu12 0.7.1; nvidia-nccl-cu12 2.27.3; nvidia-nvtx-cu12 12.6.77; "
     "nvidia-nvjitlink-cu12 12.6.85; nvidia-cufile-cu12 1.11.1.6; triton 3.4.0",
     ""},
    {"2.8.0", "cu129", Confidence::reported,
     "cudnn 9.10.2.21",
     ""},
    {"2.9.0 2.9.1", "cu128", Confidence::certain,
     "nvidia-cuda-nvrtc-cu12 12.8.93; nvidia-cuda-runtime-cu12 12.8.90; "
     "nvidia-cuda-cupti-cu12 12.8.90; nvidia-cudnn-cu12 9.10.2.21; nvidia-cublas-cu12 "
     "12.8.4.1; nvidia-cufft-cu12 11.3.3.83; nvidia-curand-cu12 10.3.9.90; "
     "nvidia-cusolver-cu12 11.7.3.90; nvidia-cusparse-cu12 12.5.8.93; "
     "nvidia-cusparselt-cu12 0.7.1; nvidia-nccl-cu12 2.27.5; nvidia-nvshmem-cu12 "
     "3.3.20; nvidia-nvtx-cu12 12.8.90; nvidia-nvjitlink-cu12 12.8.93; "
     "nvidia-cufile-cu12 1.13.1.3; triton 3.5.0",
     ""},
    {"2.9.0 2.9.1", "cu130", Confidence::reported,
     "nvidia-cudnn-cu13 9.13.0.50; nvidia-nccl-cu13 2.27.7; nvidia-cublas 13.0.0.19; "
     "nvidia-cuda-runtime 13.0.48; nvidia-cuda-nvrtc 13.0.48; nvidia-cuda-cupti "
     "13.0.48; nvidia-cufft 12.0.0.15; nvidia-cufile 1.15.0.42; nvidia-curand "
     "10.4.0.35; nvidia-cusolver 12.0.3.29; nvidia-cusparse 12.6.2.49; "
     "nvidia-cusparselt-cu13 0.8.0; nvidia-nvjitlink 13.0.39; nvidia-nvtx 13.0.39; "
     "nvidia-nvshmem-cu13 3.3.24",
     ""},
    {"2.10.0", "cu126", Confidence::reported,
     "nvidia-cublas-cu12 12.6.4.1; nvidia-cuda-cupti-cu12 12.6.80; "
     "nvidia-cuda-nvrtc-cu12 12.6.77; nvidia-cuda-runtime-cu12 12.6.77; "
     "nvidia-cudnn-cu12 9.10.2.21; nvidia-cufft-cu12 11.3.0.4; nvidia-cufile-cu12 "
     "1.11.1.6; nvidia-curand-cu12 10.3.7.77; nvidia-cusolver-cu12 11.7.1.2; "
     "nvidia-cusparse-cu12 12.5.4.2; nvidia-cusparselt-cu12 0.7.1; nvidia-nccl-cu12 "
     "2.27.5; nvidia-nvjitlink-cu12 12.6.85; nvidia-nvshmem-cu12 3.4.5; "
     "nvidia-nvtx-cu12 12.6.77; triton 3.6.0",
     ""},
    {"2.10.0", "cu128", Confidence::certain,
     "nvidia-cudnn-cu12 9.10.2.21; nvidia-nccl-cu12 2.27.5; triton 3.6.0",
     ""},
    {"2.10.0", "cu130", Confidence::reported,
     "nvidia-cudnn-cu13 9.15.1.9; nvidia-nccl-cu13 2.28.9",
     ""},
    {"2.11.0", "cu128", Confidence::certain,
     "cuda-toolkit 12.8.1; nvidia-cudnn-cu12 9.19.0.56; nvidia-cusparselt-cu12 0.7.1; "
     "nvidia-nccl-cu12 2.28.9; nvidia-nvshmem-cu12 3.4.5; triton 3.6.0; "
     "nvidia-cublas-cu12 12.8.4.1; nvidia-cuda-runtime-cu12 12.8.90; nvidia-cufft-cu12 "
     "11.3.3.83; nvidia-cusolver-cu12 11.7.3.90; nvidia-cusparse-cu12 12.5.8.93",
     ""},
    {"2.11.0", "cu130", Confidence::reported,
     "cuda-toolkit 13.0.2; nvidia-cudnn-cu13 9.19.0.56; nvidia-cusparselt-cu13 0.8.0; "
     "nvidia-nccl-cu13 2.28.9; nvidia-nvshmem-cu13 3.4.5; triton 3.6.0; nvidia-cublas "
     "13.1.0.3; nvidia-cuda-runtime 13.0.96; nvidia-cuda-nvrtc 13.0.88; "
     "nvidia-cuda-cupti 13.0.85; nvidia-cufft 12.0.0.61; nvidia-cufile 1.15.1.6; "
     "nvidia-curand 10.4.0.35; nvidia-cusolver 12.0.4.66; nvidia-cusparse 12.6.3.3; "
     "nvidia-nvjitlink 13.0.88; nvidia-nvtx 13.0.85",
     ""},
    {"2.12.0 2.12.1", "cu130", Confidence::certain,
     "cuda-toolkit 13.0.2; nvidia-cudnn-cu13 9.20.0.48; nvidia-cusparselt-cu13 0.8.1; "
     "nvidia-nccl-cu13 2.29.7; nvidia-nvshmem-cu13 3.4.5; nvidia-cublas 13.1.1.3; "
     "nvidia-cuda-runtime 13.0.96",
     ""},
    {"2.13.0", "cu130", Confidence::certain,
     "cuda-toolkit 13.0.3; nvidia-cudnn-cu13 9.20.0.48; nvidia-cusparselt-cu13 0.8.1; "
     "nvidia-nccl-cu13 2.29.7; nvidia-nvshmem-cu13 3.4.5; triton 3.7.1",
     ""},
    {"2.14.0", "cu130", Confidence::reported,
     "cuda-toolkit 13.0.3; nvidia-cudnn-cu13 9.24.0.43; nvidia-cusparselt-cu13 0.8.1; "
     "nvidia-nccl-cu13 2.30.7; nvidia-nvshmem-cu13 3.4.5; triton 3.8.0",
     ""},
    // clang-format on
});

void add(std::vector<TorchPin>& pins, std::string_view text, Confidence confidence) {
  for (const std::string_view part : split(text, ';')) {
    const std::vector<std::string_view> pair = words(part);
    if (pair.size() == 2) {
      pins.push_back({pair[0], pair[1], confidence});
    }
  }
}

}  // namespace

std::vector<TorchPin> torch_pins(std::string_view release, std::string_view label) {
  std::vector<TorchPin> pins;
  for (const Row& row : kRows) {
    if (row.label == label && std::ranges::count(words(row.releases), release) != 0) {
      add(pins, row.pins, row.confidence);
      add(pins, row.guessed, Confidence::guess);
    }
  }
  std::ranges::sort(pins, {}, &TorchPin::project);
  return pins;
}

}  // namespace goldenv::tables
