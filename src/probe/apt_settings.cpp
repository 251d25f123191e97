#include "probe/apt_settings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kDepthLimit = 32;

/// Words, quoted texts and the marks { } ; of a text of apt's.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  struct Token {
    char mark = 0;  ///< '{', '}', ';', 'w' for a word, 0 at the end
    std::string text = {};
    std::uint32_t line = 0;
  };

  Token next() {
    skip();
    Token token{0, {}, line_};
    if (at_ >= text_.size()) {
      return token;
    }
    const char c = text_[at_];
    if (c == '{' || c == '}' || c == ';') {
      ++at_;
      token.mark = c;
      return token;
    }
    token.mark = 'w';
    if (c == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return {0, {}, line_};
      }
      token.text = text_.substr(at_ + 1, end - at_ - 1);
      line_ += static_cast<std::uint32_t>(std::ranges::count(token.text, '\n'));
      at_ = end + 1;
      return token;
    }
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n{};\"", at_), text_.size());
    token.text = text_.substr(at_, end - at_);
    at_ = end;
    return token;
  }

 private:
  [[nodiscard]] bool stands(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_directive = stands("#clear") || stands("#include");
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (stands("//") || (c == '#' && !is_directive)) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (stands("/*")) {
        const std::size_t end = text_.find("*/", at_);
        const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
        line_ +=
            static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, stop - at_), '\n'));
        at_ = stop;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

/// By apt's own rule for apt.conf.d: letters, digits, - _ . alone, and no extension or .conf.
bool is_part(std::string_view name) {
  const bool is_plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  return is_plain && !name.starts_with('.') &&
         (name.find('.') == std::string_view::npos || name.ends_with(".conf"));
}

}  // namespace

std::vector<AptAssignment> parse_apt_settings(std::string_view text) {
  std::vector<AptAssignment> found;
  Tokens tokens(text);
  std::vector<std::string> sections;
  std::vector<Tokens::Token> words;
  for (Tokens::Token token = tokens.next(); token.mark != 0; token = tokens.next()) {
    if (token.mark == 'w') {
      words.push_back(std::move(token));
      continue;
    }
    if (token.mark == '{') {
      if (sections.size() >= kDepthLimit) {
        return found;
      }
      sections.push_back(words.empty() ? "" : words.front().text);
    } else if (token.mark == '}') {
      if (sections.empty()) {
        return found;
      }
      sections.pop_back();
    } else if (words.size() >= 2) {
      const bool clears = words.front().text == "#clear";
      std::string name = join(sections, "::");
      name += (name.empty() ? "" : "::") + words[clears ? 1 : 0].text;
      found.push_back({std::move(name), clears ? "" : words[1].text, words.front().line});
    }
    words.clear();
  }
  return found;
}

AptSettings apt_settings(const host::Host& host, std::initializer_list<std::string_view> names) {
  AptSettings settings;
  for (const std::string_view name : names) {
    settings.found.push_back({std::string(name), {}, {}, 0});
  }
  std::vector<std::string> files;
  const std::string folder = "/etc/apt/apt.conf.d";
  const auto entries = host.list(folder);
  if (!entries && entries.error().code != Errc::absent) {
    settings.unread.push_back(entries.error());
  }
  for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
    if (is_part(entry.name)) {
      files.push_back(folder + "/" + entry.name);
    }
  }
  files.emplace_back("/etc/apt/apt.conf");
  for (const std::string& file : files) {
    const Result<std::string> text = host.read_file(file, 1u << 20);
    if (!text) {
      if (text.error().code != Errc::absent) {
        settings.unread.push_back(text.error());
      }
      continue;
    }
    for (const AptAssignment& one : parse_apt_settings(*text)) {
      for (AptSetting& setting : settings.found) {
        if (to_lower(one.name) == to_lower(setting.name)) {
          setting.value = one.value;
          setting.file = file;
          setting.line = one.line;
        }
      }
    }
  }
  return settings;
}

}  // namespace goldenv::probe
