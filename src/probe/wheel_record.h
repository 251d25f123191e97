#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace goldenv::probe {

/// A line of a dist-info's RECORD: a file that the installer wrote.
struct RecordedFile {
  std::string path;              ///< relative to the site folder, or absolute
  std::optional<Sha256> digest;  ///< none where the line has none, or one of another kind
  std::optional<std::uint64_t> size_bytes;

  friend bool operator==(const RecordedFile&, const RecordedFile&) = default;
};

/// Format: PEP 376 and 627, CSV with the digest in base64 for URLs without padding. Sample:
/// nvidia/nccl/lib/libnccl.so.2,sha256=Brk0eSpwYLB3mpFgO7DVVVJrbPEgQKsIuyYr9H0jxSg,217995896
/// Lines that are none are passed over. `only_libraries`: those whose name holds ".so".
std::vector<RecordedFile> parse_record(std::string_view text, bool only_libraries);

/// A digest in base64 for URLs, without padding (43 characters); none where it is none.
std::optional<Sha256> parse_url_digest(std::string_view text);

}  // namespace goldenv::probe
