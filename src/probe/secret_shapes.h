#pragma once

#include <cstddef>
#include <string_view>

namespace goldenv::probe {

// Secrets that can be told by their own form, whatever stands before them. Each gives the length of
// the one that begins at `at`, or 0.

/// A token with a well-known beginning: ghp_, hf_, AKIA.
std::size_t token_length(std::string_view text, std::size_t at);
/// A JSON web token or other base64 of a JSON object ("eyJ...").
std::size_t jwt_length(std::string_view text, std::size_t at);
/// A PEM block, to its END line or, where it is cut short, to the end.
std::size_t pem_length(std::string_view text, std::size_t at);

}  // namespace goldenv::probe
