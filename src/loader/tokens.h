#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "loader/abi.h"

namespace goldenv::loader {

class System;

/// A path with $ORIGIN, $LIB and $PLATFORM (with or without braces) filled in; none where $ORIGIN
/// is asked for and no object is known. $ORIGIN is the folder of the path by which the object was
/// opened: links are not resolved before `..` is walked. Source: is_dst of glibc elf/dl-load.c.
/// Errors: unreadable where a value hangs on what is not known.
Result<std::optional<std::string>> expand_tokens(System& system, const Abi& abi,
                                                 const std::string& settings, std::string_view text,
                                                 std::string_view object);

}  // namespace goldenv::loader
