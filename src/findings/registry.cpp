#include <array>

#include "findings/rule.h"

namespace goldenv::findings {

// One line a rule, in sorted order; the definition stands in the file of that name.

extern const Rule cuda_libraries;
extern const Rule cuda_link;
extern const Rule driver_modules;
extern const Rule driver_userland;
extern const Rule fabric_manager;
extern const Rule gpu_counts;
extern const Rule kernel_headers;
extern const Rule module_files;
extern const Rule next_boot;
extern const Rule python_extensions;
extern const Rule python_files;
extern const Rule python_wheels;
extern const Rule unit_process;

std::span<const Rule* const> rules() {
  static constexpr auto kRules = std::to_array<const Rule*>({
      &cuda_libraries,
      &cuda_link,
      &driver_modules,
      &driver_userland,
      &fabric_manager,
      &gpu_counts,
      &kernel_headers,
      &module_files,
      &next_boot,
      &python_extensions,
      &python_files,
      &python_wheels,
      &unit_process,
  });
  return kRules;
}

}  // namespace goldenv::findings
