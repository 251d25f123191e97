#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// A package that says it installed a file.
struct LibraryOwner {
  std::string package;  ///< "nvidia_nccl_cu12", "libnccl2", "cuda-cudart"
  std::string version;  ///< upstream part: "2.18.1", "12.1.105"
  std::string build;    ///< what follows it: "1+cuda12.1" of libnccl2 2.18.1-1+cuda12.1
  std::string from;     ///< the dist-info folder, /var/lib/dpkg/status, the conda-meta file
  /// What the package's file list says of the file's size is not the file's: another package wrote
  /// it.
  bool is_other_file = false;

  friend bool operator==(const LibraryOwner&, const LibraryOwner&) = default;
};

/// Who says so, and what could not be looked at and may say it as well, or otherwise.
struct LibraryOwners {
  std::vector<LibraryOwner> found;
  std::vector<Error> unseen;
};

/// Names under which packages install one library. Wheels by the name of the dist-info folder
/// without the CUDA suffix ("nvidia_nccl" is also nvidia_nccl_cu12); Debian and conda packages by
/// the beginning of the name.
struct PackageNames {
  std::span<const std::string_view> wheels;
  std::span<const std::string_view> debian;
  std::span<const std::string_view> conda;
};

/// Who installed the library at `path` (links not followed) whose file is `real_path`: wheels of
/// the site folder or CUDA tree it lies in whose RECORD lists it, conda packages and Debian
/// packages whose file lists do. Those that agree about its size first.
LibraryOwners library_owners(Survey& survey, std::string_view path, std::string_view real_path,
                             const PackageNames& names);

/// "nvidia_nccl_cu12" and "2.18.1" of "nvidia_nccl_cu12-2.18.1.dist-info".
std::optional<std::pair<std::string, std::string>> parse_dist_info(std::string_view folder);

/// Whether the wheel name is `stem` or `stem` with a CUDA suffix: nvidia_nccl_cu12 of nvidia_nccl.
bool is_wheel_of(std::string_view wheel, std::string_view stem);

/// Size in bytes that a RECORD states for the file whose path ends in `/<name>`. Format: PEP 376,
/// `nvidia/nccl/lib/libnccl.so.2,sha256=Brk0...,217995896`. Errors: absent where it lists no such
/// file.
Result<std::uint64_t> size_in_record(std::string_view record, std::string_view name);

/// "12.2.140" of "libcudart.so.12.2.140"; "" where there is nothing behind ".so.".
std::string version_in_name(std::string_view file_name);

/// Installed Debian packages of the machine's own architecture, name -> version. Empty where there
/// is no dpkg. Errors: those of reading its list.
const Result<std::vector<std::pair<std::string, std::string>>>& debian_packages(Survey& survey);

/// "2.36" and "9+deb12u14" of [epoch:]upstream[-revision]. Source: deb-version(7).
std::pair<std::string, std::string> debian_parts(std::string_view version);

}  // namespace goldenv::probe
