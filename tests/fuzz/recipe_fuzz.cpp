#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "recipe/recipe.h"

// Whatever is read as a recipe can be expanded: each source is there or is passed over with a
// reason, and nothing that is there has a placeholder left. What a pattern makes of a version it
// finds again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv::recipe;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto recipe = parse(text, "fuzz");
  if (!recipe) {
    if (!recipe.error().message.starts_with("fuzz:")) {
      std::abort();
    }
    return 0;
  }
  const Values values = {{"version", "12.1.1"}, {"name", "x"},        {"cuda", "12.1.1"},
                         {"cudart", "12.1.1"},  {"python", "3.11.7"}, {"torch", "2.2.1+cu121"},
                         {"arch", "x86_64"}};
  for (const Values& some : {values, Values{}}) {
    const Expansion expansion = expand(*recipe, some);
    if (expansion.sources.size() + expansion.passed_over.size() != recipe->sources.size()) {
      std::abort();
    }
  }
  for (const Source& source : recipe->sources) {
    const auto filled = fill(source.name, values);
    if (filled && filled->size() <= 256 && source.name.find("}{") == std::string::npos) {
      static_cast<void>(match(source.name, *filled));
    }
  }
  static_cast<void>(keys_of(*recipe, values));
  return 0;
}
