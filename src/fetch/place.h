#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::fetch {

/// A URL taken apart as far as fetching needs it.
struct Place {
  enum class Scheme { http, https, file };
  Scheme scheme = Scheme::https;
  std::string url;       ///< whole, without user and password; for file: the URL
  std::string path;      ///< file: the absolute path, decoded; else as it stands there
  std::string host;      ///< lower case; an IPv6 address in brackets
  std::string origin;    ///< "https://host:443", lower case
  std::string user;      ///< decoded; "" where there is none
  std::string password;  ///< decoded
  bool has_user = false;

  /// Errors: malformed (no URL, of another scheme, a file: URL of another machine). The message
  /// shows no more of it than shown() does.
  static Result<Place> parse(std::string_view url);
  /// The place that a redirect of this one leads to. User and password go along to the same origin
  /// alone. Errors: as parse; denied, where it leads from https to http or to a file, and with
  /// `only_safe` wherever that is not safe.
  [[nodiscard]] Result<Place> redirected(std::string_view url, bool only_safe = false) const;
  /// Whether nobody on the way can change what comes from there: https, or http on this machine,
  /// which is an address of 127.0.0.0/8, [::1] or localhost, to the letter. A file is none.
  [[nodiscard]] bool is_safe() const;
};

/// Users and passwords by the places that they are for.
class Credentials {
 public:
  /// Of http and https URLs that have them. Errors: malformed; the message shows none of it.
  static Result<Credentials> of(const std::vector<std::string>& urls);
  /// Gives those for its origin to a place that has none. Of several the one whose path has most in
  /// common with the place's, whole segments counted; the first of equals.
  void lend(Place& place) const;

 private:
  std::vector<Place> all_;
};

/// A URL for messages: no user, no password, and no query, in which signed addresses have a key.
std::string shown(std::string_view url);

/// Whether bytes look like the beginning of an HTML page.
bool looks_like_html(std::string_view head);

}  // namespace goldenv::fetch
