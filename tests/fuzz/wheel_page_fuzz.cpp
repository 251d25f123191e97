// Any bytes as a page of a simple repository, and every name on it as that of a file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "wheel/choice.h"
#include "wheel/name.h"
#include "wheel/page.h"
#include "wheel/url.h"

namespace goldenv::wheel {
namespace {

constexpr std::string_view kUrl = "https://index.example/simple/a/";

void require(bool holds, std::string_view promise, std::string_view text) {
  if (holds) return;
  std::cerr << "broken: " << promise << "\n[" << text << "]\n";
  std::abort();
}

void check_page(const Page& page, std::string_view text) {
  for (const PageFile& file : page.files) {
    const Url url = parse_url(file.url);
    require(url.scheme == "https" || url.scheme == "http", "a server names no local file", text);
    require(!url.has_fragment && render(url) == file.url, "a URL is whole", text);
    for (const char c : file.file + file.url) {
      require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "no control characters", text);
    }
    require(file.file.find('/') == std::string::npos && is_utf8(file.file), "a name of a file",
            text);
    const Url again = resolve(parse_url(kUrl), file.url);
    require(resolve(again, render(again)) == again, "resolving twice is resolving once", text);
    if (const auto wheel = parse_wheel_name(file.file)) {
      require(is_name(wheel->name) && normalised_name(wheel->name) == wheel->name,
              "names are normalised", text);
      const auto versions = offered_versions(page.files, wheel->name);
      require(!versions.empty(), "a wheel's version is offered", text);
    }
  }
  require(page.skipped.size() <= 100 && page.skipped.size() <= page.skipped_count,
          "reasons are kept within bounds", text);
}

}  // namespace
}  // namespace goldenv::wheel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace goldenv::wheel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr PageLimits kLimits{.bytes = 1U << 16U, .files = 64};
  for (const auto& page :
       {parse_html_page(text, kUrl, kLimits), parse_json_page(text, kUrl, kLimits)}) {
    if (page) {
      check_page(*page, text);
    } else {
      require(page.error().message.starts_with(kUrl), "an error names the page", text);
    }
  }
  require(without_dot_segments(without_dot_segments(text)) == without_dot_segments(text) ||
              !text.starts_with('/'),
          "dots are gone", text);
  return 0;
}
