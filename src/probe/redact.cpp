#include "probe/redact.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/text.h"
#include "facts/variable_names.h"
#include "probe/secret_shapes.h"
#include "probe/secret_words.h"

namespace goldenv::probe {
namespace {

using facts::is_secret_name;

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_name_char(char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; }

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_blank(text[at]) && text[at] != '"') {
    ++at;
  }
  return at;
}

/// What lies ahead in a text and what was passed, asked in order of ever larger places: each byte
/// is looked at once however often it is asked, so that a hostile text costs no more than its
/// length.
class Passage {
 public:
  explicit Passage(std::string_view text) : text_(text) {}

  /// Where the word at `at` ends.
  std::size_t word_end(std::size_t at) {
    if (!word_ || at > *word_) {
      word_ = end_of_word(text_, at);
    }
    return *word_;
  }
  /// The next '@' at or behind `at`; the size of the text where there is none.
  std::size_t sign(std::size_t at) {
    if (!sign_ || at > *sign_) {
      sign_ = std::min(text_.find('@', at), text_.size());
    }
    return *sign_;
  }
  /// Whether a quote stands open before `at`.
  bool is_open(char quote, std::size_t at) {
    for (; counted_ < at; ++counted_) {
      double_ = double_ != (text_[counted_] == '"');
      single_ = single_ != (text_[counted_] == '\'');
    }
    return quote == '"' ? double_ : single_;
  }

 private:
  std::string_view text_;
  std::optional<std::size_t> word_;
  std::optional<std::size_t> sign_;
  std::size_t counted_ = 0;
  bool double_ = false;
  bool single_ = false;
};

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

/// Whether a machine's name can begin so: a letter, an IPv4 address, a bracket. Not so the digest
/// of an image (x:tag@sha256:...), the place of memory (crashkernel=2G-:64M@16M), the rate of a
/// screen (video=DP-1:1024x768@60).
bool is_host(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  text = text.substr(0, kLongest);
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) {
    ++end;
  }
  const std::string_view name = text.substr(0, end);
  if (name.empty()) {
    return text.starts_with('[');
  }
  if (name.front() >= '0' && name.front() <= '9') {
    return std::ranges::count(name, '.') == 3 &&
           name.find_first_not_of("0123456789.") == std::string_view::npos;
  }
  const bool digest =
      name.starts_with("sha") && to_number(name.substr(3)) && end < text.size() && text[end] == ':';
  return is_alnum(name.front()) && !digest;
}

/// Where the user part of a URL ends (the index of its '@'), `at` standing behind "://"; npos where
/// it has none. A password with an unescaped slash or blank is taken for one where a port would be
/// no number. The user of ssh://git@host is a name, and no secret.
std::size_t user_part_end(std::string_view text, std::size_t at, Passage& passage) {
  const std::size_t word = passage.word_end(at);
  std::size_t authority = at;
  while (authority < word && text[authority] != '/' && text[authority] != '?' &&
         text[authority] != '#') {
    ++authority;
  }
  const std::string_view host = text.substr(at, authority - at);
  if (const std::size_t sign = host.rfind('@'); sign != std::string_view::npos) {
    const bool by_ssh = text.substr(0, at).ends_with("ssh://");
    return by_ssh && host.find(':') > sign ? std::string_view::npos : at + sign;
  }
  if (const std::size_t sign = host.rfind("%40"); sign != std::string_view::npos) {
    return at + sign;
  }
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.starts_with('[') || host.substr(colon + 1).empty() ||
      to_number(host.substr(colon + 1))) {
    return std::string_view::npos;
  }
  if (passage.sign(at) < word) {
    return text.substr(0, word).rfind('@');
  }
  constexpr std::size_t kLongest = 128;  // what may stand between a blank in a password and its end
  const std::string_view behind = text.substr(word, kLongest);
  const std::size_t sign = behind.find_first_of("@/\n\"");
  return sign != std::string_view::npos && behind[sign] == '@' &&
                 is_host(text.substr(word + sign + 1))
             ? word + sign
             : std::string_view::npos;
}

