#include "recipe/placeholder.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "recipe/recipe.h"

namespace goldenv::recipe {
namespace {

constexpr std::array<std::string_view, 7> kBases = {"version", "name",  "cuda", "cudart",
                                                    "python",  "torch", "arch"};

constexpr std::array<std::string_view, 30> kNames = {
    "version",        "version.major", "version.minor", "version.patch",  "version.release",
    "version.public", "version.local", "name",          "cuda",           "cuda.major",
    "cuda.minor",     "cuda.patch",    "cuda.release",  "cudart",         "python",
    "python.major",   "python.minor",  "python.patch",  "python.release", "python.tag",
    "torch",          "torch.major",   "torch.minor",   "torch.patch",    "torch.release",
    "torch.public",   "torch.local",   "arch",          "arch.deb",       "arch.nvidia"};

/// The first numbers of a version: of 12.1.1 "12", "1", "1".
std::optional<std::string> number(std::string_view version, std::size_t at) {
  const std::string_view public_part = version.substr(0, version.find('+'));
  const std::vector<std::string_view> parts = split(public_part, '.');
  return at < parts.size() && !parts[at].empty() ? std::optional<std::string>(parts[at])
                                                 : std::nullopt;
}

std::optional<std::string> part_of(std::string_view base, std::string_view part,
                                   std::string_view value) {
  if (base == "arch") {
    const bool arm = value == "aarch64";
    if (value != "x86_64" && !arm) {
      return std::nullopt;
    }
    return part == "deb" ? std::string(arm ? "arm64" : "amd64")
                         : std::string(arm ? "linux-sbsa" : "linux-x86_64");
  }
  const std::size_t plus = value.find('+');
  if (part == "public") {
    return std::string(value.substr(0, plus));
  }
  if (part == "local") {
    return plus == std::string_view::npos ? std::nullopt
                                          : std::optional<std::string>(value.substr(plus + 1));
  }
  if (part == "release" || part == "tag") {
    const auto major = number(value, 0);
    const auto minor = number(value, 1);
    if (!major || !minor) {
      return std::nullopt;
    }
    return part == "tag" ? "cp" + *major + *minor : *major + "." + *minor;
  }
  return number(value, part == "major" ? 0 : part == "minor" ? 1 : 2);
}

}  // namespace

std::span<const std::string_view> placeholder_bases() { return kBases; }
std::span<const std::string_view> placeholder_names() { return kNames; }

bool is_placeholder(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() ||
         (name.starts_with("host.") && name.size() > 5);
}

Result<void> read_pattern(
    std::string_view pattern,
    const std::function<Result<void>(std::string_view text, bool named)>& take) {
  while (!pattern.empty()) {
    const std::size_t brace = pattern.find_first_of("{}");
    if (const std::string_view plain = pattern.substr(0, brace); !plain.empty()) {
      if (auto taken = take(plain, false); !taken) {
        return taken;
      }
    }
    if (brace == std::string_view::npos) {
      return {};
    }
    pattern.remove_prefix(brace);
    if (pattern.starts_with("{{") || pattern.starts_with("}}")) {
      if (auto taken = take(pattern.substr(0, 1), false); !taken) {
        return taken;
      }
      pattern.remove_prefix(2);
      continue;
    }
    const std::size_t end = pattern.find('}');
    if (pattern.front() == '}' || end == std::string_view::npos) {
      return Error{Errc::malformed,
                   std::string("a '") + pattern.front() +
                       "' without its other; expected {placeholder}, or {{ and }} for braces",
                   {}};
    }
    const std::string_view name = pattern.substr(1, end - 1);
    if (name.empty()) {
      return Error{Errc::malformed, "{} without a name; expected {version} or the like", {}};
    }
    if (auto taken = take(name, true); !taken) {
      return taken;
    }
    pattern.remove_prefix(end + 1);
  }
  return {};
}

Result<std::string> fill(std::string_view pattern, const Values& values) {
  std::string text;
  auto read = read_pattern(pattern, [&](std::string_view piece, bool named) -> Result<void> {
    if (!named) {
      text += piece;
      return {};
    }
    if (const auto whole = values.find(piece); whole != values.end()) {
      text += whole->second;
      return {};
    }
    const std::size_t dot = piece.find('.');
    const std::string_view base = piece.substr(0, dot);
    const auto value = values.find(base);
    if (value == values.end() || dot == std::string_view::npos || !is_placeholder(piece)) {
      return Error{Errc::absent, "{" + std::string(piece) + "} has no value here", {}};
    }
    const auto part = part_of(base, piece.substr(dot + 1), value->second);
    if (!part) {
      return Error{Errc::absent,
                   "{" + std::string(piece) + "} has no value: " + std::string(base) + " is " +
                       shortened(value->second),
                   {}};
    }
    text += *part;
    return {};
  });
  if (!read) {
    return std::move(read).error();
  }
  return text;
}

namespace {

struct Piece {
  std::string text;
  bool named = false;
};

constexpr std::size_t kMostPieces = 32;

/// Whether `text` is what the pieces from `at` on stand for. With at most kMostPieces pieces and
/// texts of a name's length trying every cut costs nothing.
bool match_from(const std::vector<Piece>& pieces, std::size_t at, std::string_view text,
                Values& values) {
  if (at == pieces.size()) {
    return text.empty();
  }
  const Piece& piece = pieces[at];
  if (!piece.named) {
    const bool open = at + 1 == pieces.size() && piece.text.ends_with('*');
    const std::string_view plain =
        std::string_view(piece.text).substr(0, piece.text.size() - (open ? 1 : 0));
    return text.starts_with(plain) &&
           (open || match_from(pieces, at + 1, text.substr(plain.size()), values));
  }
  if (at + 1 == pieces.size()) {
    values.insert_or_assign(piece.text, std::string(text));
    return !text.empty();
  }
  for (std::size_t length = 1; length <= text.size(); ++length) {
    // Before plain text only the places where it stands are worth a try.
    const Piece& next = pieces[at + 1];
    const bool star = at + 2 == pieces.size() && next.text.ends_with('*');
    const std::string_view plain =
        std::string_view(next.text).substr(0, next.text.size() - (star ? 1 : 0));
    if ((next.named || text.substr(length).starts_with(plain)) &&
        match_from(pieces, at + 1, text.substr(length), values)) {
      values.insert_or_assign(piece.text, std::string(text.substr(0, length)));
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Values> match(std::string_view pattern, std::string_view text) {
  std::vector<Piece> pieces;
  const auto read = read_pattern(pattern, [&](std::string_view piece, bool named) -> Result<void> {
    if (!pieces.empty() && !named && !pieces.back().named) {
      pieces.back().text += piece;
    } else {
      pieces.push_back({std::string(piece), named});
    }
    return {};
  });
  const std::ptrdiff_t named = std::ranges::count(pieces, true, &Piece::named);
  constexpr std::ptrdiff_t kMostNamed = 4;
  if (!read || pieces.size() > kMostPieces || named > kMostNamed || text.size() > 256) {
    return std::nullopt;
  }
  Values values;
  if (!match_from(pieces, 0, text, values)) {
    return std::nullopt;
  }
  return values;
}

}  // namespace goldenv::recipe
