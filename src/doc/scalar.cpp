#include "doc/scalar.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace goldenv::doc {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many digits `text` begins with.
std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                  text.begin());
}

// Lower case; all of them, since readers disagree about which spellings count.
constexpr std::array<std::string_view, 16> kWords{"~",    "null", "true",  "false", "yes", "no",
                                                  "on",   "off",  "y",     "n",     "=",   "<<",
                                                  ".inf", ".nan", "+.inf", "-.inf"};

}  // namespace

bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  const std::size_t whole = digits(text);
  if (whole == 0 || (whole > 1 && text.front() == '0')) {
    return false;
  }
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    const std::size_t fraction = digits(text.substr(1));
    if (fraction == 0) {
      return false;
    }
    text.remove_prefix(1 + fraction);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) {
      text.remove_prefix(1);
    }
    const std::size_t exponent = digits(text);
    if (exponent == 0) {
      return false;
    }
    text.remove_prefix(exponent);
  }
  return text.empty();
}

bool is_decimal(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  return text.size() <= kLongest && is_json_number(text) &&
         text.find_first_of("eE") == std::string_view::npos;
}

bool is_typed_plain(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  // Most texts are words that no list below holds, or begin like no number.
  constexpr std::size_t kLongestWord = 5;
  const std::string_view signs = "0123456789+-.";
  if (text.size() > kLongestWord && signs.find(text.front()) == std::string_view::npos) {
    return false;
  }
  const std::string lower = to_lower(text);
  if (std::ranges::find(kWords, lower) != kWords.end()) {
    return true;
  }
  std::string_view rest = lower;
  if (rest.starts_with('+') || rest.starts_with('-')) {
    rest.remove_prefix(1);
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
  }
  if (rest.empty() || !is_digit(rest.front())) {
    return false;
  }
  // Begins like a number. Two dots make it a version, which no reader takes for anything else;
  // otherwise every letter, sign and blank below occurs in some number or date.
  if (std::ranges::count(rest, '.') > 1) {
    return rest.find_first_not_of("0123456789._:") == std::string_view::npos &&
           rest.find_first_of("_:") != std::string_view::npos;
  }
  if (rest.starts_with("0x")) {
    return rest.find_first_not_of("0123456789abcdef_", 2) == std::string_view::npos;
  }
  if (rest.size() >= 8 && digits(rest) == 4 && rest[4] == '-') {
    return true;  // a date or time stamp, or near enough
  }
  return rest.find_first_not_of("0123456789._:+-eob") == std::string_view::npos;
}

}  // namespace goldenv::doc
