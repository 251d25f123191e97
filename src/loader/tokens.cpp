#include "loader/tokens.h"

#include "base/truth.h"
#include "loader/system.h"

namespace goldenv::loader {
namespace {

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Bytes that a token takes at the start of `text`; 0 where it does not stand there.
Result<std::size_t> length_of(System& system, const Abi& abi, std::string_view text,
                              std::string_view token) {
  const std::string braced = "${" + std::string(token) + "}";
  if (text.starts_with(braced)) {
    return braced.size();
  }
  const std::size_t size = token.size() + 1;
  if (!text.substr(1).starts_with(token)) {
    return std::size_t{0};
  }
  if (text.size() == size || text[size] == '/') {
    return size;
  }
  if (is_name_character(text[size])) {
    return std::size_t{0};
  }
  // Glibc before 2.28 knew a token without braces only where a slash or the end follows.
  const Result<Release>& release = system.interpreter(abi).release;
  if (!release) {
    return Error{Errc::unreadable,
                 "\"" + std::string(text) +
                     "\": what it stands for depends on the release of glibc, and that is not "
                     "known (" +
                     release.error().message + ")",
                 {}};
  }
  return *release >= Release{2, 28} ? size : 0;
}

}  // namespace

Result<std::optional<std::string>> expand_tokens(System& system, const Abi& abi,
                                                 const std::string& settings, std::string_view text,
                                                 std::string_view object) {
  std::string expanded;
  while (true) {
    const std::size_t dollar = text.find('$');
    expanded += text.substr(0, dollar);
    if (dollar == std::string_view::npos) {
      return std::optional(std::move(expanded));
    }
    text.remove_prefix(dollar);
    bool known = false;
    for (const std::string_view token : {"ORIGIN", "LIB", "PLATFORM"}) {
      GOLDENV_TRY(const std::size_t length, length_of(system, abi, text, token));
      if (length == 0) {
        continue;
      }
      if (token == "ORIGIN") {
        if (object.empty()) {
          return std::optional<std::string>();
        }
        expanded += folder_of(object);
      } else if (token == "LIB") {
        expanded += system.lib(abi);
      } else {
        GOLDENV_TRY(const std::string platform, system.capabilities(abi, settings).platform());
        expanded += platform;
      }
      text.remove_prefix(length);
      known = true;
      break;
    }
    if (!known) {
      expanded += '$';
      text.remove_prefix(1);
    }
  }
}

}  // namespace goldenv::loader
