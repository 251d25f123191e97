#pragma once

#include <string>
#include <string_view>

#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// What the text in a libnccl says. Sample: "NCCL version 2.28.9+cuda13.0".
struct NcclText {
  std::string version;  ///< "2.28.9"; "" where the text states none
  std::string cuda;     ///< "13.0"; "" where it states none, as old builds with unfilled macros
                        ///< ("2.5.7+cudaCUDA_MAJOR.CUDA_MINOR")
  friend bool operator==(const NcclText&, const NcclText&) = default;
};

/// `text`: what stands behind "NCCL version ". Also "2.28.9 compiled with CUDA 13.0".
NcclText parse_nccl_text(std::string_view text);

/// A libnccl: its version from its own text, else its name, else who installed it.
struct NcclFile {
  facts::Reading version = facts::Unknown{};
  facts::Reading cuda = facts::Unknown{};
  facts::Evidence evidence;  ///< from, basis, build_id; notes: packages that say otherwise
};

/// Of the library at `path` whose file is `real_path`.
NcclFile read_nccl(Survey& survey, const std::string& path, const std::string& real_path);

}  // namespace goldenv::probe
