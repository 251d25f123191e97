#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::recipe {

/// What stands for a value of its own: "version", "name", "cuda", "cudart", "python",
/// "torch", "arch".
std::span<const std::string_view> placeholder_bases();

/// Calls `take` with each run of plain text and each placeholder's name ("cuda.major") in order;
/// "{{" and "}}" are braces. Errors: malformed (a brace without its other, an empty name).
Result<void> read_pattern(
    std::string_view pattern,
    const std::function<Result<void>(std::string_view text, bool named)>& take);

/// Whether there is a placeholder of that name: "version.major", not "arch.major"; any host.NAME.
bool is_placeholder(std::string_view name);
/// All names, for messages.
std::span<const std::string_view> placeholder_names();

}  // namespace goldenv::recipe
