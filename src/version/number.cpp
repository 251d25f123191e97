#include "version/number.h"

#include <algorithm>

namespace goldenv::version {
namespace {

constexpr std::size_t kQuotedBytes = 80;

std::string_view at_or_empty(const std::vector<std::string_view>& numbers, std::size_t index) {
  return index < numbers.size() ? numbers[index] : std::string_view();
}

}  // namespace

std::string_view leading_digits(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(0, end);
}

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = leading_digits(text);
  text.remove_prefix(digits.size());
  return digits;
}

std::string_view significant(std::string_view digits) {
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  a = significant(a);
  b = significant(b);
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::string next_number(std::string_view digits) {
  std::string next(significant(digits));
  for (std::size_t i = next.size(); i > 0; --i) {
    if (next[i - 1] != '9') {
      ++next[i - 1];
      return next;
    }
    next[i - 1] = '0';
  }
  return "1" + next;
}

std::vector<std::string_view> leading_numbers(std::string_view text) {
  std::vector<std::string_view> numbers;
  std::string_view digits = take_digits(text);
  while (!digits.empty()) {
    numbers.push_back(digits);
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
    digits = take_digits(text);
  }
  return numbers;
}

std::strong_ordering compare_padded(const std::vector<std::string_view>& a,
                                    const std::vector<std::string_view>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto order = compare_numbers(at_or_empty(a, i), at_or_empty(b, i));
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare_unpadded(const std::vector<std::string_view>& a,
                                      const std::vector<std::string_view>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto order = compare_numbers(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

bool begins_with(const std::vector<std::string_view>& numbers,
                 const std::vector<std::string_view>& prefix) {
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (compare_numbers(at_or_empty(numbers, i), prefix[i]) != 0) return false;
  }
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (out.size() > kQuotedBytes) return out + "...\"";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

Error no_version(std::string_view text, std::string_view why) {
  return Error{Errc::malformed, quoted(text) + " is no version: " + std::string(why), {}};
}

std::string character_at(std::string_view text, std::size_t index) {
  const std::string what = "character " + quoted(text.substr(index, 1));
  return index == 0 ? what + " at its start" : what + " after " + quoted(text.substr(0, index));
}

}  // namespace goldenv::version
