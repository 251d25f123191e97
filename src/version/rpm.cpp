#include "version/rpm.h"

#include <string>

#include "version/number.h"

namespace goldenv::version::rpm {
namespace {

/// What the front of a version is, from oldest to newest.
enum class Kind { tilde, end, caret, letters, digits };

struct Run {
  Kind kind = Kind::end;
  std::string_view text;
};

Run take_run(std::string_view& text) {
  while (!text.empty() && !is_digit(text.front()) && !is_letter(text.front()) &&
         text.front() != '~' && text.front() != '^') {
    text.remove_prefix(1);
  }
  if (text.empty()) return {};
  if (is_digit(text.front())) return {Kind::digits, take_digits(text)};
  std::size_t length = 1;
  Kind kind = text.front() == '~' ? Kind::tilde : Kind::caret;
  if (is_letter(text.front())) {
    kind = Kind::letters;
    while (length < text.size() && is_letter(text[length])) ++length;
  }
  const Run run{kind, text.substr(0, length)};
  text.remove_prefix(length);
  return run;
}

std::strong_ordering compare_versions(const Parts& a, const Parts& b) {
  const auto order = compare_numbers(a.epoch, b.epoch);
  return order != 0 ? order : compare_runs(a.version, b.version);
}

}  // namespace

std::strong_ordering compare_runs(std::string_view a, std::string_view b) {
  for (;;) {
    const Run left = take_run(a);
    const Run right = take_run(b);
    if (left.kind != right.kind) return left.kind <=> right.kind;
    if (left.kind == Kind::end) return std::strong_ordering::equal;
    const auto order = left.kind == Kind::digits ? compare_numbers(left.text, right.text)
                                                 : left.text.compare(right.text) <=> 0;
    if (order != 0) return order;
  }
}

Parts parts_of(std::string_view text) {
  Parts parts;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    parts.epoch = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  // Neither part may hold a hyphen, so that the first is the only one.
  const std::size_t hyphen = text.find('-');
  parts.version = text.substr(0, hyphen);
  parts.has_release = hyphen != std::string_view::npos;
  if (parts.has_release) parts.release = text.substr(hyphen + 1);
  return parts;
}

Result<void> validate(std::string_view text) {
  const Parts parts = parts_of(text);
  const std::size_t colon = text.find(':');
  std::size_t at = 0;
  if (colon != std::string_view::npos) {
    if (parts.epoch.empty()) return no_version(text, "no epoch before its colon");
    const std::size_t digits = leading_digits(parts.epoch).size();
    if (digits < parts.epoch.size()) {
      return no_version(text, character_at(text, digits) + " in the epoch, which is a number");
    }
    at = colon + 1;
  }
  if (parts.version.empty()) {
    return no_version(text, at == 0 ? "no version at its start" : "no version after the epoch");
  }
  const std::size_t hyphen = at + parts.version.size();
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool separates = at == hyphen && c == '-';
    if (!separates && !is_digit(c) && !is_letter(c) &&
        std::string_view("._+~^").find(c) == std::string_view::npos) {
      return no_version(text, character_at(text, at));
    }
  }
  if (parts.has_release && parts.release.empty()) {
    return no_version(text, "empty release after " + quoted(text));
  }
  return {};
}

std::strong_ordering order(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  auto order = compare_versions(left, right);
  if (order == 0) order = left.has_release <=> right.has_release;
  if (order == 0) order = compare_runs(left.release, right.release);
  return order;
}

std::strong_ordering order_as_required(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  const auto order = compare_versions(left, right);
  if (order != 0 || !left.has_release || !right.has_release) return order;
  return compare_runs(left.release, right.release);
}

}  // namespace goldenv::version::rpm
