#pragma once

#include <optional>
#include <string_view>

namespace goldenv::tables {

/// The CUDA variant of the wheel that the Python package index serves under a plain version.
struct TorchVariant {
  std::string_view label;  ///< "cu121": the local version that torch itself says
  bool certain = false;    ///< read off a wheel of that release; else a guess, never grounds for
                           ///< calling two builds the same
};

/// By the public version of torch ("2.2.1", also with a local label, which is passed over), of its
/// Linux x86_64 wheels; nothing where the table has no such release. Wheels of other architectures
/// under the same number are other builds.
std::optional<TorchVariant> default_torch_variant(std::string_view version);

/// Whether the index's default wheel of a plain version is the build that calls itself `built`:
/// "2.2.1" serves "2.2.1+cu121". Only where the table is certain.
bool serves(std::string_view plain, std::string_view built);

}  // namespace goldenv::tables
