#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/probe.h"

namespace goldenv::probe {

/// "9.19.0" of a header's text and {"CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"}: plain
/// numbers behind
/// `#define NAME`, any blanks between; none where one of them is not defined so.
std::optional<std::string> version_in_header(std::string_view text,
                                             std::initializer_list<std::string_view> macros);

/// Records under `key` the version in the header that a build would include: the first of `headers`
/// in the toolkit's include folder, then in the compiler's own folders. Absent where there is none.
void add_header_version(Survey& survey, std::string_view key,
                        std::initializer_list<std::string_view> headers,
                        std::initializer_list<std::string_view> macros);

}  // namespace goldenv::probe
