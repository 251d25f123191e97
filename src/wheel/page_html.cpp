#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/url.h"
#include "version/number.h"
#include "wheel/page.h"
#include "wheel/page_links.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kBlank = " \t\r\n\f";

/// Appends a code point as UTF-8; what is none becomes U+FFFD, as browsers have it.
void append_character(std::uint32_t code, std::string& out) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3FU));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

/// The code point of "#62" or "#x3E"; none where that is no number.
std::optional<std::uint32_t> numbered(std::string_view name) {
  if (name.size() < 2 || name.front() != '#') return std::nullopt;
  name.remove_prefix(1);
  const bool hex = name.front() == 'x' || name.front() == 'X';
  if (hex) name.remove_prefix(1);
  if (name.empty() || name.size() > 8) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : name) {
    const char lower = static_cast<char>(c | 0x20);
    std::uint32_t digit = 0;
    if (version::is_digit(c)) {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (hex && lower >= 'a' && lower <= 'f') {
      digit = static_cast<std::uint32_t>(lower - 'a') + 10;
    } else {
      return std::nullopt;
    }
    code = code * (hex ? 16 : 10) + digit;
  }
  return code;
}

/// Character references that indices write; others stay as they are.
std::string unescaped(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  std::string out;
  while (!text.empty()) {
    const std::size_t sign = text.find('&');
    out += text.substr(0, sign);
    if (sign == kNone) break;
    text.remove_prefix(sign);
    const std::size_t end = text.substr(0, 12).find(';');
    const std::string_view name = end == kNone ? "" : text.substr(1, end - 1);
    const auto* const named =
        std::ranges::find_if(kNamed, [&](const auto& entry) { return entry.first == name; });
    if (const auto code = numbered(name)) {
      append_character(*code, out);
    } else if (named != kNamed.end()) {
      out += named->second;
    } else {
      out += '&';
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(end + 1);
  }
  return out;
}

struct Attribute {
  std::string name;  ///< lower case
  std::string value;
};

/// A start tag; of several attributes of one name the first counts, as in browsers.
struct StartTag {
  std::string name;  ///< lower case
  std::vector<Attribute> attributes;

  [[nodiscard]] const std::string* find(std::string_view attribute) const {
    const auto at = std::ranges::find(attributes, attribute, &Attribute::name);
    return at == attributes.end() ? nullptr : &at->value;
  }
};

/// Start tags of a text, one after another.
class TagReader {
 public:
  TagReader(std::string_view text, std::string_view url) : text_(text), url_(url) {}

  /// The next start tag; none at the end. Errors: malformed.
  Result<std::optional<StartTag>> next() {
    while ((at_ = text_.find('<', at_)) != kNone) {
      const std::size_t begin = at_;
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("<!--")) {
        GOLDENV_TRY(at_, behind("-->", at_ + 4, "comment"));
      } else if (rest.size() > 1 && (rest[1] == '!' || rest[1] == '?' || rest[1] == '/')) {
        GOLDENV_TRY(at_, behind(">", at_ + 2, "tag"));
      } else if (rest.size() > 1 && version::is_letter(rest[1])) {
        ++at_;
        GOLDENV_TRY(StartTag tag, read_tag(begin));
        const Result<void> passed = pass_text_of(tag.name, begin);
        if (!passed) return passed.error();
        return std::optional(std::move(tag));
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
    return std::optional<StartTag>();
  }

 private:
  Error malformed(std::size_t offset, std::string_view what) const {
    const auto line = std::ranges::count(text_.substr(0, offset), '\n') + 1;
    return Error{Errc::malformed,
                 mask_users(url_) + ":" + std::to_string(line) + ": " + std::string(what),
                 {}};
  }

  Result<std::size_t> behind(std::string_view end, std::size_t from, std::string_view what) const {
    const std::size_t found = text_.find(end, from);
    if (found == kNone) return malformed(at_, "unclosed " + std::string(what));
    return found + end.size();
  }

  /// What stands in a script or title is no tag.
  Result<void> pass_text_of(std::string_view name, std::size_t begin) {
    if (name != "script" && name != "style" && name != "textarea" && name != "title") return {};
    const std::string end = "</" + std::string(name);
    for (std::size_t i = text_.find("</", at_); i != kNone; i = text_.find("</", i + 2)) {
      if (to_lower(text_.substr(i, end.size())) != end) continue;
      at_ = i;
      return {};
    }
    return malformed(begin, "unclosed <" + std::string(name) + ">");
  }

  std::string_view take_until(std::string_view stops) {
    const std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  void pass_blanks() { at_ = std::min(text_.find_first_not_of(kBlank, at_), text_.size()); }

  Result<StartTag> read_tag(std::size_t begin) {
    StartTag tag;
    tag.name = to_lower(take_until(" \t\r\n\f/>"));
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n\f/", at_), text_.size());
      if (at_ == text_.size()) return malformed(begin, "unclosed tag");
      if (text_[at_] == '>') {
        ++at_;
        return tag;
      }
      const std::size_t start = at_;
      if (text_[at_] == '=') ++at_;  // begins a name there, says HTML
      take_until(" \t\r\n\f/>=");
      Attribute attribute{to_lower(text_.substr(start, at_ - start)), ""};
      pass_blanks();
      if (at_ < text_.size() && text_[at_] == '=') {
        ++at_;
        pass_blanks();
        GOLDENV_TRY(attribute.value, read_value());
      }
      if (!tag.find(attribute.name)) tag.attributes.push_back(std::move(attribute));
      if (tag.attributes.size() > kMaxAttributes) {
        return malformed(begin, "a tag with more than 64 attributes");
      }
    }
  }

  Result<std::string> read_value() {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::size_t open = at_;
      const std::size_t close = text_.find(text_[open], open + 1);
      if (close == kNone) return malformed(open, "unclosed quote");
      at_ = close + 1;
      return unescaped(text_.substr(open + 1, close - open - 1));
    }
    return unescaped(take_until(" \t\r\n\f>"));
  }

  static constexpr std::size_t kMaxAttributes = 64;

  std::string_view text_;
  std::string_view url_;
  std::size_t at_ = 0;
};

/// The anchor as a file; empty where a digest in its attributes is none.
OfferedLink link_of(const StartTag& anchor) {
  OfferedLink link;
  link.href = *anchor.find("href");
  if (const std::string* python = anchor.find("data-requires-python")) {
    link.fields.requires_python = std::string(trim(*python));
  }
  if (const std::string* reason = anchor.find("data-yanked")) {
    link.fields.yanked = std::string(trim(*reason));
  }
  const std::string* metadata = anchor.find("data-core-metadata");
  if (metadata == nullptr) metadata = anchor.find("data-dist-info-metadata");
  if (metadata != nullptr) {
    constexpr std::string_view kKind = "sha256=";
    const std::string_view value = trim(*metadata);
    if (value.starts_with(kKind)) {
      const Result<Sha256> digest = Sha256::parse(value.substr(kKind.size()));
      link.fields.has_metadata = digest.has_value();
      if (digest) link.fields.metadata_sha256 = *digest;
    } else {
      link.fields.has_metadata = to_lower(value) == "true";
    }
  }
  return link;
}

}  // namespace

