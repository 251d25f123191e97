#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/catalogue.h"

// What a person may have meant by a key that does not exist. For the catalogue's own files.
namespace goldenv::facts {

/// The key that is nearest to `written` (no label) by edit distance, or that it is a part or the
/// beginning of; "" where nothing is near. With `labelled` an instance of it is meant, so that of
/// the keys below a word one that has instances is told.
std::string near_key(std::string_view written, bool labelled);

/// For an index in mid-key or in brackets (gpu.0.name, gpu[0].name): the key with its label
/// (gpu.name@0). "" where it is none.
std::string instance_hint(std::string_view written);

/// Whether `member` cannot be a member of this family: not of a closed set, or the misspelling of a
/// real sysctl. Then the member that is near it, "" where none is.
std::optional<std::string> refused_member(const Entry& entry, std::string_view member);

/// What is expected where nothing is near, as the end of a message: "; expected ...". `entry` is
/// the family whose member was refused, or nullptr; `written` the key.
std::string expected_key(const Entry* entry, std::string_view written);

}  // namespace goldenv::facts
