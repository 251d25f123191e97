#include "version/debian.h"

#include <string>

#include "version/number.h"

namespace goldenv::version::debian {
namespace {

/// dpkg keeps the epoch in an int.
constexpr std::string_view kLargestEpoch = "2147483647";

/// Weight of a character that is no digit: the tilde before the end of the part, letters before all
/// else. Source: deb-version(7), Sorting algorithm.
int weight(char c) {
  if (c == '~') return -1;
  if (is_letter(c)) return static_cast<unsigned char>(c);
  return static_cast<unsigned char>(c) + 256;
}

/// Weight of what stands at the front: 0 for the end and for a digit, where this run ends.
int front_weight(std::string_view text) {
  return text.empty() || is_digit(text.front()) ? 0 : weight(text.front());
}

/// Upstream versions and revisions alike: runs of other characters and runs of digits, in turn.
std::strong_ordering compare_runs(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    while (front_weight(a) != 0 || front_weight(b) != 0) {
      const auto order = front_weight(a) <=> front_weight(b);
      if (order != 0) return order;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    const auto order = compare_numbers(take_digits(a), take_digits(b));
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

/// The first character of `part` that is no letter, no digit and not among `others`; the part's
/// size where there is none.
std::size_t first_strange(std::string_view part, std::string_view others) {
  std::size_t at = 0;
  while (at < part.size() && (is_digit(part[at]) || is_letter(part[at]) ||
                              others.find(part[at]) != std::string_view::npos)) {
    ++at;
  }
  return at;
}

}  // namespace

Parts parts_of(std::string_view text) {
  Parts parts;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    parts.epoch = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const std::size_t hyphen = text.rfind('-');
  parts.upstream = text.substr(0, hyphen);
  if (hyphen != std::string_view::npos) parts.revision = text.substr(hyphen + 1);
  return parts;
}

Result<void> validate(std::string_view text) {
  const Parts parts = parts_of(text);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (parts.epoch.empty()) return no_version(text, "no epoch before its colon");
    const std::size_t digits = leading_digits(parts.epoch).size();
    if (digits < parts.epoch.size()) {
      return no_version(text, character_at(text, digits) + " in the epoch, which is a number");
    }
    if (compare_numbers(parts.epoch, kLargestEpoch) > 0) {
      return no_version(text, "its epoch is larger than " + std::string(kLargestEpoch));
    }
  }
  const std::size_t start = colon == std::string_view::npos ? 0 : colon + 1;
  if (parts.upstream.empty()) return no_version(text, "no upstream version");
  if (!is_digit(parts.upstream.front())) {
    return no_version(text, "its upstream version starts with " +
                                quoted(parts.upstream.substr(0, 1)) + ", not with a digit");
  }
  const std::size_t strange = first_strange(parts.upstream, ".-+~:");
  if (strange < parts.upstream.size()) {
    return no_version(text, character_at(text, start + strange) + " in the upstream version");
  }
  if (parts.revision.empty() && text.back() == '-') {
    return no_version(text, "empty revision after " + quoted(text));
  }
  const std::size_t odd = first_strange(parts.revision, ".+~");
  if (odd < parts.revision.size()) {
    return no_version(
        text, character_at(text, text.size() - parts.revision.size() + odd) + " in the revision");
  }
  return {};
}

std::strong_ordering order(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  auto order = compare_numbers(left.epoch, right.epoch);
  if (order == 0) order = compare_runs(left.upstream, right.upstream);
  if (order == 0) order = compare_runs(left.revision, right.revision);
  return order;
}

}  // namespace goldenv::version::debian
