#include "wheel/url.h"

#include <cstdint>

#include "base/text.h"
#include "version/number.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

/// Where the ':' behind a scheme stands; kNone where no scheme begins the text.
std::size_t scheme_end(std::string_view text) {
  if (text.empty() || !version::is_letter(text.front())) return kNone;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i;
    if (!version::is_letter(c) && !version::is_digit(c) && c != '+' && c != '-' && c != '.') {
      return kNone;
    }
  }
  return kNone;
}

int hex_value(char c) {
  if (version::is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// RFC 3986 section 5.2.3.
std::string merged(const Url& base, std::string_view path) {
  if (base.has_authority && base.path.empty()) return "/" + std::string(path);
  const std::size_t slash = base.path.rfind('/');
  return (slash == std::string::npos ? "" : base.path.substr(0, slash + 1)) + std::string(path);
}

}  // namespace

Url parse_url(std::string_view text) {
  Url url;
  if (const std::size_t hash = text.find('#'); hash != kNone) {
    url.has_fragment = true;
    url.fragment = std::string(text.substr(hash + 1));
    text = text.substr(0, hash);
  }
  if (const std::size_t mark = text.find('?'); mark != kNone) {
    url.has_query = true;
    url.query = std::string(text.substr(mark + 1));
    text = text.substr(0, mark);
  }
  if (const std::size_t colon = scheme_end(text); colon != kNone) {
    url.scheme = to_lower(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    url.has_authority = true;
    text.remove_prefix(2);
    const std::size_t slash = text.find('/');
    url.authority = std::string(text.substr(0, slash));
    text.remove_prefix(slash == kNone ? text.size() : slash);
  }
  url.path = std::string(text);
  return url;
}

std::string render(const Url& url) {
  std::string out;
  if (!url.scheme.empty()) out += url.scheme + ":";
  if (url.has_authority) out += "//" + url.authority;
  out += url.path;
  if (url.has_query) out += "?" + url.query;
  if (url.has_fragment) out += "#" + url.fragment;
  return out;
}

std::string without_dot_segments(std::string_view path) {
  std::string out;
  const auto drop_last = [&] {
    const std::size_t slash = out.rfind('/');
    out.erase(slash == std::string::npos ? 0 : slash);
  };
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./") || path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../") || path == "/..") {
      drop_last();
      path = path.size() == 3 ? "/" : path.substr(3);
    } else if (path == "." || path == "..") {
      path = "";
    } else {
      const std::size_t next = path.find('/', 1);
      out += path.substr(0, next);
      path.remove_prefix(next == kNone ? path.size() : next);
    }
  }
  return out;
}

Url resolve(const Url& base, std::string_view reference) {
  Url target = parse_url(reference);
  if (!target.scheme.empty()) {
    target.path = without_dot_segments(target.path);
    return target;
  }
  target.scheme = base.scheme;
  if (target.has_authority) {
    target.path = without_dot_segments(target.path);
    return target;
  }
  target.has_authority = base.has_authority;
  target.authority = base.authority;
  if (target.path.empty()) {
    target.path = base.path;
    if (!target.has_query) {
      target.has_query = base.has_query;
      target.query = base.query;
    }
  } else {
    target.path = without_dot_segments(target.path.starts_with('/') ? target.path
                                                                    : merged(base, target.path));
  }
  return target;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(static_cast<std::uint8_t>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

std::string file_of(const Url& url) {
  const std::size_t slash = url.path.rfind('/');
  return percent_decoded(slash == std::string::npos ? std::string_view(url.path)
                                                    : std::string_view(url.path).substr(slash + 1));
}

std::string field_of(std::string_view fragment, std::string_view name) {
  for (const std::string_view field : split(fragment, '&')) {
    const std::size_t sign = field.find('=');
    if (sign != kNone && field.substr(0, sign) == name) {
      return percent_decoded(field.substr(sign + 1));
    }
  }
  return "";
}

}  // namespace goldenv::wheel
