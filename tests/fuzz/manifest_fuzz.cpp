#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "manifest/manifest.h"

// Whatever is read as a manifest can be written and read again, and is then the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  // What is extended is the text itself under its own name: a circle at the second step at most.
  const auto fetch = [text](std::string_view name, std::string_view) {
    return goldenv::Result<goldenv::manifest::Text>(
        goldenv::manifest::Text{std::string(name), std::string(text)});
  };
  auto manifest = goldenv::manifest::load(text, "fuzz", fetch);
  if (!manifest) {
    if (manifest.error().message.find(':') == std::string::npos) {
      std::abort();
    }
    return 0;
  }
  manifest->extends.clear();
  const auto again =
      goldenv::manifest::load(goldenv::manifest::render(*manifest), "again", nullptr);
  if (!again || !(*again == *manifest)) {
    std::abort();
  }
  return 0;
}
