#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "facts/catalogue.h"

namespace goldenv::facts {

/// What stands before a text in a manifest that is to be taken as it stands.
inline constexpr std::string_view kLiteral = "==";
/// The same where the text could be read otherwise behind `==`: "===1.*".
inline constexpr std::string_view kVerbatim = "===";

/// Whether a key's values are lists: also variables that hold search paths.
bool is_list(const Resolved& key);

/// What a key's value is, for people: "a list", "one of a few words".
std::string kind_of(const Resolved& key);

/// Why a text can be no value of a choice, or "".
std::string wrong_choice(const Resolved& key, std::string_view text);

/// The text that a scalar of a manifest holds to the letter, on keys whose values have a form
/// (versions, numbers, booleans, choices), or nothing where it is to be read in that form: what
/// stands behind `===`, or behind `==` where it is no value of the form, no list of constraints and
/// no wildcard ("==2004d" on a Python version).
std::optional<std::string> literal_text(const Resolved& key, std::string_view written);

/// Inverse for exact values: the text as a manifest has it, bare where nothing else could be meant.
std::string literal_form(const Resolved& key, std::string_view text);

}  // namespace goldenv::facts
