#include "tables/torch_variants.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace goldenv::tables {
namespace {

struct Row {
  std::string_view minor;
  TorchVariant variant;
};

// The variant changes with minor releases only. Source of the certain rows: what the default
// wheels' METADATA requires (nvidia-cuda-runtime-cu12==12.1.105, cuda-toolkit==13.0.2), read for
// one release of each minor. The others are from memory.
constexpr auto kRows = std::to_array<Row>({
    {"1.12", {"cu102", false}},
    {"1.13", {"cu117", false}},
    {"2.0", {"cu117", true}},
    {"2.1", {"cu121", true}},
    {"2.2", {"cu121", true}},
    {"2.3", {"cu121", true}},
    {"2.4", {"cu121", true}},
    {"2.5", {"cu124", true}},
    {"2.6", {"cu124", true}},
    {"2.7", {"cu126", true}},
    {"2.8", {"cu128", true}},
    {"2.9", {"cu128", true}},
    {"2.10", {"cu128", true}},
    {"2.11", {"cu130", true}},
    {"2.12", {"cu130", true}},
    {"2.13", {"cu130", true}},
    {"2.14", {"cu130", true}},
});

/// Numbers and dots only: a pre-release or a nightly build has other wheels.
bool is_release(std::string_view version) {
  const std::ptrdiff_t dots = std::ranges::count(version, '.');
  return (dots == 1 || dots == 2) && !version.starts_with('.') && !version.ends_with('.') &&
         version.find("..") == std::string_view::npos &&
         version.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view major_minor(std::string_view version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

}  // namespace

std::optional<TorchVariant> default_torch_variant(std::string_view version) {
  version = version.substr(0, version.find('+'));
  if (!is_release(version)) {
    return std::nullopt;
  }
  const auto* const row = std::ranges::find(kRows, major_minor(version), &Row::minor);
  return row == kRows.end() ? std::nullopt : std::optional(row->variant);
}

bool serves(std::string_view plain, std::string_view built) {
  const std::size_t plus = built.find('+');
  if (plain.find('+') != std::string_view::npos || plus == std::string_view::npos ||
      built.substr(0, plus) != plain) {
    return false;
  }
  const auto variant = default_torch_variant(plain);
  return variant && variant->certain && built.substr(plus + 1) == variant->label;
}

}  // namespace goldenv::tables
