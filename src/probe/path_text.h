#pragma once

#include <string>
#include <string_view>

namespace goldenv::probe {

// Paths as text, nothing looked up.

/// "/a/b" of "/a/b/c"; "/" of "/c"; "" where there is no slash.
std::string_view folder_of(std::string_view path);

/// "c" of "/a/b/c".
std::string_view base_name(std::string_view path);

/// "/a/nvidia/lib" of "/a/torch/lib/../../nvidia/lib". True of the disk only where no part of the
/// path is a link.
std::string without_dots(std::string_view path);

/// Whether `path` is `folder` or lies below it.
bool is_below(std::string_view path, std::string_view folder);

}  // namespace goldenv::probe