/// Where the user part of `user:password@host` without a scheme ends (the index of its '@'), its
/// colon standing at `at`; npos where none does. What begins like a path (/a:/b@c), a port with a
/// path behind it (host:80/a@b) and what is no name before the colon is none.
std::size_t bare_user_end(std::string_view text, std::size_t at, Passage& passage) {
  constexpr auto kNotUsers = std::to_array<std::string_view>(
      {"file", "git", "image", "mailto", "pid", "root", "sip", "slurm", "ssh", "unit"});
  constexpr std::size_t kLongest = 256;  // of a password, and of what else stands before the host
  const std::size_t word = passage.word_end(at);
  const std::size_t first = passage.sign(at);
  if (first >= word || first == at + 1 || first - at > kLongest) {
    return std::string_view::npos;
  }
  std::size_t start = at;
  while (start > 0 && is_name_char(text[start - 1])) {
    --start;
  }
  const std::string_view user = text.substr(start, at - start);
  const bool begins = start == 0 || is_blank(text[start - 1]) ||
                      text.substr(0, start).ends_with("//") ||
                      std::string_view("=\"',;(<[").find(text[start - 1]) != std::string_view::npos;
  const bool is_name = std::ranges::any_of(user, [](char c) { return is_alnum(c) && (c > '9'); });
  if (!begins || !is_name || std::ranges::find(kNotUsers, user) != kNotUsers.end()) {
    return std::string_view::npos;
  }
  const std::string_view password = text.substr(at + 1, first - at - 1);
  if (password.front() == ':' || password.front() == '/' ||
      (password.find('/') != std::string_view::npos &&
       to_number(password.substr(0, password.find('/'))))) {
    return std::string_view::npos;
  }
  // A password may hold '@' as well; a list's next member is no part of it.
  std::size_t sign = first;
  for (std::size_t i = first + 1; i < std::min(word, first + kLongest) && is_name_char(text[i]);
       ++i) {
    if (i + 1 < word && text[i + 1] == '@') {
      sign = ++i;
    }
  }
  return is_host(text.substr(sign + 1)) ? sign : std::string_view::npos;
}

/// Whether an assignment begins at `at`: a name and '='.
bool is_assignment(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_name_char(text[end])) {
    ++end;
  }
  return end > at && end < text.size() && text[end] == '=';
}

/// The quotes that stand open before a name.
struct Open {
  bool double_quote = false;
  bool single_quote = false;
};

/// Up to a blank, a quote that was open before, or a separator behind which nothing but another
/// assignment stands: passwords may hold separators.
std::size_t word_end(std::string_view text, const Open& open, std::size_t value) {
  std::size_t end = value;
  for (; end < text.size() && !is_blank(text[end]); ++end) {
    const char c = text[end];
    if ((c == '"' && open.double_quote) || (c == '\'' && open.single_quote)) {
      break;
    }
    if ((c == '&' || c == ';' || c == ',') && is_assignment(text, end + 1)) {
      break;
    }
  }
  return end;
}

/// The same, with the credentials that follow where the word is an HTTP scheme: "Bearer abc".
std::size_t unquoted_end(std::string_view text, const Open& open, std::size_t value) {
  const std::size_t end = word_end(text, open, value);
  const std::string word = to_lower(text.substr(value, end - value));
  if (word != "bearer" && word != "basic" && word != "digest" && word != "token") {
    return end;
  }
  std::size_t next = end;
  while (next < text.size() && is_blank(text[next])) {
    ++next;
  }
  return next < text.size() ? word_end(text, open, next) : end;
}

/// Whether what begins at `start` is no later part of a path or a list.
bool begins_word(std::string_view text, std::size_t start) {
  return start == 0 || is_blank(text[start - 1]) ||
         std::string_view("\"',;({[&?=").find(text[start - 1]) != std::string_view::npos;
}

