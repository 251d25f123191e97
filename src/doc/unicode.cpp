#include "doc/unicode.h"

#include <array>
#include <string>

namespace goldenv::doc {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Source: the Unicode Character Database's categories Cc, Cf, Zl, Zp, Zs, Co and the
// non-characters, apart from the blank and emoji tags' base characters.
constexpr std::array<Range, 20> kInvisible{{
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x061C, 0x061C},
    {0x1680, 0x1680},   {0x180E, 0x180E},   {0x2000, 0x200F},   {0x2028, 0x202F},
    {0x205F, 0x206F},   {0x3000, 0x3000},   {0xE000, 0xF8FF},   {0xFDD0, 0xFDEF},
    {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFC},   {0xFFFE, 0xFFFF},   {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0x1FFFE, 0x1FFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
}};

}  // namespace

Character character_at(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const std::uint32_t lead = byte(offset);
  if (offset >= text.size()) {
    return {};
  }
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) {
    return {};
  }
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint32_t next = byte(offset + i);
    if ((next & 0xC0U) != 0x80U) {
      return {};
    }
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) {
    return {};
  }
  return {code, length};
}

bool is_invisible(std::uint32_t code) {
  if (code > 0x7F && code < 0x10000 && code >= 0x3001 && code < 0xE000) {
    return false;  // most of the world's letters, without a search
  }
  for (const Range& range : kInvisible) {
    if (code <= range.last) {
      return code >= range.first;
    }
  }
  return false;
}

std::uint32_t hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return static_cast<std::uint32_t>(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return static_cast<std::uint32_t>(c - 'a' + 10);
  }
  return c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10) : 16U;
}

bool append_code(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    if (code >= 0xD800 && code <= 0xDFFF) {
      return false;
    }
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    if (code > 0x10FFFF) {
      return false;
    }
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
  return true;
}

std::string code_point_name(std::uint32_t code) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "U+";
  int shift = code > 0xFFFF ? 20 : 12;
  for (; shift >= 0; shift -= 4) {
    out += digits[(code >> static_cast<unsigned>(shift)) & 0xFU];
  }
  return out;
}

}  // namespace goldenv::doc