Result<Page> parse_html_page(std::string_view text, std::string_view url,
                             const PageLimits& limits) {
  if (const auto fits = check_size(text, url, limits); !fits) return fits.error();
  TagReader reader(text, url);
  LinkCollector links(url, limits);
  bool has_base = false;
  bool has_tags = false;
  for (;;) {
    GOLDENV_TRY(const std::optional<StartTag> tag, reader.next());
    if (!tag) break;
    has_tags = true;
    const std::string* href = tag->find("href");
    if (tag->name == "a" && href != nullptr) {
      if (const auto added = links.add(link_of(*tag)); !added) return added.error();
    } else if (tag->name == "base" && href != nullptr && !has_base) {
      has_base = true;
      links.set_base(*href);
    } else if (tag->name == "meta") {
      const std::string* name = tag->find("name");
      const std::string* content = tag->find("content");
      if (name == nullptr || content == nullptr || *name != "pypi:repository-version") continue;
      links.page.api_version = std::string(trim(*content));
      if (const auto fits = check_api_version(links.page.api_version, url); !fits) {
        return fits.error();
      }
    }
  }
  if (!has_tags) {
    return Error{Errc::malformed, mask_users(url) + ": no index page: nothing in it is HTML", {}};
  }
  return std::move(links.page);
}

}  // namespace goldenv::wheel
