#include <array>

#include "compat/rule.h"

namespace goldenv::compat {

// One line a rule, in sorted order; the definition stands in the file of that name.

extern const Rule cuda_driver;
extern const Rule cudnn_cuda;
extern const Rule driver_userland;
extern const Rule gpu_cuda;
extern const Rule gpu_driver;
extern const Rule gpu_torch;
extern const Rule kernel_modules;
extern const Rule nccl_cuda;
extern const Rule torch_abi;
extern const Rule torch_cuda;
extern const Rule torch_glibc;
extern const Rule torch_pins;
extern const Rule torch_python;
extern const Rule torch_symbols;

std::span<const Rule* const> rules() {
  static constexpr auto kRules = std::to_array<const Rule*>({
      &cuda_driver,
      &cudnn_cuda,
      &driver_userland,
      &gpu_cuda,
      &gpu_driver,
      &gpu_torch,
      &kernel_modules,
      &nccl_cuda,
      &torch_abi,
      &torch_cuda,
      &torch_glibc,
      &torch_pins,
      &torch_python,
      &torch_symbols,
  });
  return kRules;
}

}  // namespace goldenv::compat
