#include "fetch/place.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/text.h"
#include "base/url.h"

namespace goldenv::fetch {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::optional<std::string> part(CURLU* url, CURLUPart what, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, what, &text, flags) != CURLUE_OK || text == nullptr) {
    return std::nullopt;
  }
  std::string copy = text;
  curl_free(text);
  return copy;
}

Error malformed(std::string_view url, std::string_view what) {
  return Error{Errc::malformed, "'" + shown(url) + "' " + std::string(what), {}};
}

/// Read as an address and not as a text: 127.evil.example begins like one.
bool is_this_machine(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) {
    return ntohl(four.s_addr) >> 24 == 127;
  }
  in6_addr six{};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&six);
  }
  return host == "localhost";
}

/// How much two paths have in common, up to the last '/'.
std::size_t common(std::string_view a, std::string_view b) {
  const auto differ = std::ranges::mismatch(a, b);
  const std::size_t slash =
      a.substr(0, static_cast<std::size_t>(differ.in1 - a.begin())).rfind('/');
  return slash == std::string_view::npos ? 0 : slash;
}

}  // namespace

std::string shown(std::string_view url) {
  const std::size_t end = url.find_first_of("?#");
  const std::string masked = mask_users(url.substr(0, end));
  return shortened(to_utf8(masked), 300) + (end == std::string_view::npos ? "" : "?...");
}

bool looks_like_html(std::string_view head) {
  head = trim(head);
  if (head.starts_with("\xef\xbb\xbf")) {
    head.remove_prefix(3);
  }
  const std::string begins = to_lower(head.substr(0, 15));
  static constexpr std::array<std::string_view, 5> kBegins = {"<!doctype html", "<html", "<head",
                                                              "<body", "<!--"};
  for (const std::string_view one : kBegins) {
    if (begins.starts_with(one)) {
      return true;
    }
  }
  return false;
}

Result<Place> Place::parse(std::string_view url) {
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      return malformed(url, "is no URL: it has a blank or a control character in it");
    }
  }
  const Url parsed(curl_url());
  if (parsed == nullptr) {
    return Error{Errc::failed, "no memory for a URL", {}};
  }
  if (curl_url_set(parsed.get(), CURLUPART_URL, std::string(url).c_str(),
                   CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return malformed(url, "is no URL");
  }
  Place place;
  const std::string scheme = to_lower(part(parsed.get(), CURLUPART_SCHEME).value_or(""));
  if (scheme == "file") {
    const std::string host = part(parsed.get(), CURLUPART_HOST).value_or("");
    if (!host.empty() && host != "localhost" && host != "127.0.0.1") {
      return malformed(url, "is a file of another machine");
    }
    place.scheme = Scheme::file;
    place.path = part(parsed.get(), CURLUPART_PATH, CURLU_URLDECODE).value_or("");
    if (!place.path.starts_with('/') || place.path.find('\0') != std::string::npos) {
      return malformed(url, "names no file: its path is not absolute");
    }
    place.url = std::string(url);
    return place;
  }
  if (scheme != "http" && scheme != "https") {
    return malformed(url, "has a scheme other than https, http and file");
  }
  place.scheme = scheme == "http" ? Scheme::http : Scheme::https;
  const auto user = part(parsed.get(), CURLUPART_USER, CURLU_URLDECODE);
  const auto password = part(parsed.get(), CURLUPART_PASSWORD, CURLU_URLDECODE);
  place.has_user = user.has_value() || password.has_value();
  place.user = user.value_or("");
  place.password = password.value_or("");
  place.host = to_lower(part(parsed.get(), CURLUPART_HOST).value_or(""));
  place.path = part(parsed.get(), CURLUPART_PATH).value_or("/");
  place.origin = scheme + "://" + place.host + ":" +
                 part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  curl_url_set(parsed.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_PASSWORD, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_OPTIONS, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0);
  const auto bare = part(parsed.get(), CURLUPART_URL);
  if (!bare) {
    return malformed(url, "is no URL");
  }
  place.url = *bare;
  return place;
}

Result<Place> Place::redirected(std::string_view to, bool only_safe) const {
  GOLDENV_TRY(Place next, parse(to));
  if (next.scheme == Scheme::file) {
    return Error{Errc::denied, shown(url) + " redirects to a file of this machine", {}};
  }
  if (scheme == Scheme::https && next.scheme == Scheme::http) {
    return Error{Errc::denied,
                 shown(url) + " redirects from https to " + shown(next.url) +
                     ", which anyone on the way could change",
                 {}};
  }
  if (only_safe && !next.is_safe()) {
    return Error{Errc::denied,
                 shown(url) + " redirects to " + shown(next.url) +
                     ", which is neither https nor this machine: anyone on the way could change it",
                 {}};
  }
  const bool same = next.origin == origin;
  next.has_user = same && has_user;
  next.user = same ? user : "";
  next.password = same ? password : "";
  return next;
}

bool Place::is_safe() const {
  return scheme == Scheme::https || (scheme == Scheme::http && is_this_machine(host));
}

Result<Credentials> Credentials::of(const std::vector<std::string>& urls) {
  Credentials credentials;
  for (const std::string& url : urls) {
    Result<Place> place = Place::parse(url);
    if (!place || place->scheme == Place::Scheme::file || !place->has_user) {
      return Error{Errc::malformed,
                   "the credentials of the network settings are not all http or https URLs with a "
                   "user",
                   {}};
    }
    if (!place->path.ends_with('/')) {
      place->path += '/';
    }
    credentials.all_.push_back(*std::move(place));
  }
  return credentials;
}

void Credentials::lend(Place& place) const {
  if (place.has_user || place.scheme == Place::Scheme::file) {
    return;
  }
  const Place* best = nullptr;
  for (const Place& one : all_) {
    if (one.origin == place.origin &&
        (best == nullptr || common(one.path, place.path) > common(best->path, place.path))) {
      best = &one;
    }
  }
  if (best != nullptr) {
    place.has_user = true;
    place.user = best->user;
    place.password = best->password;
  }
}

}  // namespace goldenv::fetch
