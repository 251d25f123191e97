#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fetch/fetcher.h"

// The lines of the answer.
namespace goldenv::realise {

std::string got_line(std::string_view id, const fetch::Got& got);
std::string bytes_line(std::string_view id, std::uint64_t bytes,
                       std::optional<std::uint64_t> of_bytes);
/// `how`: "present", "realised", "raced".
std::string object_line(std::string_view id, std::string_view object, std::string_view how);
/// No password of a URL stands in it.
std::string error_line(std::string_view id, const Error& error);

}  // namespace goldenv::realise
