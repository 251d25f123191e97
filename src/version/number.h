#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::version {

// Numbers inside versions stay text: a date with a serial (20231010123456789012) fits no machine
// word, and "03" must come back as it was.

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The digits at the start of `text`; empty where it starts with something else.
std::string_view leading_digits(std::string_view text);

/// Takes what leading_digits finds off the front of `text`.
std::string_view take_digits(std::string_view& text);

/// The number without leading zeros; empty for zero.
std::string_view significant(std::string_view digits);

/// Order of two texts of digits as numbers, of any length; an empty one is zero.
std::strong_ordering compare_numbers(std::string_view a, std::string_view b);

/// The number after `digits`, in decimal.
std::string next_number(std::string_view digits);

/// The numbers with single dots between them at the start of `text`: {"6", "1"} of "6.1.rc3".
std::vector<std::string_view> leading_numbers(std::string_view text);

/// Order of two rows of numbers. Padded: a missing number is 0; else a shorter row is less where
/// all else is equal.
std::strong_ordering compare_padded(const std::vector<std::string_view>& a,
                                    const std::vector<std::string_view>& b);
std::strong_ordering compare_unpadded(const std::vector<std::string_view>& a,
                                      const std::vector<std::string_view>& b);

/// Whether `numbers`, padded with zeros, begins with `prefix`.
bool begins_with(const std::vector<std::string_view>& numbers,
                 const std::vector<std::string_view>& prefix);

/// The text in quotes for a message: not longer than a line, and control bytes as \xNN.
std::string quoted(std::string_view text);

/// The malformed error `"535..03" is no version: <why>`.
Error no_version(std::string_view text, std::string_view why);

/// `character "_" after "5.4"` for the byte at `index` of `text`: where and what, for no_version.
std::string character_at(std::string_view text, std::size_t index);

}  // namespace goldenv::version
