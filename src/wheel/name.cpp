#include "wheel/name.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "version/version.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxFileBytes = 1024;
// "py2.py3-none-a.b.c" is several tags in one; the longest names published have a few dozen.
constexpr std::size_t kMaxTags = 1024;
constexpr std::string_view kWheelEnd = ".whl";

constexpr bool is_alphanumeric(char c) { return version::is_letter(c) || version::is_digit(c); }
constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

Error no_wheel(std::string_view file, std::string_view why) {
  return Error{
      Errc::malformed, version::quoted(file) + " is no name of a wheel: " + std::string(why), {}};
}

/// The words between dots, in lower case; empty where one of them is.
std::vector<std::string> words_of(std::string_view part) {
  std::vector<std::string> found;
  for (const std::string_view word : split(part, '.')) {
    if (word.empty()) return {};
    found.push_back(to_lower(word));
  }
  return found;
}

/// The version in a file's name as version::parse takes it. Builders write '_' for '-', and only
/// "1.0-1" is a version (1.0.post1) where "1.0_1" is none.
Result<std::string> version_in_name(std::string_view part) {
  auto parsed = version::parse(version::Scheme::pep440, part);
  if (parsed) return std::string(part);
  std::string dashes(part);
  std::ranges::replace(dashes, '_', '-');
  if (version::parse(version::Scheme::pep440, dashes)) return dashes;
  return std::move(parsed).error();
}

/// The first two parts of the file's name.
std::string stem(const WheelName& wheel) {
  const std::size_t first = wheel.file.find('-');
  return wheel.file.substr(0, wheel.file.find('-', first + 1));
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || is_separator(c); });
}

std::string normalised_name(std::string_view name) {
  std::string out;
  bool between = false;
  for (const char c : name) {
    if (is_separator(c)) {
      between = true;
      continue;
    }
    if (between) out += '-';
    between = false;
    out += c;
  }
  if (between) out += '-';
  return to_lower(out);
}

std::string escaped_name(std::string_view name) {
  std::string out = normalised_name(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

std::strong_ordering order(const BuildTag& a, const BuildTag& b) {
  if (a.empty() || b.empty()) return !a.empty() <=> !b.empty();
  const auto numbers = version::compare_numbers(a.digits, b.digits);
  if (numbers != 0) return numbers;
  return std::string_view(a.rest) <=> std::string_view(b.rest);
}

Result<WheelName> parse_wheel_name(std::string_view file) {
  if (file.size() > kMaxFileBytes) return no_wheel(file, "longer than 1024 bytes");
  if (!file.ends_with(kWheelEnd)) return no_wheel(file, "it does not end in .whl");
  const bool plain = std::ranges::all_of(
      file, [](char c) { return is_alphanumeric(c) || is_separator(c) || c == '+' || c == '!'; });
  if (!plain) return no_wheel(file, "only letters, digits and -_.+! stand in one");
  const std::vector<std::string_view> parts =
      split(file.substr(0, file.size() - kWheelEnd.size()), '-');
  if (parts.size() != 5 && parts.size() != 6) {
    return no_wheel(
        file, "it has " + std::to_string(parts.size()) + " parts between dashes, expected 5 or 6");
  }
  if (!is_name(parts[0])) {
    return no_wheel(file, version::quoted(parts[0]) + " names no package");
  }
  WheelName wheel;
  wheel.file = std::string(file);
  wheel.name = normalised_name(parts[0]);
  Result<std::string> version = version_in_name(parts[1]);
  if (!version) return no_wheel(file, version.error().message);
  wheel.version = *std::move(version);
  if (parts.size() == 6) {
    const std::string_view digits = version::leading_digits(parts[2]);
    if (digits.empty()) {
      return no_wheel(file, "build tag " + version::quoted(parts[2]) + " begins with no digit");
    }
    const std::string_view number = version::significant(digits);
    wheel.build = {number.empty() ? "0" : std::string(number),
                   std::string(parts[2].substr(digits.size()))};
  }
  wheel.pythons = words_of(parts[parts.size() - 3]);
  wheel.abis = words_of(parts[parts.size() - 2]);
  wheel.platforms = words_of(parts[parts.size() - 1]);
  if (wheel.pythons.empty() || wheel.abis.empty() || wheel.platforms.empty()) {
    return no_wheel(file, "one of its tags is empty");
  }
  if (wheel.pythons.size() * wheel.abis.size() * wheel.platforms.size() > kMaxTags) {
    return no_wheel(file, "more than " + std::to_string(kMaxTags) + " combinations of tags");
  }
  return wheel;
}

Result<SourceName> parse_source_name(std::string_view file) {
  constexpr std::array<std::string_view, 5> kEnds{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz"};
  const auto no_source = [&](std::string_view why) {
    return Error{
        Errc::malformed,
        version::quoted(file) + " is no name of a source distribution: " + std::string(why),
        {}};
  };
  if (file.size() > kMaxFileBytes) return no_source("longer than 1024 bytes");
  const auto* const end =
      std::ranges::find_if(kEnds, [&](std::string_view e) { return file.ends_with(e); });
  if (end == kEnds.end()) return no_source("it ends in none of .tar.gz, .zip, .tar.bz2, .tgz");
  const std::string_view rest = file.substr(0, file.size() - end->size());
  const std::size_t dash = rest.rfind('-');
  if (dash == std::string_view::npos) return no_source("it has no dash");
  if (!is_name(rest.substr(0, dash))) {
    return no_source(version::quoted(rest.substr(0, dash)) + " names no package");
  }
  auto parsed = version::parse(version::Scheme::pep440, rest.substr(dash + 1));
  if (!parsed) return no_source(parsed.error().message);
  return SourceName{normalised_name(rest.substr(0, dash)), std::move(parsed->text)};
}

std::string dist_info_folder(const WheelName& wheel) { return stem(wheel) + ".dist-info"; }

std::string data_folder(const WheelName& wheel) { return stem(wheel) + ".data"; }

}  // namespace goldenv::wheel
