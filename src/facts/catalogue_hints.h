#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/catalogue.h"

// What a person may have meant by a key that does not exist. For the catalogue's own files.
namespace goldenv::facts {

/// The key that is nearest to `written` (no label) by edit distance, or that it is a part or the
/// beginning of; "" where nothing is near.
std::string near_key(std::string_view written);

/// For an index in mid-key or in brackets (gpu.0.name, gpu[0].name): the key with its label
/// (gpu.name@0). "" where it is none.
std::string instance_hint(std::string_view written);

/// Whether `member` cannot be a member of this family: not of a closed set, or the misspelling of a
/// real sysctl. Then the member that is near it, "" where none is.
std::optional<std::string> refused_member(const Entry& entry, std::string_view member);

}  // namespace goldenv::facts
