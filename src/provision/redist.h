#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provision/realiser.h"
#include "store/store.h"

// NVIDIA's redistributable archives: what lies behind an index redistrib_<label>.json. The index
// is read as it is served; which of its parts a component is made of, its recipe says.
namespace goldenv::provision {

/// What is wanted of one index.
struct RedistWish {
  std::string index;               ///< its URL
  std::vector<std::string> parts;  ///< "cuda_cudart", "libcublas"
  std::string platform;            ///< "linux-x86_64", "linux-sbsa"
  std::string variant;             ///< "cuda12" where the index may have that level; "" any
  std::string version;             ///< what the parts' own has to be or to begin with; "" any
  std::string context;             ///< what else the answer is remembered for
};

/// One archive.
struct RedistPart {
  std::string name;
  std::string version;  ///< the part's own: "12.1.105" in the index of 12.1.1
  std::string url;
  std::string sha256;
  std::optional<std::uint64_t> size_bytes;
  friend bool operator==(const RedistPart&, const RedistPart&) = default;
};
using RedistParts = std::vector<RedistPart>;

/// The wanted parts, in the order in which they are wanted. Form of an index: {"cuda_cudart":
/// {"version": "12.1.105", "linux-x86_64": {"relative_path": ..., "sha256": ..., "size":
/// "1234"}}}, where a level of variants ({"cuda12": {...}}) may stand between platform and archive.
/// Errors: malformed (another form; a path that leads out); absent (no such part, platform,
/// variant or version: what there is).
Result<RedistParts> parse_redist(std::string_view text, const RedistWish& wish);

/// What an index said before, none where it was never asked.
std::optional<RedistParts> remembered_redist(const RedistWish& wish, const store::Store& store);

/// Asks all indexes at once; one answer a wish, in their order. What is found is remembered.
/// Errors: usage (an index by http on another machine), failed.
Result<std::vector<Result<RedistParts>>> ask_redist(const std::vector<RedistWish>& wishes,
                                                    const Network& network,
                                                    const store::Store& store);

}  // namespace goldenv::provision
