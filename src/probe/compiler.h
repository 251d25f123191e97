#pragma once

#include <string>
#include <string_view>

namespace goldenv::probe {

/// "gcc 12.2.0" or "clang 14.0.0" from how compilers name themselves, or "" where no compiler or no
/// version is named. Words in parentheses are the distributor's and are passed over. Samples:
///   gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40
///   gcc version 4.8.5 20150623 (Red Hat 4.8.5-44) (GCC)
///   Ubuntu clang version 14.0.0-1ubuntu1.1, Ubuntu LLD 14.0.0
std::string compiler_name(std::string_view text);

}  // namespace goldenv::probe
