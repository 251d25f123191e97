#include "facts/catalogue.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "facts/catalogue_table.h"

namespace goldenv::facts {
namespace {

constexpr std::array<std::string_view, 19> kLayers = {
    "host",        "firmware", "hardware", "kernel",    "driver", "network",   "tuning",
    "limits",      "storage",  "library",  "cuda",      "python", "framework", "packages",
    "environment", "services", "files",    "leftovers", "events"};
constexpr std::array<std::string_view, 12> kTypes = {"version", "text",   "integer", "number",
                                                     "boolean", "list",   "set",     "map",
                                                     "path",    "digest", "bytes",   "choice"};
constexpr std::array<std::string_view, 3> kClasses = {"golden", "identity", "volatile"};
constexpr std::array<std::string_view, 4> kLevels = {"must", "should", "info", "omit"};
constexpr std::array<std::string_view, 4> kScopes = {"host", "container", "process", "user"};
constexpr std::array<std::string_view, 4> kManys = {"one", "in-force", "all", "only-named"};

/// Whether one of the globs, separated by blanks, matches.
bool is_named(std::string_view globs, std::string_view member) {
  while (!globs.empty()) {
    const std::size_t blank = globs.find(' ');
    if (glob_matches(globs.substr(0, blank), member)) {
      return true;
    }
    globs = blank == std::string_view::npos ? std::string_view{} : globs.substr(blank + 1);
  }
  return false;
}

/// Matches from the first placeholder of `pattern` on.
bool match_from(std::string_view pattern, std::string_view name, bool dots, Captures& captures) {
  while (!pattern.empty()) {
    if (pattern.front() != '<') {
      const std::size_t literal = std::min(pattern.find('<'), pattern.size());
      if (name.substr(0, literal) != pattern.substr(0, literal)) {
        return false;
      }
      pattern.remove_prefix(literal);
      name.remove_prefix(literal);
      continue;
    }
    pattern.remove_prefix(pattern.find('>') + 1);
    const bool takes_rest = pattern.empty() && dots;
    const std::size_t end = takes_rest ? name.size() : std::min(name.find('.'), name.size());
    if (end == 0 || captures.count == captures.texts.size()) {
      return false;
    }
    captures.texts[captures.count++] = name.substr(0, end);
    name.remove_prefix(end);
  }
  return name.empty();
}

}  // namespace

bool match(const Family& family, std::string_view name, Captures& captures) {
  captures = {};
  return name.starts_with(family.prefix) &&
         match_from(family.entry->key.substr(family.prefix.size()),
                    name.substr(family.prefix.size()), family.dots, captures);
}

bool match(const Entry& entry, std::string_view name, Captures& captures) {
  captures = {};
  if (entry.key == name) {
    return true;
  }
  for (const Family& family : families()) {
    if (family.entry == &entry) {
      return match(family, name, captures);
    }
  }
  return false;
}

std::string fill(std::string_view key, const Captures& captures) {
  std::string text;
  for (std::size_t next = 0; !key.empty();) {
    const std::size_t open = std::min(key.find('<'), key.size());
    text += key.substr(0, open);
    key.remove_prefix(open);
    if (!key.empty()) {
      text += next < captures.count ? captures.texts[next] : std::string_view{};
      ++next;
      key.remove_prefix(key.find('>') + 1);
    }
  }
  return text;
}

const Entry* entry_of(std::string_view name) {
  // Thousands of packages and settings are asked for, one after the other.
  for (const Family& family : families_of(name)) {
    if (family.alone && name.size() > family.prefix.size() && name.starts_with(family.prefix)) {
      return family.entry;
    }
  }
  if (const Entry* entry = exact_entry(name)) {
    return entry;
  }
  Captures captures;
  for (const Family& family : families_of(name)) {
    if (match(family, name, captures)) {
      return family.entry;
    }
  }
  return nullptr;
}

Class class_of(const Entry& entry, std::string_view name) {
  if (entry.identity_names.empty() && entry.volatile_names.empty()) {
    return entry.klass;
  }
  Captures captures;
  if (!match(entry, name, captures) || captures.count == 0) {
    return entry.klass;
  }
  const std::string_view member = captures.texts[captures.count - 1];
  if (is_named(entry.identity_names, member)) {
    return Class::identity;
  }
  return is_named(entry.volatile_names, member) ? Class::volatile_ : entry.klass;
}

std::string headline_of(const Entry& entry, std::string_view name) {
  Captures captures;
  if (!match(entry, name, captures)) {
    return {};
  }
  for (const Companion& companion : entry.with_names) {
    if (captures.count > 0 && glob_matches(companion.pattern, captures.texts[captures.count - 1])) {
      return std::string(companion.headline);
    }
  }
  return fill(entry.with, captures);
}

bool in_family(std::string_view name, std::string_view family) {
  return name.size() > family.size() + 1 && name.starts_with(family) && name[family.size()] == '.';
}

std::string_view name(Layer layer) { return kLayers.at(static_cast<std::size_t>(layer)); }
std::string_view name(Type type) { return kTypes.at(static_cast<std::size_t>(type)); }
std::string_view name(Class klass) { return kClasses.at(static_cast<std::size_t>(klass)); }
std::string_view name(Level level) { return kLevels.at(static_cast<std::size_t>(level)); }
std::string_view name(Scope scope) { return kScopes.at(static_cast<std::size_t>(scope)); }
std::string_view name(Many many) { return kManys.at(static_cast<std::size_t>(many)); }

Result<Level> parse_level(std::string_view name) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == name) {
      return static_cast<Level>(i);
    }
  }
  return Error{Errc::malformed,
               "no level \"" + std::string(name) + "\"; levels are must, should, info and omit",
               {}};
}

}  // namespace goldenv::facts
