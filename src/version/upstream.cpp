#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "version/kernel.h"
#include "version/number.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

using Numbers = std::vector<std::string_view>;

/// A stable kernel has three numbers; what follows them (WSL's fourth) is the builder's own.
constexpr std::size_t kUpstreamNumbers = 3;

std::string dotted_text(const Numbers& numbers, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count && i < numbers.size(); ++i) {
    if (i > 0) text += '.';
    text += numbers[i];
  }
  return text;
}

/// The numbers at the start of `word`, where they go on from the release's first two.
std::optional<Upstream> from_word(std::string_view word, const Numbers& release) {
  const Numbers numbers = leading_numbers(word);
  if (numbers.size() < 2) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (compare_numbers(numbers[i], release[i]) != 0) return std::nullopt;
  }
  return Upstream{dotted_text(numbers, kUpstreamNumbers), true};
}

/// "Ubuntu 5.4.0-169.187-generic 5.4.257": the third word.
std::optional<Upstream> from_signature(std::string_view signature, const Numbers& release) {
  const std::vector<std::string_view> parts = words(signature);
  return parts.size() < 3 ? std::nullopt : from_word(parts[2], release);
}

/// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-..)": the package version behind the word Debian.
/// Raspberry Pi's has an epoch: "Debian 1:6.1.63-1+rpt1".
std::optional<Upstream> from_build(std::string_view build, const Numbers& release) {
  const std::vector<std::string_view> parts = words(build);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] != "Debian") continue;
    const std::size_t colon = parts[i + 1].find(':');
    return from_word(parts[i + 1].substr(colon == std::string_view::npos ? 0 : colon + 1), release);
  }
  return std::nullopt;
}

/// Whether `text` has a word of `tag` and digits, like el9, el8_9 or fc39, between separators.
/// Oracle's el8uek is another kernel than Red Hat's el8 and no such word.
bool has_tag(std::string_view text, std::string_view tag) {
  for (std::size_t at = text.find(tag); at != std::string_view::npos; at = text.find(tag, at + 1)) {
    const bool starts = at == 0 || (!is_letter(text[at - 1]) && !is_digit(text[at - 1]));
    const std::string_view after = text.substr(at + tag.size());
    const std::size_t digits = leading_digits(after).size();
    const bool ends = digits == after.size() || !is_letter(after[digits]);
    if (starts && digits > 0 && ends) return true;
  }
  return false;
}

/// Debian, Ubuntu and their kin write 0 for the third number, whatever stable release they carry,
/// and their own count after it: 6.1.0-57-amd64, 5.15.0-1019-aws, Kali's 6.5.0-kali3-amd64,
/// Raspberry Pi's 6.1.0-rpi7-rpi-v8. Red Hat and Fedora mean the 0.
bool third_is_placeholder(const Numbers& numbers, std::string_view words) {
  if (numbers.size() != 3 || !significant(numbers[2]).empty()) return false;
  if (has_tag(words, "el") || has_tag(words, "fc")) return false;
  if (words.empty() || words.front() != '-') return false;
  words.remove_prefix(1);
  return !leading_digits(words).empty() || words.substr(0, 4) == "kali" ||
         words.substr(0, 3) == "rpi";
}

}  // namespace

Result<Upstream> kernel_upstream(std::string_view release, std::string_view build,
                                 std::string_view signature) {
  GOLDENV_TRY(const Version parsed, parse(Scheme::kernel, release));
  const Numbers numbers = leading_numbers(parsed.text);
  if (numbers.size() < 2) {
    return no_version(release, "a kernel release starts with at least two numbers");
  }
  if (auto found = from_signature(signature, numbers)) return *std::move(found);
  if (auto found = from_build(build, numbers)) return *std::move(found);
  const std::size_t end = dotted_text(numbers, numbers.size()).size();
  if (third_is_placeholder(numbers, std::string_view(parsed.text).substr(end))) {
    return Upstream{dotted_text(numbers, 2), false};
  }
  return Upstream{dotted_text(numbers, kUpstreamNumbers), true};
}

}  // namespace goldenv::version
