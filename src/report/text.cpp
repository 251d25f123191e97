#include "report/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace goldenv::report {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: not well-formed
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  std::uint32_t value = first & (length == 4 ? 0x07u : length == 3 ? 0x0Fu : 0x1Fu);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, length};
}

struct Range {
  std::uint32_t first, last;
};

bool in(std::uint32_t c, const auto& ranges) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return c >= range.first && c <= range.last; });
}

// C1 controls, soft hyphen, Arabic letter mark, zero-width and bidirectional formatting, line and
// paragraph separators, interlinear annotation, tags, variation selectors, BOM. Source: Unicode
// category Cf, Zl, Zp and UAX #9.
constexpr std::array<Range, 13> kHidden = {{{0x7F, 0x9F},
                                            {0xAD, 0xAD},
                                            {0x61C, 0x61C},
                                            {0x180E, 0x180E},
                                            {0x200B, 0x200F},
                                            {0x2028, 0x202E},
                                            {0x2060, 0x206F},
                                            {0xFE00, 0xFE0F},
                                            {0xFEFF, 0xFEFF},
                                            {0xFFF9, 0xFFFB},
                                            {0x1D173, 0x1D17A},
                                            {0xE0000, 0xE0FFF},
                                            {0x115F, 0x1160}}};
// East Asian Wide and Fullwidth, roughly. Source: UAX #11.
constexpr std::array<Range, 8> kWide = {{{0x1100, 0x115E},
                                         {0x2E80, 0x303E},
                                         {0x3041, 0xA4CF},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFF00, 0xFF60},
                                         {0xFFE0, 0xFFE6},
                                         {0x1F300, 0x1FAFF}}};

std::string hex(std::uint32_t value, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  while (value != 0 || text.size() < digits) {
    text.insert(text.begin(), kDigits[value & 15u]);
    value >>= 4;
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.length == 0) {
      out += "\\x" + hex(static_cast<unsigned char>(text.front()), 2);
      text.remove_prefix(1);
      continue;
    }
    if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value < 0x20 || point.value == 0x7F) {
      out += "\\x" + hex(point.value, 2);
    } else if (in(point.value, kHidden)) {
      out += "\\u{" + hex(point.value, 4) + "}";
    } else {
      out += text.substr(0, point.length);
    }
    text.remove_prefix(point.length);
  }
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-~";
  const bool expands = text.starts_with('~') || text.starts_with('=');
  if (!text.empty() && !expands && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  const std::string shown = printable(text);
  const bool hidden = shown != text;
  std::string out = hidden ? "$'" : "'";
  if (!hidden) {
    for (const char c : text) {
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
  }
  // Byte by byte: the shell's \xHH takes any.
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      out += "\\x" + hex(byte, 2);
    } else {
      out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
  }
  return out + "'";
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    columns += point.length != 0 && in(point.value, kWide) ? 2u : 1u;
    text.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return columns;
}

std::string paint(Colour colour, Ink ink, std::string_view text) {
  if (colour == Colour::none || ink == Ink::plain) {
    return std::string(text);
  }
  constexpr std::array<std::string_view, 6> kCodes = {"0", "1", "31", "33", "32", "2"};
  return "\x1b[" + std::string(kCodes.at(static_cast<std::size_t>(ink))) + "m" + std::string(text) +
         "\x1b[0m";
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      // One very long cell must not push every other row off the screen.
      const std::size_t cell = width(row[i]);
      widths[i] = std::max(widths[i], cell > 48 ? 0 : cell);
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        const std::size_t cell = width(row[i]);
        line += std::string(widths[i] > cell ? widths[i] - cell : 0, ' ') + "  ";
      }
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string counted(std::size_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

}  // namespace goldenv::report
