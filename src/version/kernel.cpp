#include "version/kernel.h"

#include <optional>
#include <string>
#include <vector>

#include "version/number.h"
#include "version/rpm.h"

namespace goldenv::version::kernel {
namespace {

struct Parts {
  std::vector<std::string_view> numbers;
  std::optional<std::string_view> candidate;  ///< the N of -rcN
  std::string_view words;                     ///< what is left
};

Parts parts_of(std::string_view text) {
  Parts parts;
  parts.numbers = leading_numbers(text);
  for (std::size_t i = 0; i < parts.numbers.size(); ++i) {
    text.remove_prefix(parts.numbers[i].size() + (i == 0 ? 0 : 1));
  }
  constexpr std::string_view kCandidate = "-rc";
  if (text.substr(0, kCandidate.size()) == kCandidate) {
    const std::string_view number = leading_digits(text.substr(kCandidate.size()));
    if (!number.empty()) {
      parts.candidate = number;
      text.remove_prefix(kCandidate.size() + number.size());
    }
  }
  parts.words = text;
  return parts;
}

}  // namespace

Result<void> validate(std::string_view text) {
  if (text.empty()) return no_version(text, "it is empty");
  if (!is_digit(text.front())) return no_version(text, character_at(text, 0) + ", not a number");
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] <= ' ' || text[at] > '~') return no_version(text, character_at(text, at));
  }
  std::size_t end = 0;
  for (const std::string_view number : leading_numbers(text)) {
    end += number.size() + (end == 0 ? 0 : 1);
  }
  const bool dot = end < text.size() && text[end] == '.';
  if (dot && (end + 1 == text.size() || !is_letter(text[end + 1]))) {
    return no_version(text, "empty part after " + quoted(text.substr(0, end + 1)));
  }
  return {};
}

std::strong_ordering order(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  auto order = compare_padded(left.numbers, right.numbers);
  if (order == 0 && left.candidate.has_value() != right.candidate.has_value()) {
    return left.candidate ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (order == 0 && left.candidate) order = compare_numbers(*left.candidate, *right.candidate);
  if (order == 0) order = rpm::compare_runs(left.words, right.words);
  return order;
}

}  // namespace goldenv::version::kernel
