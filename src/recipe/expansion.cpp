// Sources with their placeholders filled in.
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "facts/catalogue.h"
#include "recipe/recipe.h"

namespace goldenv::recipe {
namespace {

/// "wheel nvidia-nccl-cu{cuda.major}": how messages call a source.
std::string called(const Source& source) {
  const std::string& what = !source.name.empty()  ? source.name
                            : !source.url.empty() ? source.url
                                                  : std::string("?");
  return std::string(name(source.kind)) + " " + what;
}

/// The constraint of a condition on a value, in the order of its component.
Result<version::Constraint> condition(const Recipe& recipe, const std::string& base,
                                      const std::string& text) {
  const facts::Entry* const entry = facts::entry_of(base);
  return version::parse_constraint(base == "version"  ? recipe.versions
                                   : entry != nullptr ? entry->scheme
                                                      : version::Scheme::dotted,
                                   text);
}

/// "" or why the source is not for these values.
std::string why_not(const Recipe& recipe, const Source& source, const Values& values) {
  for (const auto& [base, text] : source.when) {
    const auto value = values.find(base);
    if (value == values.end()) {
      return "is for " + base + " " + text + ", and no " + base + " is given";
    }
    if (base == "arch") {
      if (value->second != text) {
        return "is for arch " + text;
      }
      continue;
    }
    const auto constraint = condition(recipe, base, text);
    const auto version = constraint ? version::parse(constraint->scheme, value->second)
                                    : Result<version::Version>(constraint.error());
    if (!version || version::meets(*constraint, *version) != Truth::yes) {
      return "is for " + base + " " + text + ", not " + value->second;
    }
  }
  return {};
}

/// Fills a pattern in place; false with `why` where a value is missing.
bool fill_in(std::string& pattern, const Values& values, std::string& why) {
  Result<std::string> filled = fill(pattern, values);
  if (!filled) {
    why = filled.error().message;
    return false;
  }
  pattern = *std::move(filled);
  return true;
}

bool fill_in(Source& source, const Values& values, std::string& why) {
  for (std::string* pattern : {&source.name, &source.version, &source.url, &source.variant}) {
    if (!fill_in(*pattern, values, why)) {
      return false;
    }
  }
  for (std::vector<std::string>* list : {&source.components, &source.build}) {
    for (std::string& pattern : *list) {
      if (!fill_in(pattern, values, why)) {
        return false;
      }
    }
  }
  for (Layout& layout : source.layout) {
    if (!fill_in(layout.from, values, why)) {
      return false;
    }
  }
  return true;
}

/// Leaves the entry of this version alone; false where a digest or commit is needed and there is
/// none.
bool choose(Source& source, const std::string& version, std::string& why) {
  const auto keep = [&version](std::map<std::string, std::string>& all) {
    const auto at = all.find(version);
    if (at == all.end()) {
      all.clear();
      return false;
    }
    all = {{version, at->second}};
    return true;
  };
  if (const bool named = keep(source.commits); source.kind == Kind::git && !named) {
    why = "names no commit for " + version;
    return false;
  }
  const bool needs_digest =
      source.kind == Kind::archive || (source.kind == Kind::deb && !source.url.empty());
  if (const bool known = keep(source.sha256); needs_digest && !known) {
    why = "names no sha256 for " + version;
    return false;
  }
  return true;
}

Values with_hosts(const Recipe& recipe, const Values& values) {
  Values all = values;
  for (const auto& [name, url] : recipe.hosts) {
    all.emplace("host." + name, url);  // what is given stands
  }
  return all;
}

}  // namespace

Expansion expand(const Recipe& recipe, const Values& values) {
  Expansion expansion;
  const Values all = with_hosts(recipe, values);
  const auto version = all.find("version");
  for (const Source& pattern : recipe.sources) {
    Source source = pattern;
    std::string why = why_not(recipe, source, all);
    if (why.empty() && fill_in(source, all, why) &&
        choose(source, version == all.end() ? std::string() : version->second, why)) {
      expansion.sources.push_back(std::move(source));
    } else {
      expansion.passed_over.push_back(called(pattern) + ": " + why);
    }
  }
  return expansion;
}

std::vector<std::string> keys_of(const Recipe& recipe, const Values& values) {
  std::set<std::string> keys(recipe.also.begin(), recipe.also.end());
  if (!recipe.is_generic()) {
    keys.insert(recipe.component);
  }
  for (const Source& source : expand(recipe, values).sources) {
    if (source.kind == Kind::wheel) {
      if (const auto key = facts::resolve("python.package." + source.name)) {
        keys.insert(key->name);
      }
    }
  }
  return {keys.begin(), keys.end()};
}

}  // namespace goldenv::recipe
