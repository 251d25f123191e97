#include "facts/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/text.h"

namespace goldenv::facts {
namespace {

std::optional<double> suffix_factor(std::string_view suffix) {
  if (suffix.empty() || suffix == "B") {
    return 1.0;
  }
  constexpr std::string_view kSteps = "KMGTP";
  const char letter = suffix.front() == 'k' ? 'K' : suffix.front();
  const std::size_t step = kSteps.find(letter);
  const std::string_view rest = suffix.substr(1);
  if (step == std::string_view::npos ||
      (!rest.empty() && rest != "iB" && rest != "i" && rest != "B")) {
    return std::nullopt;
  }
  return std::pow(1024.0, static_cast<double>(step + 1));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<double> to_quantity(std::string_view text) {
  if (text == "unlimited" || text == "max" || text == "infinity") {
    return std::numeric_limits<double>::infinity();
  }
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  double number = 0;
  while (at < text.size() && is_digit(text[at])) {
    number = number * 10 + (text[at] - '0');
    ++at;
  }
  if (at == 0) {
    return std::nullopt;
  }
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    ++at;
    for (double weight = 0.1; at < text.size() && is_digit(text[at]); ++at, weight /= 10) {
      number += weight * (text[at] - '0');
    }
  }
  const std::optional<double> factor = suffix_factor(trim(text.substr(at)));
  if (!factor) {
    return std::nullopt;
  }
  return (negative ? -number : number) * *factor;
}

bool within(double a, double b, std::string_view tolerance) {
  if (a == b) {
    return true;
  }
  const bool relative = tolerance.ends_with('%');
  const std::optional<double> size =
      to_quantity(relative ? tolerance.substr(0, tolerance.size() - 1) : tolerance);
  if (!size || std::isinf(a) || std::isinf(b)) {
    return false;
  }
  const double allowed = relative ? std::max(std::abs(a), std::abs(b)) * *size / 100 : *size;
  return std::abs(a - b) <= allowed;
}

}  // namespace goldenv::facts