/// Names that hardly stand for anything else: what follows a bare colon is then a secret, too.
bool is_plainly_secret(std::string_view name) {
  constexpr auto kParts = std::to_array<std::string_view>(
      {"passw", "passphrase", "token", "secret", "apikey", "api-key", "api_key", "accesskey",
       "access-key", "access_key", "credential", "cookie"});
  const std::string lower = to_lower(name);
  return lower.ends_with("pwd") || std::ranges::any_of(kParts, [&](std::string_view part) {
           return lower.find(part) != std::string::npos;
         });
}

/// The value of the secret whose name ends at `at` (text[at] is '=', ':' or the quote after the
/// name), or an empty range.
Range secret_value(std::string_view text, std::size_t at, Passage& passage) {
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
  const bool signs = in_query && to_lower(name) == "sig";
  if (name.empty() || !(signs || is_secret_setting(name, "?"))) {
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
  if (text.substr(sign).starts_with(":=")) {
    ++sign;
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
  const bool bare = text[sign] == ':' && value == sign + 1 && !quoted && !quoted_name;
  if (bare && !(begins_word(text, start) && is_plainly_secret(name) && text[value] != '/')) {
    return {};
  }
  if (quoted) {
    const std::size_t close = text.find(text[value], value + 1);
    return {value + 1, close == std::string_view::npos ? text.size() : close};
  }
  const Open open{passage.is_open('"', start), passage.is_open('\'', start)};
  const Range found{value, unquoted_end(text, open, value)};
  const std::string_view word = text.substr(found.begin, found.end - found.begin);
  return signs || is_secret_setting(name, word) ? found : Range{};
}

constexpr auto kSigns = [] {
  std::array<bool, 256> signs{};
  for (const char c : std::string_view("=:@% \t\n\v\f\r\"'")) {
    signs[static_cast<unsigned char>(c)] = true;
  }
  return signs;
}();

/// Whether a text can hold anything of interest at all; most facts cannot: without a sign there are
/// only tokens, and these begin words.
bool is_plain(std::string_view text) {
  if (text.size() < 4) {
    return true;
  }
  bool within = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (kSigns[static_cast<unsigned char>(c)] ||
        (!within && (token_length(text, at) != 0 || jwt_length(text, at) != 0))) {
      return false;
    }
    within = is_alnum(c);
  }
  return true;
}

/// The secret that the character at `at` leads to.
Range secret_at(std::string_view text, std::size_t at, Passage& passage) {
  switch (text[at]) {
    case '=':
    case ':':
    case '"':
    case '\'':
      return at > 0 ? secret_value(text, at, passage) : Range{};
    case '-':
      return attached_password(text, at);
    case '%':
      return escaped_user(text, at);
    default:
      return is_blank(text[at]) && at > 0 ? word_behind(text, at) : Range{};
  }
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

void redact_in_place(std::string& text) {
  if (!is_plain(text)) {
    text = redact(std::string_view(text));
  }
}

std::string redact(std::string_view text) {
  if (is_plain(text)) {
    return std::string(text);
  }
  std::string out;
  out.reserve(text.size());
  Passage passage(text);
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
      at = passage.word_end(at + scheme);
      continue;
    }
    if (text.substr(at).starts_with("://")) {
      const std::size_t sign = user_part_end(text, at + 3, passage);
      out += "://";
      at += 3;
      if (sign != std::string_view::npos) {
        out += kMask;
        at = sign;
      }
      continue;
    }
    if (const Range found = secret_at(text, at, passage); found.end > found.begin) {
      out += text.substr(at, found.begin - at);
      out += kMask;
      at = found.end;
      continue;
    }
    if (at > 0 && text[at] == ':') {
      if (const std::size_t sign = bare_user_end(text, at, passage);
          sign != std::string_view::npos) {
        out += ':';
        out += kMask;
        at = sign;
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
    if (!value.empty() && is_secret_setting(name, value)) {
      word = redact(name) + "=" + std::string(kMask);  // an open quote makes a name of much
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

}  // namespace goldenv::probe
