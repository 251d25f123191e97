#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

// Pages of simple repositories (PEP 503, 592, 629, 658, 691, 700, 714) and the pages of links that
// --find-links names. HTML is read for its anchors, <base> and <meta> alone: what a browser would
// make of the rest decides nothing, and a whole HTML parser would be more surface than the pages
// have content.
namespace goldenv::wheel {

/// One file that a page offers.
struct PageFile {
  std::string file;  ///< "numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
  std::string url;   ///< absolute, http, https or file, without fragment
  std::optional<Sha256> sha256;
  std::vector<std::string> other_digests;  ///< kinds that are offered besides: "md5"
  std::string requires_python;             ///< a set of specifiers; empty: any
  std::optional<std::string> yanked;       ///< the reason, which may be empty; none: not yanked
  bool has_metadata = false;               ///< METADATA lies beside it as <url>.metadata
  std::optional<Sha256> metadata_sha256;
  std::optional<std::uint64_t> size_bytes;
  std::string upload_time;  ///< as written (ISO 8601); empty where not said

  friend bool operator==(const PageFile&, const PageFile&) = default;
};

/// A link that is no file to take, and why: "javascript:alert(1)": "scheme javascript".
struct SkippedLink {
  std::string what;  ///< shortened
  std::string why;
  friend bool operator==(const SkippedLink&, const SkippedLink&) = default;
};

struct Page {
  std::string api_version;            ///< "1.0" where not said
  std::string name;                   ///< of the project, normalised; empty in HTML
  std::vector<std::string> versions;  ///< as written; from 1.1 on, JSON only
  std::vector<PageFile> files;        ///< in the order of the page
  std::vector<SkippedLink> skipped;   ///< at most 100 of them
  std::size_t skipped_count = 0;
  std::size_t source_count = 0;  ///< of the files: source distributions
};

struct PageLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t files = 200'000;  ///< files and skipped links together
};

/// A page by its content type ("text/html; charset=utf-8",
/// "application/vnd.pypi.simple.v1+json"); where that is missing or says nothing, by its first
/// character. `url` is where it came from in the end: relative links go from there. Errors:
/// malformed (neither form, what is wrong), too_large.
Result<Page> parse_page(std::string_view text, std::string_view content_type, std::string_view url,
                        const PageLimits& limits = {});

/// Bytes that are no UTF-8 are taken as they are; a link with control characters is skipped.
/// Unclosed quotes and tags are errors: what stands behind them would be lost. Errors: malformed
/// ("URL:LINE: ..."), too_large.
Result<Page> parse_html_page(std::string_view text, std::string_view url,
                             const PageLimits& limits = {});

/// Errors: malformed, too_large; a file whose fields have the wrong type is skipped with its
/// reason.
Result<Page> parse_json_page(std::string_view text, std::string_view url,
                             const PageLimits& limits = {});

/// The address of a project's page below an index: <index>/<normalised name>/. Empty for a name
/// that is none (is_name): no other text is asked of an index.
std::string project_url(std::string_view index, std::string_view name);

}  // namespace goldenv::wheel
