// Any bytes as /etc/ld.so.cache.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "loader/loader.h"

namespace {

void require(bool holds, const char* promise) {
  if (holds) return;
  std::cerr << "broken: " << promise << "\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entries = goldenv::loader::parse_cache(bytes);
  if (!entries) {
    require(entries.error().code == goldenv::Errc::malformed && !entries.error().message.empty(),
            "errors are malformed and say why");
    return 0;
  }
  require(entries->size() <= size / 24, "no more entries than the file can hold");
  for (const goldenv::loader::CacheEntry& entry : *entries) {
    require(bytes.find(entry.soname) != bytes.npos && bytes.find(entry.path) != bytes.npos,
            "names stand in the file");
    require(entry.soname.find('\0') == entry.soname.npos, "names end at their NUL");
  }
  return 0;
}
