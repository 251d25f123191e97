#include "probe/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "base/text.h"
#include "facts/variable_names.h"

namespace goldenv::probe {
namespace {

using facts::is_secret_name;

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_name_char(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

/// A token is known by how it begins; `least` further characters make it one.
struct TokenShape {
  std::string_view start;
  std::size_t least;
  bool dashes;  ///< '-' and '_' may follow too
};

constexpr auto kTokenShapes = std::to_array<TokenShape>({
    {"ghp_", 16, false},
    {"gho_", 16, false},
    {"ghu_", 16, false},
    {"ghs_", 16, false},
    {"ghr_", 16, false},
    {"github_pat_", 16, true},
    {"glpat-", 12, true},
    {"gldt-", 12, true},
    {"glrt-", 12, true},
    {"glcbt-", 12, true},
    {"hf_", 20, false},
    {"sk-", 16, true},
    {"sk_live_", 12, true},
    {"sk_test_", 12, true},
    {"rk_live_", 12, true},
    {"pk_live_", 12, true},
    {"AKIA", 16, false},
    {"ASIA", 16, false},
    {"xoxa-", 8, true},
    {"xoxb-", 8, true},
    {"xoxp-", 8, true},
    {"xoxe-", 8, true},
    {"xoxr-", 8, true},
    {"xoxs-", 8, true},
    {"xapp-", 8, true},
    {"AIza", 30, true},
    {"ya29.", 16, true},
    {"npm_", 30, false},
    {"pypi-AgE", 16, true},
    {"dckr_pat_", 16, true},
    {"nvapi-", 16, true},
    {"gsk_", 20, false},
    {"hvs.", 16, true},
    {"dop_v1_", 20, false},
    {"AGE-SECRET-KEY-", 16, true},
    {"ATATT3", 16, true},
    {"shpat_", 16, false},
    {"SG.", 20, true},
    {"lsv2_pt_", 16, true},
});

/// Length of the token that begins at `at`, or 0.
std::size_t token_length(std::string_view text, std::size_t at) {
  constexpr std::string_view kFirst = "ghskrpxAyndlS";  // first letters of the table above
  if (kFirst.find(text[at]) == std::string_view::npos ||
      (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '_'))) {
    return 0;
  }
  const std::string_view rest = text.substr(at);
  for (const TokenShape& shape : kTokenShapes) {
    if (!rest.starts_with(shape.start)) {
      continue;
    }
    std::size_t end = shape.start.size();
    while (end < rest.size() &&
           (is_alnum(rest[end]) ||
            (shape.dashes && (rest[end] == '-' || rest[end] == '_' || rest[end] == '.')))) {
      ++end;
    }
    if (end - shape.start.size() >= shape.least) {
      return end;
    }
  }
  return 0;
}

/// Length of the JSON web token or other base64 of a JSON object ("eyJ...") at `at`, or 0.
std::size_t jwt_length(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (!rest.starts_with("eyJ") || (at > 0 && is_alnum(text[at - 1]))) {
    return 0;
  }
  std::size_t end = 0;
  while (end < rest.size() && (is_alnum(rest[end]) || rest[end] == '-' || rest[end] == '_' ||
                               rest[end] == '.' || rest[end] == '=')) {
    ++end;
  }
  constexpr std::size_t kLeast = 16;
  return end >= kLeast ? end : 0;
}

/// Length of the PEM block at `at`, to its END line or, where it is cut short, to the end; or 0.
std::size_t pem_length(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN";
  constexpr std::string_view kEnd = "-----END";
  if (!text.substr(at).starts_with(kBegin)) {
    return 0;
  }
  const std::size_t end = text.find(kEnd, at);
  if (end == std::string_view::npos) {
    return text.size() - at;
  }
  const std::size_t close = text.find("-----", end + kEnd.size());
  return (close == std::string_view::npos ? text.size() : close + 5) - at;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at]) && text[at] != '"') {
    ++at;
  }
  return at;
}

