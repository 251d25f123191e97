#include "wheel/requirement.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/url.h"
#include "version/number.h"
#include "wheel/name.h"
#include "wheel/url.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxBytes = 32'768;

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

class RequirementReader {
 public:
  explicit RequirementReader(std::string_view text) : text_(text) {}

  Result<Requirement> read() {
    Requirement requirement;
    pass_blanks();
    GOLDENV_TRY(requirement.name, read_name("the name of a package"));
    if (take('[')) {
      GOLDENV_TRY(requirement.extras, read_extras());
    }
    if (take('@')) {
      const std::size_t end = std::min(text_.find_first_of(" \t", at_), text_.size());
      requirement.url = std::string(text_.substr(at_, end - at_));
      if (parse_url(requirement.url).scheme.empty()) return fault("expected a URL behind @");
      at_ = end;
      pass_blanks();
    } else {
      GOLDENV_TRY(requirement.specifiers, read_specifiers());
    }
    if (at_ == text_.size()) return requirement;
    if (!take(';')) return fault("expected \";\" or the end");
    GOLDENV_TRY(requirement.marker, parse_marker(text_.substr(at_)));
    return requirement;
  }

 private:
  Error fault(std::string_view expected) const {
    return Error{Errc::malformed,
                 version::quoted(mask_users(text_)) + " is no requirement: " +
                     std::string(expected) + " at byte " + std::to_string(at_ + 1),
                 {}};
  }

  void pass_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  /// A sign and the blanks behind it.
  bool take(char sign) {
    if (at_ == text_.size() || text_[at_] != sign) return false;
    ++at_;
    pass_blanks();
    return true;
  }

  Result<std::string> read_name(std::string_view what) {
    std::size_t end = at_;
    while (end < text_.size() && (version::is_letter(text_[end]) || version::is_digit(text_[end]) ||
                                  std::string_view("-_.").find(text_[end]) != std::string::npos)) {
      ++end;
    }
    const std::string_view name = text_.substr(at_, end - at_);
    if (!is_name(name)) return fault("expected " + std::string(what));
    at_ = end;
    pass_blanks();
    return std::string(name);
  }

  Result<std::vector<std::string>> read_extras() {
    std::vector<std::string> extras;
    if (take(']')) return extras;
    do {
      GOLDENV_TRY(std::string name, read_name("the name of an extra"));
      extras.push_back(std::move(name));
    } while (take(','));
    if (!take(']')) return fault("expected \",\" or \"]\"");
    return extras;
  }

  /// ">=1,<2" with or without parentheses; a comma at the end is let pass, as others do.
  Result<Specifiers> read_specifiers() {
    const bool enclosed = take('(');
    const std::size_t end = std::min(text_.find_first_of(enclosed ? ")" : ";)", at_), text_.size());
    const std::string_view written = text_.substr(at_, end - at_);
    const std::vector<std::string_view> pieces = split(written, ',');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool may_be_empty = i > 0 ? i + 1 == pieces.size() : pieces.size() == 1;
      if (trim(pieces[i]).empty() && !may_be_empty) return fault("empty clause");
    }
    if (written.find_first_of("\r\n") != std::string_view::npos) return fault("line end");
    GOLDENV_TRY(Specifiers specifiers, parse_specifiers(written));
    at_ = end;
    if (enclosed && !take(')')) return fault("expected \")\"");
    return specifiers;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Requirement> parse_requirement(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{
        Errc::malformed, version::quoted(text) + " is no requirement: longer than 32768 bytes", {}};
  }
  return RequirementReader(text).read();
}

std::string render(const Requirement& requirement) {
  std::string out = requirement.name;
  if (!requirement.extras.empty()) {
    out += "[" + join(requirement.extras, ",") + "]";
  }
  if (!requirement.url.empty()) {
    out += " @ " + requirement.url;
  } else {
    out += render(requirement.specifiers);
  }
  if (requirement.marker) {
    // Behind a URL a blank tells where it ends.
    out += (requirement.url.empty() ? "; " : " ; ") + render(*requirement.marker);
  }
  return out;
}

}  // namespace goldenv::wheel
