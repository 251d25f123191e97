#pragma once

#include <span>
#include <string>
#include <string_view>

namespace goldenv::facts {

/// The names that kernels are known to have, sorted; `*` stands for an interface.
std::span<const std::string_view> known_sysctls();

/// Whether `written` is `real` but for one slip (a letter too many, too few, another one, or two
/// swapped) of the kind that no two real names differ by: inside a word of six letters or more,
/// behind its first letter, another letter only in the middle of the word, no digit. (rmem_max and
/// wmem_max, tcp_sack and tcp_dsack, overflowgid and overflowuid, gc_thresh1 and gc_thresh2 are
/// pairs of real names.)
bool is_slip(std::string_view written, std::string_view real);

/// Whether a kernel is known to have this sysctl (dots part the name, as in the key sysctl.<name>).
/// The list cannot be whole: names it does not hold are none the less legal.
bool is_known_sysctl(std::string_view name);

/// The real name of which `name` is a misspelling, else "". Known names are never misspelled, and a
/// name is taken for one only if it differs from a real name by one slip inside a longer word:
/// kernel.watchdog_tresh is kernel.watchdog_thresh.
std::string misspelled_sysctl(std::string_view name);

}  // namespace goldenv::facts