/// Length of an HTTP authorization scheme with its blank at `at`, where credentials follow; or 0.
std::size_t scheme_length(std::string_view text, std::size_t at) {
  if ((text[at] != 'b' && text[at] != 'B') || (at > 0 && is_alnum(text[at - 1]))) {
    return 0;
  }
  for (const std::string_view scheme : {"bearer ", "basic ", "bearer%20"}) {
    if (to_lower(text.substr(at, scheme.size())) != scheme) {
      continue;
    }
    const std::size_t start = at + scheme.size();
    const std::string_view word = text.substr(start, end_of_word(text, start) - start);
    // "basic" is an English word as well; base64 of user:password is hardly ever all lower case.
    const bool likely = scheme != "basic " ||
                        (word.size() >= 6 && std::ranges::any_of(word, [](char c) {
                           return c == '=' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                         }));
    return likely && !word.empty() ? scheme.size() : 0;
  }
  return 0;
}

/// Where the user part of a URL ends (the index of its '@'), `at` standing behind "://"; npos where
/// it has none. A password with an unescaped slash is taken for one where a port would be no
/// number.
std::size_t user_part_end(std::string_view text, std::size_t at) {
  const std::size_t word = end_of_word(text, at);
  std::size_t authority = at;
  while (authority < word && text[authority] != '/' && text[authority] != '?' &&
         text[authority] != '#') {
    ++authority;
  }
  const std::size_t sign = text.substr(0, authority).rfind('@');
  if (sign != std::string_view::npos && sign >= at) {
    return sign;
  }
  const std::string_view host = text.substr(at, authority - at);
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.starts_with('[') || host.substr(colon + 1).empty() ||
      to_number(host.substr(colon + 1))) {
    return std::string_view::npos;
  }
  const std::size_t late = text.substr(0, word).rfind('@');
  return late != std::string_view::npos && late >= authority ? late : std::string_view::npos;
}

/// Whether an assignment begins at `at`: a name and '='.
bool is_assignment(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_name_char(text[end])) {
    ++end;
  }
  return end > at && end < text.size() && text[end] == '=';
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Up to a blank, a quote that was open before, or a separator behind which nothing but another
/// assignment stands: passwords may hold separators.
std::size_t word_end(std::string_view text, std::size_t name, std::size_t value) {
  const std::string_view before = text.substr(0, name);
  std::size_t end = value;
  for (; end < text.size() && !is_blank(text[end]); ++end) {
    const char c = text[end];
    if ((c == '"' || c == '\'') && std::ranges::count(before, c) % 2 == 1) {
      break;
    }
    if ((c == '&' || c == ';' || c == ',') && is_assignment(text, end + 1)) {
      break;
    }
  }
  return end;
}

/// The same, with the credentials that follow where the word is an HTTP scheme: "Bearer abc".
std::size_t unquoted_end(std::string_view text, std::size_t name, std::size_t value) {
  const std::size_t end = word_end(text, name, value);
  const std::string word = to_lower(text.substr(value, end - value));
  if (word != "bearer" && word != "basic" && word != "digest" && word != "token") {
    return end;
  }
  std::size_t next = end;
  while (next < text.size() && is_blank(text[next])) {
    ++next;
  }
  return next < text.size() ? word_end(text, name, next) : end;
}

/// The value of the secret whose name ends at `at` (text[at] is '=', ':' or the quote after the
/// name), or an empty range.
Range secret_value(std::string_view text, std::size_t at) {
  std::size_t name_end = at;
  while (text[at] == '=' && name_end > 0 && text[name_end - 1] == ' ') {
    --name_end;
  }
  std::size_t start = name_end;
  while (start > 0 && is_name_char(text[start - 1])) {
    --start;
  }
  const std::string_view name = text.substr(start, name_end - start);
  const bool in_query = start > 0 && (text[start - 1] == '?' || text[start - 1] == '&');
  if (name.empty() || !(is_secret_name(name) || (in_query && to_lower(name) == "sig"))) {
    return {};
  }
  const bool quoted_name = text[at] == '"' || text[at] == '\'';
  std::size_t sign = quoted_name ? at + 1 : at;
  while (sign < text.size() && text[sign] == ' ') {
    ++sign;
  }
  if (sign >= text.size() || (text[sign] != '=' && text[sign] != ':')) {
    return {};
  }
  std::size_t value = sign + 1;
  while (value < text.size() && is_blank(text[value])) {
    ++value;
  }
  if (value >= text.size()) {
    return {};
  }
  const bool quoted = text[value] == '"' || text[value] == '\'';
  // "key:" with neither blank nor quote may part the folders of a path or be the scheme of a URL.
  if (text[sign] == ':' && value == sign + 1 && !quoted && !quoted_name) {
    return {};
  }
  if (quoted) {
    const std::size_t close = text.find(text[value], value + 1);
    return {value + 1, close == std::string_view::npos ? text.size() : close};
  }
  return {value, unquoted_end(text, start, value)};
}

