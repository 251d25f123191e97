#include "version/pep440.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "version/number.h"

namespace goldenv::version::pep440 {
namespace {

using Stage = Parts::Stage;

constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

/// Whether `text` begins with `word` in either case.
bool begins_with_word(std::string_view text, std::string_view word) {
  return to_lower(text.substr(0, word.size())) == word;
}

void skip_separator(std::string_view& rest) {
  if (!rest.empty() && is_separator(rest.front())) rest.remove_prefix(1);
}

/// [-_.]? word [-_.]? [0-9]*, where `rest` begins with one of the words (longest first). The index
/// of the word and the digits, with `rest` behind them; nothing, with `rest` as it was, where no
/// word stands there. The second separator needs no number after it: "1.0a-" is 1.0a0.
template <std::size_t N>
std::optional<std::pair<std::size_t, std::string_view>> take_word(
    std::string_view& rest, const std::array<std::string_view, N>& words) {
  std::string_view text = rest;
  skip_separator(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!begins_with_word(text, words[i])) continue;
    text.remove_prefix(words[i].size());
    skip_separator(text);
    const std::string_view number = take_digits(text);
    rest = text;
    return std::pair(i, number);
  }
  return std::nullopt;
}

std::optional<Parts::Pre> take_pre(std::string_view& rest) {
  constexpr std::array<std::string_view, 8> kWords{"preview", "alpha", "beta", "pre",
                                                   "rc",      "a",     "b",    "c"};
  constexpr std::array<Stage, 8> kStages{Stage::rc, Stage::a, Stage::b, Stage::rc,
                                         Stage::rc, Stage::a, Stage::b, Stage::rc};
  const auto found = take_word(rest, kWords);
  if (!found) return std::nullopt;
  return Parts::Pre{kStages[found->first], found->second};
}

std::optional<std::string_view> take_post(std::string_view& rest) {
  if (rest.size() > 1 && rest[0] == '-' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    return take_digits(rest);
  }
  constexpr std::array<std::string_view, 3> kWords{"post", "rev", "r"};
  const auto found = take_word(rest, kWords);
  if (!found) return std::nullopt;
  return found->second;
}

std::optional<std::string_view> take_dev(std::string_view& rest) {
  const auto found = take_word(rest, std::array<std::string_view, 1>{"dev"});
  if (!found) return std::nullopt;
  return found->second;
}

/// The release numbers, and `rest` behind them; empty where a number is missing.
std::vector<std::string_view> take_release(std::string_view& rest) {
  std::vector<std::string_view> release = leading_numbers(rest);
  for (std::size_t i = 0; i < release.size(); ++i) {
    rest.remove_prefix(release[i].size() + (i == 0 ? 0 : 1));
  }
  return release;
}

std::strong_ordering compare_optional(const std::optional<std::string_view>& a,
                                      const std::optional<std::string_view>& b,
                                      std::strong_ordering missing_against_there) {
  if (a && b) return compare_numbers(*a, *b);
  if (!a && !b) return std::strong_ordering::equal;
  return a ? 0 <=> missing_against_there : missing_against_there;
}

/// A development release of the release itself stands before its first alpha; a version without a
/// pre-release, after its last candidate.
int pre_rank(const Parts& parts) {
  if (parts.pre) return 1;
  return !parts.post && parts.dev ? 0 : 2;
}

std::strong_ordering compare_pre(const Parts& a, const Parts& b) {
  if (pre_rank(a) != pre_rank(b) || !a.pre) return pre_rank(a) <=> pre_rank(b);
  if (a.pre->stage != b.pre->stage) return a.pre->stage <=> b.pre->stage;
  return compare_numbers(a.pre->number, b.pre->number);
}

/// Numbers after words; a longer label after its own beginning.
std::strong_ordering compare_local(const Parts& a, const Parts& b) {
  for (std::size_t i = 0; i < std::min(a.local.size(), b.local.size()); ++i) {
    const std::string& left = a.local[i];
    const std::string& right = b.local[i];
    const bool left_number = leading_digits(left).size() == left.size();
    const bool right_number = leading_digits(right).size() == right.size();
    if (left_number != right_number) return left_number <=> right_number;
    const auto order =
        left_number ? compare_numbers(left, right) : std::strong_ordering(left <=> right);
    if (order != 0) return order;
  }
  return a.local.size() <=> b.local.size();
}

/// The labels after "+": letters and digits with single separators between them.
Result<std::vector<std::string>> parse_local(std::string_view text, std::size_t start) {
  std::vector<std::string> labels(1);
  for (std::size_t at = start; at < text.size(); ++at) {
    const char c = text[at];
    if (is_digit(c) || is_letter(c)) {
      labels.back() += c;
    } else if (is_separator(c) && !labels.back().empty()) {
      labels.emplace_back();
    } else if (is_separator(c)) {
      return no_version(text, "empty local label after " + quoted(text.substr(0, at)));
    } else {
      return no_version(text, character_at(text, at) + " in the local label");
    }
  }
  if (labels.back().empty()) return no_version(text, "empty local label after " + quoted(text));
  for (std::string& label : labels) label = to_lower(label);
  return labels;
}

}  // namespace

Result<Parts> parse(std::string_view text) {
  Parts parts;
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == 'v' || rest.front() == 'V')) rest.remove_prefix(1);
  const std::string_view digits = leading_digits(rest);
  if (!digits.empty() && digits.size() < rest.size() && rest[digits.size()] == '!') {
    parts.epoch = digits;
    rest.remove_prefix(digits.size() + 1);
  }
  parts.release = take_release(rest);
  const auto here = [&] { return text.size() - rest.size(); };
  if (parts.release.empty()) {
    if (rest.empty()) {
      return no_version(text,
                        here() == 0 ? "it is empty" : "no release number after " + quoted(text));
    }
    return no_version(text, character_at(text, here()) + ", not a release number");
  }
  parts.pre = take_pre(rest);
  parts.post = take_post(rest);
  parts.dev = take_dev(rest);
  if (rest.empty()) return parts;
  if (rest.front() == '+') {
    Result<std::vector<std::string>> local = parse_local(text, here() + 1);
    if (!local) return std::move(local).error();
    parts.local = *std::move(local);
    return parts;
  }
  if (rest.front() == '.' && (rest.size() == 1 || rest[1] == '.')) {
    return no_version(text, "empty part after " + quoted(text.substr(0, here() + 1)));
  }
  const std::size_t wrong = here() + (rest.size() > 1 && is_separator(rest.front()) ? 1 : 0);
  return no_version(
      text, character_at(text, wrong) + ", where a, b, rc, post, dev or a local label may stand");
}

std::strong_ordering order_release(const Parts& a, const Parts& b) {
  const auto order = compare_numbers(a.epoch, b.epoch);
  return order != 0 ? order : compare_padded(a.release, b.release);
}

std::strong_ordering order_public(const Parts& a, const Parts& b) {
  auto order = order_release(a, b);
  if (order == 0) order = compare_pre(a, b);
  if (order == 0) order = compare_optional(a.post, b.post, std::strong_ordering::less);
  if (order == 0) order = compare_optional(a.dev, b.dev, std::strong_ordering::greater);
  return order;
}

std::strong_ordering order(const Parts& a, const Parts& b) {
  const auto order = order_public(a, b);
  return order != 0 ? order : compare_local(a, b);
}

}  // namespace goldenv::version::pep440
