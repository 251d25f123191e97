#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::fetch {

/// A URL taken apart as far as fetching needs it.
struct Place {
  enum class Scheme { http, https, file };
  Scheme scheme = Scheme::https;
  std::string url;       ///< whole, without user and password; for file: the URL
  std::string path;      ///< file: the absolute path, decoded
  std::string origin;    ///< "https://host:443", lower case
  std::string user;      ///< decoded; "" where there is none
  std::string password;  ///< decoded
  bool has_user = false;

  /// Errors: malformed (no URL, of another scheme, a file: URL of another machine). The message
  /// shows no more of it than shown() does.
  static Result<Place> parse(std::string_view url);
  /// The place that a redirect of this one leads to. User and password go along to the same origin
  /// alone. Errors: as parse; denied, where it leads from https to http or to a file.
  [[nodiscard]] Result<Place> redirected(std::string_view url) const;
};

/// A URL for messages: no user, no password, and no query, in which signed addresses have a key.
std::string shown(std::string_view url);

/// Whether bytes look like the beginning of an HTML page.
bool looks_like_html(std::string_view head);

}  // namespace goldenv::fetch
