#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probe/cuda_folder.h"
#include "probe/header_version.h"
#include "probe/library_copies.h"
#include "probe/library_owner.h"
#include "probe/nccl_library.h"

namespace probe = goldenv::probe;

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_numbers(std::string_view text) {
  return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

// Texts by which CUDA's libraries and packages state their versions: nothing but numbers comes out
// of them, and a name that is taken apart can be put together again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const probe::NcclText nccl = probe::parse_nccl_text(text);
  require(is_numbers(nccl.version) && is_numbers(nccl.cuda));
  require(is_numbers(probe::version_in_name(text)));
  const auto versions = probe::parse_version_json(text);
  require(versions.empty() || text.find('{') != std::string_view::npos);
  if (const auto wheel = probe::parse_dist_info(text)) {
    require(wheel->first + "-" + wheel->second + ".dist-info" == text);
  }
  const auto [upstream, revision] = probe::debian_parts(text);
  require(text.ends_with(revision.empty() ? upstream : upstream + "-" + revision) ||
          text.ends_with("-"));
  const auto in_record = probe::size_in_record(text, "libnccl.so.2");
  require(!in_record || text.find("libnccl.so.2") != std::string_view::npos);
  if (const auto version =
          probe::version_in_header(text, {"NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"})) {
    require(is_numbers(*version));
  }
  require(!probe::is_library_of(text, "libnccl") || text.starts_with("libnccl"));
  return 0;
}
