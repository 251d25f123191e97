#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/catalogue_table.h"

namespace goldenv::facts {
namespace {

constexpr std::string_view kGlobs = "*?";

bool has_glob(std::string_view text) {
  return text.find_first_of(kGlobs) != std::string_view::npos;
}

/// Whether a pattern names `name` itself or something above it.
bool names(std::string_view pattern, std::string_view name) {
  if (!has_glob(pattern)) {
    return name == pattern || in_family(name, pattern);
  }
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    if (glob_matches(pattern, name.substr(0, dot))) {
      return true;
    }
  }
  return glob_matches(pattern, name);
}

/// Labels are no paths of dots: there, `*` takes everything.
bool names_label(std::string_view pattern, std::string_view label) {
  std::string wide;
  for (const char c : pattern) {
    wide += c == '*' ? "**" : std::string(1, c);
  }
  return glob_matches(wide, label);
}

/// Whether a pattern could name some key with this spelling, whatever fills its placeholders.
bool could_name(std::string_view pattern, std::string_view key) {
  const std::vector<std::string_view> wanted = split(pattern, '.');
  const std::vector<std::string_view> parts = split(key, '.');
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].find("**") != std::string_view::npos) {
      // What a ** leaves over could stand anywhere; only a key without placeholders decides it.
      return key.find('<') != std::string_view::npos || names(pattern, key);
    }
    if (i == parts.size()) {
      return false;
    }
    if (parts[i].starts_with('<')) {
      if (i + 1 == parts.size()) {
        return true;  // its text may hold dots
      }
      continue;
    }
    if (!glob_matches(wanted[i], parts[i])) {
      return false;
    }
  }
  return true;
}

/// Whether a pattern could name `name` itself, something above it or something below it.
bool could_meet(std::string_view pattern, std::string_view name) {
  const std::vector<std::string_view> wanted = split(pattern, '.');
  const std::vector<std::string_view> parts = split(name, '.');
  for (std::size_t i = 0; i < std::min(wanted.size(), parts.size()); ++i) {
    if (wanted[i].find("**") != std::string_view::npos) {
      return true;
    }
    if (!glob_matches(wanted[i], parts[i])) {
      return false;
    }
  }
  return true;
}

Result<Layer> parse_layer(std::string_view text) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Layer::events); ++i) {
    const auto layer = static_cast<Layer>(i);
    if (name(layer) == text) {
      return layer;
    }
    known.emplace_back(name(layer));
  }
  return Error{Errc::malformed,
               "no layer " + doc::quote_json(text) + "; layers are " + join(known, ", "),
               {}};
}

/// The canonical spelling of what stands before '@' in a pattern.
Result<std::string> parse_name(std::string_view written) {
  const std::string pattern = canonical_pattern(written);
  const auto some_entry = [](const auto& holds) { return std::ranges::any_of(catalogue(), holds); };
  const bool could_be =
      some_entry([&pattern](const Entry& entry) { return could_name(pattern, entry.key); });
  if (has_glob(pattern)) {
    return could_be ? Result<std::string>(pattern)
                    : Error{Errc::malformed, "no key matches " + doc::quote_json(written), {}};
  }
  // "os" is a whole family here, though as a key it is short for os.name; `file` needs a label.
  if (exact_entry(pattern) != nullptr ||
      some_entry([&pattern](const Entry& entry) { return in_family(entry.key, pattern); })) {
    return pattern;
  }
  auto key = resolve(pattern);
  if (key) {
    return std::move(key->name);
  }
  if (could_be && entry_of(pattern) == nullptr) {  // "module.nvidia"
    return pattern;
  }
  return std::move(key).error();
}

}  // namespace

std::string canonical_pattern(std::string_view pattern) {
  for (const Entry& entry : catalogue()) {
    for (const std::string_view also : words(entry.also)) {
      const std::size_t open = also.find('<');
      if (open == std::string_view::npos || open == 0) {
        continue;
      }
      const std::string_view head = also.substr(0, open - 1);
      if (pattern == head || in_family(pattern, head)) {
        return std::string(entry.key.substr(0, entry.key.find('<') - 1)) +
               std::string(pattern.substr(head.size()));
      }
    }
  }
  return std::string(pattern);
}

Result<Selection> Selection::parse(const std::vector<std::string>& patterns) {
  Selection selection;
  for (const std::string& written : patterns) {
    std::string_view pattern = written;
    Rule rule;
    if (pattern.starts_with('!')) {
      rule.take = false;
      pattern.remove_prefix(1);
    }
    if (const std::size_t at = pattern.find('@'); at != std::string_view::npos) {
      rule.has_label = true;
      rule.label = pattern.substr(at + 1);
      pattern = pattern.substr(0, at);
    }
    constexpr std::string_view kLayer = "layer:";
    if (pattern.empty() || (rule.has_label && rule.label.empty())) {
      return Error{Errc::malformed, "no pattern of keys: " + doc::quote_json(written), {}};
    }
    if (pattern.starts_with(kLayer)) {
      GOLDENV_TRY(rule.layer, parse_layer(pattern.substr(kLayer.size())));
    } else {
      GOLDENV_TRY(rule.name, parse_name(pattern));
    }
    selection.rules_.push_back(std::move(rule));
  }
  return selection;
}

bool Selection::selects(std::string_view name, std::string_view label) const {
  if (rules_.empty()) {
    return label.empty();
  }
  const Entry* entry = nullptr;
  bool any_take = false;
  bool taken = false;
  for (const Rule& rule : rules_) {
    any_take = any_take || rule.take;
    if (rule.take && taken) {
      continue;
    }
    // What is taken away without '@' goes with its instances.
    const bool label_fits = rule.has_label ? !label.empty() && names_label(rule.label, label)
                                           : label.empty() || !rule.take;
    if (!label_fits) {
      continue;
    }
    if (rule.layer && entry == nullptr) {
      entry = entry_of(name);
    }
    const bool fits =
        rule.layer ? entry != nullptr && entry->layer == *rule.layer : names(rule.name, name);
    if (fits && !rule.take) {
      return false;
    }
    taken = taken || fits;
  }
  return any_take ? taken : label.empty();
}

bool Selection::may_select(const Entry& entry) const {
  bool any_take = false;
  bool taken = false;
  const std::string_view fixed =
      entry.key.substr(0, entry.key.find("<") == std::string_view::npos ? entry.key.size()
                                                                        : entry.key.find('<') - 1);
  for (const Rule& rule : rules_) {
    any_take = any_take || rule.take;
    if (rule.take) {
      taken = taken || (rule.layer ? entry.layer == *rule.layer : could_name(rule.name, entry.key));
    } else if (!rule.has_label &&
               (rule.layer ? entry.layer == *rule.layer : names(rule.name, fixed))) {
      return false;  // with all members
    }
  }
  return !any_take || taken;
}

bool Selection::may_select_at(std::string_view name) const {
  bool any_take = false;
  bool taken = false;
  for (const Rule& rule : rules_) {
    any_take = any_take || rule.take;
    if (!rule.take) {
      if (!rule.has_label && !rule.layer && names(rule.name, name)) {
        return false;  // with all below
      }
      continue;
    }
    taken = taken || (rule.layer ? std::ranges::any_of(catalogue(),
                                                       [&](const Entry& entry) {
                                                         return entry.layer == *rule.layer &&
                                                                (could_name(name, entry.key) ||
                                                                 entry_of(name) == &entry);
                                                       })
                                 : could_meet(rule.name, name));
  }
  return !any_take || taken;
}

}  // namespace goldenv::facts
