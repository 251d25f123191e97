#include "wheel/pip_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "base/text.h"
#include "version/number.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

// Later ones win.
constexpr std::array<std::string_view, 3> kSections{"global", "install", ":env:"};

Error at_line(std::size_t line, const std::string& what) {
  return Error{Errc::malformed, "pip config list, line " + std::to_string(line) + ": " + what, {}};
}

int hex_value(char c) {
  if (version::is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// A code point as UTF-8; false where it is none.
bool append_code(std::uint32_t code, std::string& out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3FU));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
  return true;
}

/// The text of a string as Python's repr() writes it; none where it is none.
std::optional<std::string> python_string(std::string_view written) {
  if (written.size() < 2 || (written.front() != '\'' && written.front() != '"') ||
      written.back() != written.front()) {
    return std::nullopt;
  }
  const char quote = written.front();
  written = written.substr(1, written.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] == quote) return std::nullopt;
    if (written[i] != '\\') {
      out += written[i];
      continue;
    }
    if (++i == written.size()) return std::nullopt;
    constexpr std::array<std::pair<char, char>, 6> kPlain{
        {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'\\', '\\'}, {'\'', '\''}, {'"', '"'}}};
    const auto* const plain = std::ranges::find(kPlain, written[i], &std::pair<char, char>::first);
    if (plain != kPlain.end()) {
      out += plain->second;
      continue;
    }
    const std::size_t digits = written[i] == 'x' ? 2 : (written[i] == 'u' ? 4 : 8);
    if ((written[i] != 'x' && written[i] != 'u' && written[i] != 'U') ||
        written.size() - i <= digits) {
      return std::nullopt;
    }
    std::uint32_t code = 0;
    for (std::size_t digit = 0; digit < digits; ++digit) {
      const int value = hex_value(written[++i]);
      if (value < 0) return std::nullopt;
      code = (code << 4U) | static_cast<std::uint32_t>(value);
    }
    if (!append_code(code, out)) return std::nullopt;
  }
  return out;
}

std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> found;
  for (const std::string_view word : words(text)) found.emplace_back(word);
  return found;
}

/// As pip reads switches (Python's strtobool).
std::optional<bool> switch_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> kYes{"y", "yes", "t", "true", "on", "1"};
  constexpr std::array<std::string_view, 6> kNo{"n", "no", "f", "false", "off", "0"};
  const std::string lower = to_lower(trim(text));
  if (std::ranges::find(kYes, lower) != kYes.end()) return true;
  if (std::ranges::find(kNo, lower) != kNo.end()) return false;
  return std::nullopt;
}

std::optional<double> seconds_of(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size();
  if (!whole || !(value >= 0) || value > 1e9) return std::nullopt;
  return value;
}

struct Setting {
  std::string value;
  std::size_t line = 0;
};

/// Puts a key's value where it belongs; what is wrong with it, or empty.
std::string apply(const std::string& key, const std::string& value, PipSettings& settings) {
  const std::string shown = version::quoted(value);
  if (key == "index-url") {
    settings.index_url = std::string(trim(value));
  } else if (key == "extra-index-url") {
    settings.extra_index_urls = values_of(value);
  } else if (key == "find-links") {
    settings.find_links = values_of(value);
  } else if (key == "trusted-host") {
    settings.trusted_hosts = values_of(value);
  } else if (key == "cert") {
    settings.cert = value;
  } else if (key == "client-cert") {
    settings.client_cert = value;
  } else if (key == "proxy") {
    settings.proxy = value;
  } else if (key == "no-index") {
    const auto on = switch_of(value);
    if (!on) return "no-index is " + shown + ", neither yes nor no";
    settings.no_index = *on;
  } else if (key == "timeout" || key == "default-timeout") {
    settings.timeout_s = seconds_of(value);
    if (!settings.timeout_s) return "timeout is " + shown + ", no number of seconds";
  } else if (key == "retries") {
    const auto count = to_number(trim(value));
    if (!count || *count > 1'000'000) return "retries is " + shown + ", no number";
    settings.retries = static_cast<unsigned>(*count);
  }
  return "";
}

}  // namespace

Result<PipSettings> parse_pip_settings(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{Errc::too_large, "pip config list printed more than 1048576 bytes", {}};
  }
  std::array<std::map<std::string, Setting>, kSections.size()> sections;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const std::size_t sign = line.find('=');
    const std::string_view name = line.substr(0, sign);
    const std::size_t dot = name.find('.');
    if (sign == std::string_view::npos || dot == std::string_view::npos) {
      return at_line(number, version::quoted(name) + " is no section.key='value'");
    }
    const auto* const section = std::ranges::find(kSections, name.substr(0, dot));
    if (section == kSections.end()) continue;
    std::string key = to_lower(trim(name.substr(dot + 1)));
    std::ranges::replace(key, '_', '-');
    auto value = python_string(trim(line.substr(sign + 1)));
    if (!value) return at_line(number, "the value of " + key + " is no string of Python");
    if (value->empty()) continue;  // pip passes empty values over
    sections[static_cast<std::size_t>(section - kSections.begin())][key] = {*std::move(value),
                                                                            number};
  }
  PipSettings settings;
  for (const auto& section : sections) {
    for (const auto& [key, setting] : section) {
      if (const std::string why = apply(key, setting.value, settings); !why.empty()) {
        return at_line(setting.line, why);
      }
    }
  }
  return settings;
}

}  // namespace goldenv::wheel
