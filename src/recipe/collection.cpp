#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "recipe/recipe.h"

namespace goldenv::recipe {

Result<void> Collection::add(std::span<const Text> texts) {
  std::map<std::string, std::string, std::less<>> keys;  // of this folder: key -> file
  std::vector<Recipe> read;
  for (const Text& text : texts) {
    auto recipe = parse(text.text, text.name);
    if (!recipe) {
      return std::move(recipe).error();
    }
    std::vector<std::string> own = recipe->also;
    own.push_back(recipe->component);
    for (const std::string& key : own) {
      const auto [at, is_new] = keys.emplace(key, text.name);
      if (!is_new) {
        return doc::error_at(text.name, {1, 1},
                             "a second recipe for " + key + "; " + at->second + " is one already");
      }
    }
    read.push_back(*std::move(recipe));
  }
  for (Recipe& recipe : read) {
    std::vector<std::string> own = recipe.also;
    own.push_back(recipe.component);
    std::erase_if(components_, [&](const auto& row) { return row.second == recipe.component; });
    for (const std::string& key : own) {
      components_.insert_or_assign(key, recipe.component);
    }
    std::string component = recipe.component;
    recipes_.insert_or_assign(std::move(component), std::move(recipe));
  }
  return {};
}

const Recipe* Collection::find(std::string_view key) const {
  auto at = components_.find(key);
  for (std::size_t dot = key.rfind('.'); at == components_.end() && dot != std::string_view::npos;
       dot = dot == 0 ? std::string_view::npos : key.rfind('.', dot - 1)) {
    at = components_.find(std::string(key.substr(0, dot)) + ".*");
  }
  return at == components_.end() ? nullptr : &recipes_.find(at->second)->second;
}

std::vector<const Recipe*> Collection::all() const {
  std::vector<const Recipe*> all;
  for (const auto& [component, recipe] : recipes_) {
    all.push_back(&recipe);
  }
  return all;
}

Collection shipped_collection() {
  Collection collection;
  const Result<void> added = collection.add(shipped());
  assert(added);
  static_cast<void>(added);
  return collection;
}

}  // namespace goldenv::recipe
