#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::compose {

/// Where a file that a process has mapped comes from.
enum class Provenance {
  object,       ///< of an object of the store
  environment,  ///< a copy that was made for a generation
  system,       ///< the C library, the interpreter and its own, the driver: no environment has them
  foreign,      ///< anything else
  deleted,      ///< no longer there under its name
};

struct MappedFile {
  std::string path;
  Provenance provenance = Provenance::foreign;
  std::string object;  ///< its id, of an object
  friend bool operator==(const MappedFile&, const MappedFile&) = default;
};

/// What a process may have mapped without being wrong.
struct MapSetting {
  std::string store;          ///< the store's folder, without links
  std::string python_prefix;  ///< of the base interpreter, without links: "/usr"; "" for none
};

/// The files that a process has mapped which have code in them or are called like libraries, by the
/// text of /proc/PID/maps; it names what links lead to, so each line is the answer by itself.
/// Sorted by path, each once; the loader's ld.so.cache is none of them. A library of the kind that
/// environments bring (NCCL, cuDNN, the CUDA toolkit's, torch's) is foreign wherever it lies
/// outside the store. Source: proc(5).
std::vector<MappedFile> mapped_files(std::string_view maps, const MapSetting& setting);

std::string_view name(Provenance provenance);

}  // namespace goldenv::compose
