#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "host/host.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// One CUDA toolkit on the disk.
struct CudaFolder {
  std::string path;  ///< without links
  facts::Reading release =
      facts::Unknown{};  ///< 12.1.1; one_of, or a prefix where files say no more
  facts::Evidence release_evidence;
};

/// The nvcc of a toolkit.
struct CudaNvcc {
  facts::Reading version = facts::Unknown{};  ///< 12.1.105
  std::string release;                        ///< "12.1", which stands beside it, or ""
  facts::Evidence evidence;
};

/// Which toolkit a build would take, by the rule of torch.utils.cpp_extension: CUDA_HOME,
/// CUDA_PATH, the nvcc on PATH, /usr/local/cuda.
struct CudaChoice {
  std::string path;                            ///< without links; "" where there is none
  std::string why;                             ///< "CUDA_HOME", "nvcc on PATH", "/usr/local/cuda"
  facts::Reading otherwise = facts::Absent{};  ///< where there is none
  std::optional<Error> error;                  ///< where that is unknown, why
  std::vector<std::string> notes;
};

/// Paths of all toolkits found, without links, sorted: /usr/local/cuda*, /opt/cuda*, Debian's
/// /usr/lib/cuda, NVIDIA's HPC SDK, conda prefixes that hold nvcc, and the one that a build would
/// take.
const std::vector<std::string>& cuda_folders(Survey& survey);
/// Places of toolkits that are there and could not be looked at.
const std::vector<Error>& unseen_cuda_folders(Survey& survey);
const CudaChoice& cuda_choice(Survey& survey);

/// The toolkit that a path without links lies in, or "". Errors: those of looking at the folders
/// above it.
Result<std::string> toolkit_of(Survey& survey, std::string_view path);

/// What is known of the toolkit in a folder, learned once a survey.
const CudaFolder& cuda_folder(Survey& survey, const std::string& path);
const CudaNvcc& cuda_nvcc(Survey& survey, const std::string& path);

/// The program that a wrapper script starts, links followed: the first word of it that is the path
/// of another nvcc, or nvcc.bin beside it; `program` itself where it is no script. Sample of
/// Debian's /usr/bin/nvcc: exec /usr/lib/nvidia-cuda-toolkit/bin/nvcc "$@"
/// Errors: those of reading it and of looking beside it.
Result<std::string> behind_wrapper(const host::Host& host, const std::string& program);

/// The release that a toolkit's parts belong to, by the table of releases.
struct CudaReleaseReading {
  facts::Reading reading = facts::Unknown{};  ///< value, one_of, prefix, or unknown
  std::string basis;                          ///< "table of 2026-09-16: cuda_cudart 12.1.105"
  std::vector<std::string> notes;
  bool is_mixed = false;  ///< no release ships all of them; the notes say what each stands for
};

/// `parts`: (name in NVIDIA's manifests, version): {"cuda_cudart", "12.1.105"}. Where no release
/// has them all, cudart, cuBLAS and nvcc decide.
CudaReleaseReading release_of_parts(const std::vector<std::pair<std::string, std::string>>& parts);

/// The versions in a toolkit's version.json by component; empty where the text is none. Sample:
/// {"cuda": {"name": "CUDA SDK", "version": "12.2.2"}, "cuda_cudart": {"version": "12.2.140"}}
std::vector<std::pair<std::string, std::string>> parse_version_json(std::string_view text);

}  // namespace goldenv::probe
