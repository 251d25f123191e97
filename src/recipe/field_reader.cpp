#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/url.h"
#include "facts/catalogue.h"
#include "recipe/placeholder.h"
#include "recipe/recipe_reader.h"

namespace goldenv::recipe {
namespace {

constexpr std::size_t kLongestText = 4096;

bool is_relative(std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  return !path.starts_with('/') && path.find('\0') == std::string_view::npos &&
         path.find('\\') == std::string_view::npos &&
         std::ranges::find(parts, "..") == parts.end() &&
         std::ranges::find(parts, "") == parts.end();
}

}  // namespace

std::string shown(std::string_view text) {
  return doc::quote_json(mask_users(shortened(text, 60)));
}

std::string hint(std::string_view word, Words known) {
  std::string_view best;
  std::size_t least = 3;  // more changes than this are another word
  const std::string written = word.size() <= 40 ? to_lower(word) : std::string();
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(written, candidate);
    if (distance < least && 3 * distance <= candidate.size() + 1) {
      least = distance;
      best = candidate;
    }
  }
  if (!best.empty()) {
    return "; did you mean " + std::string(best) + "?";
  }
  std::string out = known.size() == 1 ? "; expected " : "; expected one of ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == known.size() ? " and " : ", ") + std::string(known[i]);
  }
  return out;
}

void FieldReader::wrong(doc::Mark mark, const std::string& message) {
  if (!error_) {
    error_ = doc::error_at(file_, mark, message);
  }
}

void FieldReader::check_keys(const doc::Node& mapping, std::string_view where, Words known) {
  for (const doc::Node::Entry& entry : mapping.entries) {
    if (std::ranges::find(known, entry.key) == known.end()) {
      wrong(entry.mark, "unknown key " + shown(entry.key) + " in " + std::string(where) +
                            hint(entry.key, known));
    }
  }
}

std::string FieldReader::text(const doc::Node& node, std::string_view what) {
  if (!node.is_scalar() || node.text.empty()) {
    wrong(node.mark, std::string(what) + " is no text; expected one");
    return {};
  }
  if (node.text.size() > kLongestText || node.text.find('\0') != std::string::npos) {
    wrong(node.mark, std::string(what) + " is longer than " + std::to_string(kLongestText) +
                         " bytes or holds a NUL; expected a shorter text");
    return {};
  }
  return node.text;
}

std::string FieldReader::pattern(const doc::Node& node, std::string_view what, Words hosts) {
  std::string whole = text(node, what);
  const auto read = read_pattern(whole, [&](std::string_view name, bool named) -> Result<void> {
    if (!named) {
      return {};
    }
    if (name.starts_with("host.")) {
      const std::string_view host = name.substr(5);
      if (std::ranges::find(hosts, host) == hosts.end()) {
        return Error{Errc::malformed,
                     "no host " + shown(host) +
                         (hosts.empty() ? "; expected it under hosts:" : hint(host, hosts)),
                     {}};
      }
      return {};
    }
    if (!is_placeholder(name)) {
      return Error{
          Errc::malformed, "no placeholder " + shown(name) + hint(name, placeholder_names()), {}};
    }
    return {};
  });
  if (!read) {
    wrong(node.mark, std::string(what) + ": " + read.error().message);
  }
  return whole;
}

std::vector<const doc::Node*> FieldReader::items(const doc::Node& node, std::string_view what) {
  std::vector<const doc::Node*> all;
  if (node.is_sequence()) {
    for (const doc::Node& item : node.items) {
      all.push_back(&item);
    }
  } else if (node.is_scalar()) {
    all.push_back(&node);
  } else {
    wrong(node.mark, std::string(what) + " is no list; expected one");
  }
  return all;
}

std::string FieldReader::choice(const doc::Node& node, std::string_view what, Words known) {
  std::string word = text(node, what);
  if (std::ranges::find(known, word) == known.end()) {
    wrong(node.mark, std::string(what) + " " + shown(word) + " is none" + hint(word, known));
  }
  return word;
}

std::string FieldReader::path(const doc::Node& node, std::string_view what) {
  std::string whole = text(node, what);
  if (!whole.empty() && !is_relative(whole)) {
    wrong(node.mark, std::string(what) + " " + shown(whole) +
                         " leads out; expected a relative path without .. and empty parts");
  }
  return whole;
}

std::string FieldReader::component(const doc::Node& node, std::string_view what, bool family) {
  const std::string whole = text(node, what);
  const bool generic = family && whole.ends_with(".*");
  // Of a family any member will do.
  const std::string asked = generic ? whole.substr(0, whole.size() - 1) + "x" : whole;
  const auto key = facts::resolve(asked);
  if (!key) {
    wrong(node.mark, std::string(what) + ": " + key.error().message);
    return {};
  }
  if (key->entry->type != facts::Type::version || !key->label.empty()) {
    wrong(node.mark, std::string(what) + " " + shown(whole) +
                         " is no component; expected a key of docs/FACTS.md that is a version");
    return {};
  }
  if (key->name != asked) {
    wrong(node.mark, std::string(what) + " " + shown(whole) + " is another name of " + key->name +
                         "; expected that");
  }
  return whole;
}

std::string FieldReader::digits(const doc::Node& node, std::string_view what,
                                std::vector<std::size_t> counts) {
  std::string whole = to_lower(text(node, what));
  if (std::ranges::find(counts, whole.size()) == counts.end() ||
      whole.find_first_not_of("0123456789abcdef") != std::string::npos) {
    wrong(node.mark, std::string(what) + " " + shown(whole) + " is none; expected " +
                         std::to_string(counts.front()) + " hexadecimal digits");
  }
  return whole;
}

std::string FieldReader::url(const doc::Node& node, std::string_view what, Words hosts) {
  std::string whole = pattern(node, what, hosts);
  const bool begins =
      whole.starts_with("https://") || whole.starts_with("file:///") || whole.starts_with("{host.");
  if (!begins || whole.find_first_of(" \t\r\n") != std::string::npos) {
    wrong(node.mark, std::string(what) + " " + shown(whole) +
                         " is no URL; expected https://, file:/// or a host of hosts:");
  } else if (mask_users(whole) != whole) {
    wrong(node.mark, std::string(what) + " names a user; expected a URL without one");
  }
  return whole;
}

std::string FieldReader::constraint(const doc::Node& node, std::string_view what,
                                    version::Scheme scheme) {
  std::string whole = text(node, what);
  if (error_) {
    return whole;
  }
  if (const auto read = version::parse_constraint(scheme, whole); !read) {
    wrong(node.mark, std::string(what) + ": " + read.error().message);
  }
  return whole;
}

}  // namespace goldenv::recipe
