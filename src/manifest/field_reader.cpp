#include "manifest/field_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "base/url.h"

namespace goldenv::manifest {

doc::Mark Place::within(const doc::Node& scalar, std::size_t offset) const {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) {
    rest.remove_prefix(3);
  }
  for (std::size_t line = 1; line < scalar.mark.line; ++line) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      return scalar.mark;
    }
    rest.remove_prefix(end + 1);
  }
  const std::size_t begin = scalar.mark.column - 1 + (scalar.quoted ? 1 : 0);
  if (begin > rest.size() || !rest.substr(begin).starts_with(scalar.text)) {
    return scalar.mark;
  }
  return {scalar.mark.line, begin + offset + 1};
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  // Masked before it is cut: without its '@' a user part could not be told.
  const std::string whole = mask_users(text);
  return whole.size() <= kLongest
             ? doc::quote_json(whole)
             : doc::quote_json(std::string_view(whole).substr(0, kLongest)) + "...";
}

std::string nearest(std::string_view word, Words known) {
  std::string_view best;
  std::size_t least = 3;  // more changes than this are another word
  const std::string written = word.size() <= 40 ? to_lower(word) : std::string();
  for (const std::string_view candidate : known) {
    const bool begun = written.size() >= 3 && candidate.starts_with(written);
    const std::size_t distance = begun ? 1 : edit_distance(written, candidate);
    if (distance < least && 3 * distance <= candidate.size() + 1) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? std::string() : "; did you mean " + std::string(best) + "?";
}

std::string one_of(Words known) {
  std::string out = "; expected one of ";
  std::size_t left = known.size();
  for (const std::string_view word : known) {
    --left;
    out += word;
    out += left > 1 ? ", " : left == 1 ? " and " : "";
  }
  return out;
}

Result<void> check_keys(const Place& place, const doc::Node& mapping, std::string_view where,
                        Words known) {
  for (const doc::Node::Entry& entry : mapping.entries) {
    if (std::ranges::find(known, entry.key) == known.end()) {
      const std::string near = nearest(entry.key, known);
      return place.wrong(entry.mark, "unknown key " + shown(entry.key) + " in " +
                                         std::string(where) +
                                         (near.empty() ? one_of(known) : near));
    }
  }
  return {};
}

Result<std::string> read_text(const Place& place, const doc::Node& node, std::string_view what) {
  if (!node.is_scalar()) {
    return place.wrong(node.mark, std::string(what) + " is no text; expected one");
  }
  return node.text;
}

Result<facts::Level> read_level(const Place& place, const doc::Node& node) {
  static constexpr std::array<std::string_view, 3> kLevels{"must", "should", "info"};
  GOLDENV_TRY(const std::string text, read_text(place, node, "level"));
  if (std::ranges::find(kLevels, text) == kLevels.end()) {
    const std::string near = nearest(text, kLevels);
    return place.wrong(node.mark,
                       "no level " + shown(text) + (near.empty() ? one_of(kLevels) : near));
  }
  auto level = facts::parse_level(text);
  if (!level) {
    return place.wrong(node.mark, level.error().message);
  }
  return level;
}

}  // namespace goldenv::manifest
