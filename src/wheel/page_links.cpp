#include "wheel/page_links.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/url.h"
#include "version/number.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxUrlBytes = 8192;
constexpr std::size_t kKeptSkips = 100;

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Blanks and bytes that stand in no URL, escaped as browsers do.
std::string escaped(std::string_view url) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kOdd = " \"<>\\^`{|}";
  std::string out;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && kOdd.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
  return out;
}

bool is_source(std::string_view file) {
  constexpr std::array<std::string_view, 5> kEnds{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return file.ends_with(end); });
}

}  // namespace

LinkCollector::LinkCollector(std::string_view url, const PageLimits& limits)
    : name_(mask_users(url)), url_(parse_url(url)), base_(url_), limits_(limits) {
  page.api_version = "1.0";
}

void LinkCollector::set_base(std::string_view href) {
  Url base = resolve(base_, escaped(trim(href)));
  if (!base.scheme.empty()) base_ = std::move(base);
}

Result<void> LinkCollector::count() {
  if (++links_ > limits_.files) {
    return Error{
        Errc::too_large, name_ + ": more than " + std::to_string(limits_.files) + " links", {}};
  }
  return {};
}

Result<void> LinkCollector::skip(std::string_view what, std::string why) {
  const Result<void> counted = count();
  if (!counted) return counted;
  ++page.skipped_count;
  if (page.skipped.size() < kKeptSkips) {
    page.skipped.push_back({shortened(mask_users(to_utf8(what)), 120), std::move(why)});
  }
  return {};
}

/// Fills in file and url; the reason where the link is none of a file.
std::string LinkCollector::place(OfferedLink& link) const {
  if (std::ranges::any_of(link.href, is_control)) return "control character in the link";
  if (link.href.size() > kMaxUrlBytes) return "longer than 8192 bytes";
  Url url = resolve(base_, escaped(link.href));
  if (url.scheme != "https" && url.scheme != "http" && url.scheme != "file") {
    return url.scheme.empty() ? "no absolute URL" : "scheme " + shortened(url.scheme, 20);
  }
  // A server has no say over files of this machine.
  if (url.scheme == "file" && url_.scheme != "file") return "a file of this machine";
  if (url.scheme != "file" && url.authority.empty()) return "no host";
  for (const std::string_view field : split(url.fragment, '&')) {
    const std::size_t sign = field.find('=');
    if (sign == std::string_view::npos) continue;
    if (!take_digest(field.substr(0, sign), field.substr(sign + 1), link.fields)) {
      return "its sha256 is no digest";
    }
  }
  url.has_fragment = false;
  url.fragment.clear();
  if (link.file.empty()) link.file = file_of(url);
  const std::string& file = link.file;
  if (file.empty()) return "no file";
  const bool plain = std::ranges::none_of(file, is_control) && is_utf8(file) &&
                     file.find_first_of("/\\") == std::string::npos && file != "." && file != "..";
  if (!plain) return "odd name of a file";
  if (!file.ends_with(".whl") && !is_source(file)) return "neither a wheel nor a source archive";
  link.fields.file = file;
  link.fields.url = render(url);
  // What <base> has is in it, too.
  if (std::ranges::any_of(link.fields.url, is_control)) return "control character in the link";
  return "";
}

Result<void> LinkCollector::add(OfferedLink link) {
  link.href = std::string(trim(link.href));
  if (std::string why = place(link); !why.empty()) return skip(link.href, std::move(why));
  const Result<void> counted = count();
  if (!counted) return counted;
  if (is_source(link.fields.file)) ++page.source_count;
  page.files.push_back(std::move(link.fields));
  return {};
}

bool take_digest(std::string_view kind, std::string_view value, PageFile& file) {
  constexpr std::array<std::string_view, 8> kOthers{"md5",    "sha1",     "sha224",  "sha384",
                                                    "sha512", "sha3_256", "blake2b", "blake2s"};
  if (kind == "sha256") {
    const Result<Sha256> digest = Sha256::parse(value);
    // Two that differ: neither can be trusted.
    if (!digest || (file.sha256 && *file.sha256 != *digest)) return false;
    file.sha256 = *digest;
  } else if (std::ranges::find(kOthers, kind) != kOthers.end()) {
    file.other_digests.emplace_back(kind);
  }
  return true;
}

Result<void> check_api_version(std::string_view version, std::string_view url) {
  const std::string_view major = version.substr(0, version.find('.'));
  if (version::significant(major) == "1" && version::leading_digits(major) == major) return {};
  return Error{Errc::malformed,
               mask_users(url) + ": the index speaks version " + version::quoted(version) +
                   " of the simple API, expected 1.x",
               {}};
}

Result<void> check_size(std::string_view text, std::string_view url, const PageLimits& limits) {
  if (text.size() <= limits.bytes) return {};
  return Error{Errc::too_large,
               mask_users(url) + ": the page has " + std::to_string(text.size()) +
                   " bytes, more than " + std::to_string(limits.bytes),
               {}};
}

}  // namespace goldenv::wheel