/// Whether a text can hold anything of interest at all; most facts cannot.
bool is_plain(std::string_view text) {
  return text.size() < 8 || text.find_first_of("=:@-_. AIe") == std::string_view::npos;
}

/// netroot=iscsi:user:pass@host, whose user part stands behind no "//". Not so
/// netconsole=4444@10.0.0.1/eth1,9353@10.0.0.2, whose '@' parts a port from an address.
void mask_bare_user(std::string& word, std::size_t equals) {
  const std::size_t sign = word.rfind('@');
  const std::size_t colon = word.find(':', equals);
  if (sign == std::string::npos || colon > sign || word.compare(colon, 3, "://") == 0) {
    return;
  }
  if (word.starts_with("netroot") || word.find_first_of(",/", equals) > sign) {
    word.replace(colon + 1, sign - colon - 1, kMask);
  }
}

}  // namespace

std::string redact(std::string_view text) {
  if (is_plain(text)) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = std::max(
        {token_length(text, at), jwt_length(text, at), text[at] == '-' ? pem_length(text, at) : 0});
    if (length != 0) {
      out += kMask;
      at += length;
      continue;
    }
    if (const std::size_t scheme = scheme_length(text, at); scheme != 0) {
      out += text.substr(at, scheme);
      out += kMask;
      at = end_of_word(text, at + scheme);
      continue;
    }
    if (text.substr(at).starts_with("://")) {
      const std::size_t sign = user_part_end(text, at + 3);
      out += "://";
      at += 3;
      if (sign != std::string_view::npos) {
        out += kMask;
        at = sign;
      }
      continue;
    }
    if (at > 0 && (text[at] == '=' || text[at] == ':' || text[at] == '"' || text[at] == '\'')) {
      if (const Range found = secret_value(text, at); found.end > found.begin) {
        out += text.substr(at, found.begin - at);
        out += kMask;
        at = found.end;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

std::vector<std::string> redact_cmdline(std::vector<std::string> parameters) {
  bool mask_next = false;
  for (std::string& word : parameters) {
    if (mask_next && !word.starts_with('-')) {
      word = kMask;
      mask_next = false;
      continue;
    }
    mask_next = false;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos) {
      mask_next = name.starts_with("--") && is_secret_name(name);
      word = redact(word);
      continue;
    }
    const std::string value = word.substr(equals + 1);
    if (is_secret_name(name) && !value.empty()) {
      word = name + "=" + std::string(kMask);
      continue;
    }
    // Any variable may hold one; systemd.set_credential has a secret's name already.
    if (const std::size_t sign = value.find('=');
        name == "systemd.setenv" && sign != std::string::npos) {
      word = name + "=" + value.substr(0, sign + 1) + std::string(kMask);
      continue;
    }
    word = redact(word);
    mask_bare_user(word, equals);
  }
  return parameters;
}

void redact(facts::Reading& reading) {
  if (auto* value = std::get_if<facts::Value>(&reading)) {
    value->text = redact(value->text);
    for (std::string& item : value->items) {
      item = redact(item);
    }
    for (auto& [name, amount] : value->entries) {
      name = redact(name);
      amount = redact(amount);
    }
  } else if (auto* absent = std::get_if<facts::Absent>(&reading)) {
    absent->reason = redact(absent->reason);
  } else if (auto* unknown = std::get_if<facts::Unknown>(&reading)) {
    unknown->detail = redact(unknown->detail);
  }
}

void redact(facts::Evidence& evidence) {
  evidence.from = redact(evidence.from);
  for (std::string& note : evidence.notes) {
    note = redact(note);
  }
}

}  // namespace goldenv::probe
