#include <algorithm>
#include <string>

#include "base/sha256.h"
#include "probe/python_names.h"

namespace goldenv::probe {
namespace {

constexpr int kDepth = 16;

/// Walks JSON text and hands each scalar with its path ("archive_info.hashes.sha256") on.
class Walk {
 public:
  Walk(std::string_view text, DirectUrl& found) : text_(text), found_(found) {}

  bool whole() {
    if (!value("", 0)) {
      return false;
    }
    blanks();
    return at_ == text_.size();
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) {
      ++at_;
    }
  }

  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) {
      return false;
    }
    ++at_;
    return true;
  }

  /// A string without its quotes; escapes other than those of one character stay as written, since
  /// no wanted value holds any.
  bool string(std::string& into) {
    if (!take('"')) {
      return false;
    }
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && ++at_ == text_.size()) {
        return false;
      }
      into += text_[at_++];
    }
    return take('"');
  }

  bool value(const std::string& path, int depth) {
    blanks();
    if (at_ >= text_.size() || depth > kDepth) {
      return false;
    }
    switch (text_[at_]) {
      case '{':
        return members('{', '}', path, depth);
      case '[':
        return members('[', ']', path, depth);
      case '"': {
        std::string text;
        if (!string(text)) {
          return false;
        }
        scalar(path, text);
        return true;
      }
      default: {
        const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        const std::string_view word = text_.substr(at_, end - at_);
        at_ = end;
        scalar(path, word);
        return !word.empty();
      }
    }
  }

  bool members(char open, char close, const std::string& path, int depth) {
    take(open);
    // Its members are optional: {"archive_info": {}}.
    found_.archive = found_.archive || (open == '{' && path == "archive_info");
    if (take(close)) {
      return true;
    }
    do {
      std::string key;
      if (open == '{' && !(string(key) && take(':'))) {
        return false;
      }
      if (!value(path.empty() ? key : path + "." + key, depth + 1)) {
        return false;
      }
    } while (take(','));
    return take(close);
  }

  void scalar(const std::string& path, std::string_view text) {
    if (path == "dir_info.editable") {
      found_.editable = text == "true";
    } else if (path == "vcs_info.vcs") {
      found_.vcs = text;
    } else if (path == "vcs_info.commit_id") {
      found_.commit = text;
    } else if (path == "archive_info.hashes.sha256") {
      digest(text);
    } else if (path == "archive_info.hash" && text.starts_with("sha256=")) {
      digest(text.substr(7));
    }
  }

  void digest(std::string_view text) {
    if (const auto parsed = Sha256::parse(text)) {
      found_.sha256 = parsed->hex();
    }
  }

  std::string_view text_;
  DirectUrl& found_;
  std::size_t at_ = 0;
};

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

}  // namespace

std::optional<DirectUrl> parse_direct_url(std::string_view json) {
  DirectUrl found;
  if (!Walk(json, found).whole() || !is_word(found.vcs) || !is_word(found.commit)) {
    return std::nullopt;
  }
  return found;
}

}  // namespace goldenv::probe
