#include "probe/secret_words.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "facts/variable_names.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kNear = 256;  // bytes within which a command and its option stand

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool is_quote(char c) { return c == '"' || c == '\''; }

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// From `at` to the next blank, or between quotes where it begins with one.
Range word_at(std::string_view text, std::size_t at) {
  if (at < text.size() && is_quote(text[at])) {
    return {at + 1, std::min(text.find(text[at], at + 1), text.size())};
  }
  Range word{at, at};
  while (word.end < text.size() && !is_blank(text[word.end]) && !is_quote(text[word.end])) {
    ++word.end;
  }
  return word;
}

/// Names of options whose word is where a secret stands, not the secret.
bool names_place(std::string_view option) {
  constexpr auto kEndings = std::to_array<std::string_view>({"file", "path", "dir", "stdin"});
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return option.ends_with(ending); });
}

/// Whether one of these programs was named shortly before `at`.
template <std::size_t N>
bool runs_one_of(const std::array<std::string_view, N>& programs, std::string_view text,
                 std::size_t at) {
  const std::size_t start = at > kNear ? at - kNear : 0;
  const std::string_view before = text.substr(start, at - start);
  return std::ranges::any_of(words(before), [&](std::string_view word) {
    const std::string_view name = word.substr(word.rfind('/') + 1);
    return std::ranges::any_of(programs,
                               [&](std::string_view program) { return name.starts_with(program); });
  });
}

constexpr auto kTakeAttached = std::to_array<std::string_view>({"mysql", "mariadb", "sshpass"});
constexpr auto kTakeBehind = std::to_array<std::string_view>({"sshpass"});

/// user:password behind -u; not so the numbers of docker's -u 1000:1000.
Range password_of_user(std::string_view text, Range word) {
  const std::string_view pair = text.substr(word.begin, word.end - word.begin);
  const std::size_t colon = pair.find(':');
  if (colon == std::string_view::npos || to_number(pair.substr(0, colon)) ||
      pair.substr(colon).starts_with("://")) {
    return {};
  }
  return {word.begin + colon + 1, word.end};
}

}  // namespace

Range word_behind(std::string_view text, std::size_t at) {
  std::size_t start = at;
  while (start > 0 && at - start < kNear && is_name_char(text[start - 1])) {
    --start;
  }
  const std::string_view name = text.substr(start, at - start);
  const bool option = name.size() > 1 && name.front() == '-';
  if (!option && (name.empty() || text[at] != '\t')) {
    return {};
  }
  std::size_t value = at;
  while (value < text.size() && is_blank(text[value])) {
    ++value;
  }
  if (value == text.size() || text[value] == '-' || text[value] == '=' || text[value] == ':') {
    return {};
  }
  const Range word = word_at(text, value);
  constexpr auto kUsers =
      std::to_array<std::string_view>({"-u", "-U", "--user", "--proxy-user", "--userpwd"});
  if (is_one_of(kUsers, name)) {
    return password_of_user(text, word);
  }
  if (name == "-p") {
    return runs_one_of(kTakeBehind, text, start) ? word : Range{};
  }
  const std::string_view said = text.substr(word.begin, word.end - word.begin);
  return is_secret_setting(name, said) && !names_place(name) ? word : Range{};
}

Range attached_password(std::string_view text, std::size_t at) {
  if (at == 0 || !is_blank(text[at - 1]) || !text.substr(at).starts_with("-p") ||
      at + 2 >= text.size() || is_blank(text[at + 2]) || !runs_one_of(kTakeAttached, text, at)) {
    return {};
  }
  return word_at(text, at + 2);
}

Range escaped_user(std::string_view text, std::size_t at) {
  constexpr std::string_view kStart = "%3a%2f%2f";
  if (to_lower(text.substr(at, kStart.size())) != kStart) {
    return {};
  }
  constexpr std::size_t kLongest = 1024;
  const std::size_t begin = at + kStart.size();
  const std::string rest = to_lower(text.substr(begin, kLongest));
  const std::size_t end =
      std::min({rest.find_first_of(" \t\r\n\"'&<>/?#"), rest.find("%2f"), rest.find("%3f")});
  const std::size_t sign = std::string_view(rest).substr(0, end).rfind("%40");
  return sign == std::string::npos ? Range{} : Range{begin, begin + sign};
}

bool is_secret_setting(std::string_view name, std::string_view value) {
  const std::string lower = to_lower(name);
  if (lower.find("snmp") != std::string::npos && lower.find("community") != std::string::npos) {
    return true;
  }
  if (!facts::is_secret_name(name)) {
    return false;
  }
  const std::size_t last = lower.find_last_of("._-");
  const std::string_view word = last == std::string::npos
                                    ? std::string_view(lower)
                                    : std::string_view(lower).substr(last + 1);
  constexpr auto kWeak = std::to_array<std::string_view>({"key", "keys", "session"});
  const std::string_view before =
      last == std::string::npos ? std::string_view() : std::string_view(lower).substr(0, last);
  if (!is_one_of(kWeak, word) || facts::is_secret_name(before)) {
    return true;
  }
  constexpr auto kSettings = std::to_array<std::string_view>(
      {"true", "false", "on", "off", "yes", "no", "none", "auto", "default"});
  constexpr std::size_t kFewDigits = 4;
  const bool plain = (value.size() <= kFewDigits && to_number(value)) ||
                     is_one_of(kSettings, to_lower(value)) ||
                     (word == "session" && std::ranges::all_of(value, is_letter));
  return !plain;
}

}  // namespace goldenv::probe
