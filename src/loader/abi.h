#pragma once

#include <cstdint>
#include <string_view>

namespace goldenv::loader {

/// What a machine's loader takes: elf(5) e_machine, the flags of its entries in ld.so.cache
/// (glibc sysdeps/generic/ldconfig.h: FLAG_ELF_LIBC6 with the machine's bits), its own name, the
/// kernel's AT_PLATFORM, Debian's name for it.
struct Abi {
  std::uint16_t elf;
  std::uint32_t cache_flags;
  std::string_view interpreter;
  std::string_view platform;
  std::string_view multiarch;
};

inline constexpr Abi kX86{62, 0x0303, "/lib64/ld-linux-x86-64.so.2", "x86_64", "x86_64-linux-gnu"};
inline constexpr Abi kArm{183, 0x0a03, "/lib/ld-linux-aarch64.so.1", "aarch64",
                          "aarch64-linux-gnu"};
inline constexpr const Abi* kAbis[] = {&kX86, &kArm};

}  // namespace goldenv::loader
