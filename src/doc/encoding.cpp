#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "doc/reader.h"
#include "doc/unicode.h"

namespace goldenv::doc {
namespace {

/// UTF-16 and UTF-32 by their byte order mark, or by the NUL beside the first ASCII character.
std::string_view wide_encoding(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0x100U;
  };
  if (byte(0) == 0xFF && byte(1) == 0xFE) {
    return byte(2) == 0 && byte(3) == 0 ? "UTF-32" : "UTF-16";
  }
  if (byte(0) == 0xFE && byte(1) == 0xFF) {
    return "UTF-16";
  }
  if (byte(0) == 0 && byte(1) == 0 && byte(2) == 0xFE && byte(3) == 0xFF) {
    return "UTF-32";
  }
  const auto ascii = [&](std::size_t i) { return byte(i) >= 0x09 && byte(i) < 0x7F; };
  if ((ascii(0) && byte(1) == 0 && ascii(2) && byte(3) == 0) ||
      (byte(0) == 0 && ascii(1) && byte(2) == 0 && ascii(3))) {
    return "UTF-16";
  }
  return {};
}

/// Whether the eight bytes from `at` on are all printable ASCII: 0x20 to 0x7E. Most of most texts
/// is, and eight at once cost what one does.
bool eight_plain(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  if (text.size() - at < sizeof word) {
    return false;
  }
  std::memcpy(&word, text.data() + at, sizeof word);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes * 0x80;
  // The high bit of a byte shows: the byte itself has it; adding 1 to 0x7F gives it; taking 0x20
  // from less borrows it. Carries out of a byte come only from bytes that show anyway.
  return ((word | (word + kOnes) | (word - kOnes * 0x20)) & kHigh) == 0;
}

/// Why a character may not stand raw in the text, or nothing.
std::string forbidden(std::uint32_t code, Format format) {
  if (code < 0x20) {
    return "control character " + code_point_name(code) +
           "; expected text without control characters";
  }
  if (format == Format::json) {
    return {};
  }
  // NEL, LS and PS end a line for YAML 1.1 readers and not for YAML 1.2 ones: two readings of one
  // text are one too many.
  if (code == 0x85 || code == 0x2028 || code == 0x2029) {
    return "raw line separator " + code_point_name(code) +
           "; expected it as an escape in a double-quoted text";
  }
  if (code == 0x7F || (code >= 0x80 && code < 0xA0) || code == 0xFEFF || code == 0xFFFE ||
      code == 0xFFFF) {
    return "character " + code_point_name(code) +
           " may not stand in YAML; expected it as an escape in a double-quoted text";
  }
  return {};
}

}  // namespace

Mark Positions::at(std::size_t offset) {
  offset = std::min(offset, text_.size());
  if (offset < line_start_) {  // an alias: its nodes stand earlier
    offset_ = line_start_ = 0;
    line_ = 1;
  }
  while (offset_ < offset) {
    const char c = text_[offset_];
    ++offset_;
    if (c == '\n' || (c == '\r' && (offset_ >= text_.size() || text_[offset_] != '\n'))) {
      ++line_;
      line_start_ = offset_;
    }
  }
  return {line_, offset - line_start_ + 1};
}

Result<std::string_view> check_encoding(std::string_view text, Format format, std::string_view name,
                                        const Limits& limits) {
  if (text.size() > limits.bytes) {
    return too_large_at(
        name, {},
        std::to_string(text.size()) + " bytes; expected at most " + std::to_string(limits.bytes));
  }
  if (const auto wide = wide_encoding(text); !wide.empty()) {
    return error_at(name, {},
                    "wrong encoding: this looks like " + std::string(wide) + "; expected UTF-8");
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  for (std::size_t i = 0; i < text.size();) {
    if (eight_plain(text, i)) {
      i += 8;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t' || c == '\r') {
      ++i;
      continue;
    }
    const Character character = character_at(text, i);
    if (character.bytes == 0) {
      constexpr std::string_view digits = "0123456789ABCDEF";
      return error_at(name, Positions(text).at(i),
                      std::string("byte 0x") + digits[c >> 4U] + digits[c & 0xFU] +
                          " is not UTF-8 here; expected UTF-8");
    }
    if (const std::string why = forbidden(character.code, format); !why.empty()) {
      return error_at(name, Positions(text).at(i), why);
    }
    i += character.bytes;
  }
  return text;
}

}  // namespace goldenv::doc
