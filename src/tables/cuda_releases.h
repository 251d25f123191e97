#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv::tables {

/// The number that one part of a CUDA toolkit bears. `name` is that of NVIDIA's release manifests:
/// cuda_cudart, cuda_nvcc, cuda_nvrtc, libcublas, libcufft, libnvjitlink, cuda_cupti.
struct CudaPart {
  std::string_view name;
  std::string_view version;
};

/// What one number says alone.
struct CudaEvidence {
  std::string name;
  std::string version;
  std::vector<std::string> releases;  ///< that ship it, by number; empty where the table has it not
  friend bool operator==(const CudaEvidence&, const CudaEvidence&) = default;
};

/// The toolkit release to which parts belong.
struct CudaRelease {
  enum class Kind {
    none,      ///< no part that the table has a column for
    releases,  ///< `releases`: one where the numbers decide it, else all that they leave
    prefix,    ///< a number that is in no row: `prefix` is major.minor of the release
    mixed,     ///< no release ships them all: `evidence` says what each stands for
  };
  Kind kind = Kind::none;
  std::vector<std::string> releases;   ///< by number: "12.6.2", "12.6.3"
  std::string prefix;                  ///< "12.6"
  std::vector<CudaEvidence> evidence;  ///< one a part that was looked up, in the order given
  friend bool operator==(const CudaRelease&, const CudaRelease&) = default;
};

/// The release of a set of parts: the releases that each number is shipped in are intersected. The
/// runtime's number alone leaves up to three releases; cuBLAS and nvcc narrow it. Parts of other
/// names are passed over. A set of wheels mixes releases on purpose (torch 2.7 pins cudart of
/// 12.6.2 or 12.6.3 beside nvrtc of 12.6.2 and cuBLAS of 12.6.3), so for a Python environment give
/// cudart, libcublas and cuda_nvcc only.
CudaRelease find_cuda_release(std::span<const CudaPart> parts);

/// All releases of the table, by number.
std::vector<std::string_view> cuda_releases();

/// The number that a part bears in a release: "12.1.105" of cuda_cudart in 12.1.1; "" where the
/// table has it not.
std::string_view number_in_cuda(std::string_view release, std::string_view part);

/// Date of the newest release in the table, "2026-09-16": numbers that came later are in no row.
std::string_view cuda_table_date();

/// Whether `text` is a release as NVIDIA labels it ("12.1.1") and not the date form that the
/// version.json of some releases holds under "cuda" ("11.8.20220929", "12.2.20230823"), of which
/// only the first two numbers mean the release.
bool is_cuda_label(std::string_view text);

}  // namespace goldenv::tables
