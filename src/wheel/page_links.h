#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wheel/page.h"
#include "wheel/url.h"

// What both forms of a page share; others include page.h.
namespace goldenv::wheel {

/// A file as a page describes it, before its link is resolved.
struct OfferedLink {
  std::string href;
  std::string file;  ///< where the page names it apart from the link; else empty
  PageFile fields;   ///< everything but file and url
};

/// Collects links with their limits.
class LinkCollector {
 public:
  LinkCollector(std::string_view url, const PageLimits& limits);

  /// The URL against which links are resolved from now on; what is no absolute one is passed over.
  void set_base(std::string_view href);
  /// Takes a file, or its reason not to be one. Errors: too_large.
  Result<void> add(OfferedLink link);
  Result<void> skip(std::string_view what, std::string why);

  Page page;

 private:
  [[nodiscard]] std::string place(OfferedLink& link) const;
  Result<void> count();

  std::string name_;
  Url url_;
  Url base_;
  PageLimits limits_;
  std::size_t links_ = 0;
};

/// Puts "sha256=..." of a fragment or attribute into a file: false where its digest is none.
bool take_digest(std::string_view kind, std::string_view value, PageFile& file);

/// Errors: malformed, where the index speaks another major version than 1.
Result<void> check_api_version(std::string_view version, std::string_view url);

/// A page larger than the limit. Errors: too_large.
Result<void> check_size(std::string_view text, std::string_view url, const PageLimits& limits);

}  // namespace goldenv::wheel
