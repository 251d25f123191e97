#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace goldenv::doc {

/// One character of UTF-8 at `offset`: its code point and how many bytes it takes; `bytes` is 0
/// where no well-formed character begins there (RFC 3629: no surrogates, no overlong forms).
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};
Character character_at(std::string_view text, std::size_t offset);

/// Characters that a reader of a terminal or an editor cannot see or that change the order of what
/// he sees: controls, line and paragraph separators, odd blanks, bidi marks, zero-width ones, byte
/// order marks, private and non-characters. They are written as escapes.
bool is_invisible(std::uint32_t code);

/// The value of a hexadecimal digit; 16 for anything else.
std::uint32_t hex_digit(char c);

/// Appends a code point as UTF-8; false for surrogates and what is above U+10FFFF.
bool append_code(std::uint32_t code, std::string& out);

/// "U+202E".
std::string code_point_name(std::uint32_t code);

}  // namespace goldenv::doc
