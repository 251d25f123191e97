#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "doc/node.h"
#include "doc/reader.h"

using goldenv::doc::Format;

namespace {

using goldenv::doc::Node;

bool identical(const Node& a, const Node& b) {
  return a.kind == b.kind && a.mark == b.mark && a.quoted == b.quoted && a.text == b.text &&
         std::ranges::equal(a.items, b.items, identical) &&
         std::ranges::equal(a.entries, b.entries, [](const Node::Entry& x, const Node::Entry& y) {
           return x.key == y.key && x.mark == y.mark && identical(x.value, y.value);
         });
}

}  // namespace

// What the quick readers give is what the general ones give. Whatever is read can be written and
// read again, and is then the same. The limits are small, so that time is spent on odd texts and
// not on large ones.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  constexpr goldenv::doc::Limits kLimits{.bytes = 1u << 16, .depth = 64, .nodes = 1u << 12};
  for (const Format format : {Format::yaml, Format::json}) {
    const auto node = goldenv::doc::parse(text, format, "fuzz", kLimits);
    if (!node) {
      if (!node.error().message.starts_with("fuzz:")) {
        std::abort();
      }
      continue;
    }
    const auto clean = goldenv::doc::check_encoding(text, format, "fuzz", kLimits);
    const auto general = format == Format::yaml ? goldenv::doc::read_yaml(*clean, "fuzz", kLimits)
                                                : goldenv::doc::read_json(*clean, "fuzz", kLimits);
    if (!general || !identical(*node, *general)) {
      std::abort();
    }
    for (const bool option : {false, true}) {
      const auto from_yaml =
          goldenv::doc::parse(goldenv::doc::render_yaml(*node, option), Format::yaml, "yaml");
      const auto from_json =
          goldenv::doc::parse(goldenv::doc::render_json(*node, option), Format::json, "json");
      if (!from_yaml || !from_json || !goldenv::doc::same(*node, *from_yaml) ||
          !goldenv::doc::same(*node, *from_json)) {
        std::abort();
      }
    }
  }
  return 0;
}
