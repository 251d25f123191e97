#include "base/url.h"

#include <algorithm>

#include "base/text.h"

namespace goldenv {
namespace {

constexpr std::string_view kMask = "***";
constexpr std::size_t kNone = std::string_view::npos;

/// Where the user part of the authority at the beginning of `text` ends (its '@'). A slash in a
/// password should be escaped and often is not: what stands before it is then no host and port.
std::size_t user_end(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n\"'`<>"));
  const std::string_view authority = word.substr(0, word.find_first_of("/?#"));
  if (const std::size_t sign = authority.rfind('@'); sign != kNone) {
    return sign;
  }
  const std::size_t colon = authority.rfind(':');
  if (colon == kNone || authority.starts_with('[') || colon + 1 == authority.size() ||
      to_number(authority.substr(colon + 1))) {
    return kNone;
  }
  return word.rfind('@');
}

/// The same where one slash was lost: a URL that was taken for a path and tidied. No path has a
/// colon and an '@' there by chance.
std::size_t user_end_in_path(std::string_view text) {
  const std::string_view first = text.substr(0, text.find_first_of("/ \t\r\n\"'`<>"));
  const std::size_t sign = first.rfind('@');
  return first.substr(0, sign).find(':') == kNone ? kNone : sign;
}

}  // namespace

std::string mask_users(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t at = text.find(":/");
    if (at == kNone) {
      out += text;
      return out;
    }
    const bool whole = text.substr(at).starts_with("://");
    const std::size_t begin = at + (whole ? 3 : 2);
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    if (const std::size_t end = whole ? user_end(text) : user_end_in_path(text); end != kNone) {
      out += kMask;
      text.remove_prefix(end);
    }
  }
}

std::string mask_source_user(std::string_view word) {
  std::string out = mask_users(word);
  const std::size_t colon = out.find(':');
  const std::size_t sign = out.rfind('@');
  if (colon == kNone || sign == kNone || sign < colon || out.find("://") != kNone) {
    return out;
  }
  const std::string_view between = std::string_view(out).substr(colon + 1, sign - colon - 1);
  const bool names_repository = word.starts_with("git:") && between.find(':') == kNone;
  if (!names_repository && (between.find('/') == kNone || between.find(':') != kNone)) {
    out.replace(colon + 1, sign - colon - 1, kMask);
  }
  return out;
}

}  // namespace goldenv
