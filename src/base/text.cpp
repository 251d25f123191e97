#include "base/text.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace goldenv {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

constexpr std::uint8_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<std::uint8_t>(bytes[index]);
}

/// Length of the well-formed UTF-8 sequence at the start of `bytes` (not empty), 0 where there is
/// none. The bounds on the second byte shut out overlong forms, surrogates and what lies beyond
/// U+10FFFF. Source: RFC 3629 section 4.
std::size_t utf8_sequence_bytes(std::string_view bytes) {
  const std::uint8_t first = byte_at(bytes, 0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) second_min = 0xA0;
    if (first == 0xED) second_max = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) second_min = 0x90;
    if (first == 0xF4) second_max = 0x8F;
  } else {
    return 0;
  }
  if (bytes.size() < length) return 0;
  if (byte_at(bytes, 1) < second_min || byte_at(bytes, 1) > second_max) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_at(bytes, i) < 0x80 || byte_at(bytes, i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    found.push_back(line);
  }
  return found;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_blank(text[at])) ++at;
    const std::size_t start = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    if (at > start) found.push_back(text.substr(start, at - start));
  }
  return found;
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) joined += separator;
    joined += pieces[i];
  }
  return joined;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (kMax - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  return number;
}

bool glob_matches(std::string_view pattern, std::string_view name) {
  // The first character decides mostly, and what stands before the first wildcard nearly always.
  if (!pattern.empty() && pattern.front() != '*' && pattern.front() != '?' &&
      !name.starts_with(pattern.front())) {
    return false;
  }
  const std::size_t wild = std::min(pattern.find_first_of("*?"), pattern.size());
  if (name.substr(0, wild) != pattern.substr(0, wild)) {
    return false;
  }
  pattern.remove_prefix(wild);
  name.remove_prefix(wild);
  if (pattern.empty() || pattern == "**") {
    return !pattern.empty() || name.empty();
  }
  // reached[i]: the pattern read so far can match the first i bytes of the name. Going through the
  // pattern once costs pattern times name, where backtracking would be exponential in the stars.
  std::vector<bool> reached(name.size() + 1, false);
  reached[0] = true;
  std::size_t at = 0;
  while (at < pattern.size()) {
    if (pattern[at] == '*') {
      const std::size_t end = std::min(pattern.find_first_not_of('*', at), pattern.size());
      const bool crosses_dots = end - at > 1;
      for (std::size_t i = 0; i < name.size(); ++i) {
        if (reached[i] && (crosses_dots || name[i] != '.')) reached[i + 1] = true;
      }
      at = end;
      continue;
    }
    const char wanted = pattern[at++];
    for (std::size_t i = name.size(); i > 0; --i) {
      const char c = name[i - 1];
      reached[i] = reached[i - 1] && (wanted == '?' ? c != '.' : c == wanted);
    }
    reached[0] = false;
  }
  return reached[name.size()];
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table: the one being filled, the one above, and the one above that for swaps.
  std::vector<std::size_t> above_two(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(above_two, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], above_two[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_sequence_bytes(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

namespace {

constexpr std::string_view kRest = "...";
constexpr std::size_t kLongestWordBytes = 200;

/// The nearest place at or before `at` where no sequence is cut.
std::size_t boundary(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestSequence = 4;
  for (std::size_t back = 0; back < kLongestSequence && back < at; ++back) {
    if ((static_cast<unsigned char>(text[at - back]) & 0xC0u) != 0x80u) {
      return at - back;
    }
  }
  return at;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t bytes) {
  return text.size() <= bytes
             ? std::string(text)
             : std::string(text.substr(0, boundary(text, bytes))) + std::string(kRest);
}

std::string shortened_sentence(std::string_view text) {
  constexpr std::size_t kLongestBytes = 2000;
  constexpr std::size_t kEndBytes = 400;
  std::string out;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find_first_of(" \t\n"), text.size());
    const std::string_view word = text.substr(0, blank);
    out += shortened(word, kLongestWordBytes);
    if (word.size() > kLongestWordBytes) {
      // The quote that closes it, and what parts it from the rest.
      const std::size_t last = word.find_last_not_of("\"';:,.)");
      out += word.substr(std::max(last + 1, word.size() - 3));
    }
    const std::size_t next = std::min(text.find_first_not_of(" \t\n", blank), text.size());
    out += text.substr(blank, next - blank);
    text.remove_prefix(next);
  }
  if (out.size() <= kLongestBytes) {
    return out;
  }
  return shortened(out, kLongestBytes - kEndBytes) + " " + std::string(kRest) +
         out.substr(boundary(out, out.size() - kEndBytes));
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = utf8_sequence_bytes(bytes);
    if (length == 0) {
      text += "\xEF\xBF\xBD";  // U+FFFD
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

}  // namespace goldenv
