#pragma once

#include <string>
#include <string_view>

namespace goldenv::wheel {

/// A URL taken apart (RFC 3986 appendix B). has_* tells an empty part from a missing one.
struct Url {
  std::string scheme;  ///< lower case
  std::string authority;
  std::string path;
  std::string query;
  std::string fragment;
  bool has_authority = false;
  bool has_query = false;
  bool has_fragment = false;

  friend bool operator==(const Url&, const Url&) = default;
};
Url parse_url(std::string_view text);
std::string render(const Url& url);

/// `reference` as seen from `base` (RFC 3986 section 5.2, strict). `base` is absolute.
Url resolve(const Url& base, std::string_view reference);

/// The path without "." and ".." (RFC 3986 section 5.2.4).
std::string without_dot_segments(std::string_view path);

/// %XX as bytes; what is no escape stays.
std::string percent_decoded(std::string_view text);

/// The decoded last segment of the path: the name of the file. Empty for a folder.
std::string file_of(const Url& url);

/// The value of a field in "sha256=...&egg=..." as fragments have it, decoded; empty where missing.
std::string field_of(std::string_view fragment, std::string_view name);

}  // namespace goldenv::wheel
