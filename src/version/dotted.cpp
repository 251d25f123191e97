#include "version/dotted.h"

#include <string>

#include "version/number.h"

namespace goldenv::version::dotted {

Result<void> validate(std::string_view text) {
  for (std::size_t at = 0;; ++at) {
    const std::size_t digits = leading_digits(text.substr(at)).size();
    const std::size_t end = at + digits;
    const bool stops = end == text.size() || text[end] == '.';
    if (digits == 0 && stops) {
      return no_version(text, at == 0 ? "empty part before " + quoted(text)
                                      : "empty part after " + quoted(text.substr(0, at)));
    }
    if (!stops) return no_version(text, character_at(text, end) + ", not a digit or a dot");
    if (end == text.size()) return {};
    at = end;
  }
}

std::strong_ordering order(std::string_view a, std::string_view b) {
  return compare_unpadded(leading_numbers(a), leading_numbers(b));
}

}  // namespace goldenv::version::dotted
