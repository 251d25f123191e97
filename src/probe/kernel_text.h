#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv::probe {

/// The text of the second pair of parentheses of /proc/version, in which the compiler names itself;
/// pairs inside it are kept. Empty where there is none.
///   Linux version 6.1.0-57-amd64 (user@host) (gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld ...) #1 SMP
///   ...
std::string_view version_compiler(std::string_view proc_version);

/// uname -v without words that name who built it where (root@build-7).
std::string without_builder(std::string_view build);

/// The parameters of a kernel command line in order. Blanks inside double quotes belong to the
/// parameter, quotes are kept. Source: kernel's lib/cmdline.c, next_arg.
std::vector<std::string> split_cmdline(std::string_view text);

/// Letters of a taint mask, from bit 0: P, F, S, R, M, B, U, D, A, W, C, I, O, E, L, K, X, T, N, J;
/// a bit that has no letter yet is its number. Source: kernel's admin-guide/tainted-kernels.
std::vector<std::string> taint_letters(std::uint64_t mask);

/// The value of an option in a kernel's configuration: "y", "m", text without its quotes; none
/// where it is not set ("# CONFIG_X is not set") or not mentioned. `option` with CONFIG_.
struct ConfigLine {
  std::string value;
  std::uint32_t line = 0;
  bool set = false;
};
std::optional<ConfigLine> find_option(std::string_view config, std::string_view option);

/// The text in the quotes of `#define NAME "text"` in a C header; empty where there is none.
std::string_view quoted_definition(std::string_view header, std::string_view name);

}  // namespace goldenv::probe
