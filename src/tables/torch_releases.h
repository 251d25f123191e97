#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tables/confidence.h"

namespace goldenv::tables {

/// What holds of all releases of one minor version of torch, of its Linux x86_64 wheels.
struct TorchMinor {
  std::string_view minor;         ///< "2.2"
  std::string_view releases;      ///< between blanks: "2.2.0 2.2.1 2.2.2"
  std::string_view variants;      ///< local labels between blanks: "cpu cu118 cu121"
  std::string_view first_python;  ///< "3.8"
  std::string_view last_python;   ///< "3.11"
  std::string_view trial_python;  ///< also served, called experimental: "3.12"; "" where none is
};

/// Oldest first.
std::span<const TorchMinor> torch_minors();
/// By a version of torch, its local label passed over; nullptr where the table has it not, also of
/// pre-releases and builds of others ("2.2.0a0+81ea7a4").
const TorchMinor* torch_minor(std::string_view version);

/// The public version and the label of one: {"2.2.1", "cu121"} of "2.2.1+cu121"; without a label
/// that of the index's default wheel, with how sure that is.
struct TorchBuild {
  std::string_view release;
  std::string_view label;  ///< "" where it is not known
  Confidence confidence = Confidence::certain;
};
TorchBuild torch_build(std::string_view version);

/// What a wheel of torch requires at one version, or holds inside.
struct TorchPin {
  std::string_view project;  ///< "nvidia-nccl-cu12"; "nccl" of what lies inside the wheel
  std::string_view version;
  Confidence confidence = Confidence::certain;
};
/// Sorted by project; empty where the table has no such build.
std::vector<TorchPin> torch_pins(std::string_view release, std::string_view label);

/// The GPU code in a wheel: "5.0 6.0 7.0 7.5 8.0 8.6 9.0", with "+PTX" behind the one whose PTX is
/// in it too.
struct TorchArchs {
  std::string_view archs;  ///< "" where the table has no such build
  std::string_view source;
};
TorchArchs torch_archs(std::string_view release, std::string_view label);

/// The glibc that the wheel's image was built on, "2.17", and whether it uses the new C++ ABI.
struct TorchAbi {
  std::string_view glibc;  ///< "" where the table has it not
  bool cxx11 = false;
  Confidence confidence = Confidence::certain;  ///< of cxx11
};
TorchAbi torch_abi(std::string_view release, std::string_view label);

inline constexpr std::string_view kTorchSource =
    "wheel listings and the Release Compatibility Matrix of pytorch/pytorch";
inline constexpr std::string_view kTorchDate = "2026-03-24";

}  // namespace goldenv::tables
