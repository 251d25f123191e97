#include "provision/wanted.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "facts/want.h"
#include "tables/cuda_releases.h"
#include "tables/torch_variants.h"

namespace goldenv::provision {
namespace {

constexpr std::string_view kPackages = "python.package.";

/// What a key of the vocabulary asks of a package beside its version ("python.package.x.record").
bool is_attribute(std::string_view key) {
  return key.starts_with(kPackages) &&
         key.substr(kPackages.size()).find('.') != std::string_view::npos;
}

/// The one version that a pin asks for, whatever the level.
std::optional<std::string> exact(const facts::Want& want) {
  if (want.kind == facts::Want::Kind::exact && want.value.form == facts::Value::Form::scalar) {
    return want.value.text;
  }
  if (want.kind == facts::Want::Kind::any_of && want.any.size() == 1) {
    return exact(want.any.front());
  }
  if (want.kind == facts::Want::Kind::constraint && want.constraint.clauses.size() == 1 &&
      want.constraint.clauses.front().op == version::Op::eq) {
    return want.constraint.clauses.front().text;
  }
  return std::nullopt;
}

std::optional<std::string> exact(const manifest::Pin& pin) {
  return pin.when ? std::nullopt : exact(pin.want);
}

const manifest::Pin* pin_on(const manifest::Manifest& manifest, std::string_view key) {
  return manifest.find({std::string(key), {}});
}

/// "12.1" of "cu121", "11.8" of "cu118"; "" of "cpu".
std::string cuda_of_label(std::string_view label) {
  if (!label.starts_with("cu") || label.size() < 5) {
    return {};
  }
  const std::string_view digits = label.substr(2);
  if (!to_number(digits)) {
    return {};
  }
  return std::string(digits.substr(0, digits.size() - 1)) + "." +
         std::string(digits.substr(digits.size() - 1));
}

/// The CUDA of the set: the pin's, else that of torch's build.
std::string cuda_of(const manifest::Manifest& manifest) {
  if (const manifest::Pin* const pin = pin_on(manifest, "cuda")) {
    return exact(*pin).value_or("");
  }
  const manifest::Pin* const torch = pin_on(manifest, "torch");
  const std::optional<std::string> version = torch != nullptr ? exact(*torch) : std::nullopt;
  if (!version) {
    return {};
  }
  if (const std::size_t plus = version->find('+'); plus != std::string::npos) {
    return cuda_of_label(std::string_view(*version).substr(plus + 1));
  }
  const auto variant = tables::default_torch_variant(*version);
  return variant ? cuda_of_label(variant->label) : std::string{};
}

recipe::Values values_for(const manifest::Manifest& manifest, const Around& around) {
  recipe::Values values = around.values;
  const auto put = [&values](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      values.insert_or_assign(std::string(name), value);
    }
  };
  put("arch", around.arch);
  put("python", around.python);
  put("cuda", cuda_of(manifest));
  if (const manifest::Pin* const torch = pin_on(manifest, "torch")) {
    put("torch", exact(*torch).value_or(""));
  }
  return values;
}

/// What a component comes to: two pins with one of it ask for the same.
std::string identity(const Component& component) {
  if (!component.expansion.sources.empty()) {
    const recipe::Source& first = component.expansion.sources.front();
    if (first.kind == recipe::Kind::wheel) {
      return "wheel " + first.name;
    }
  }
  return component.recipe->is_generic() ? component.key : component.recipe->component;
}

std::string needs_of(const recipe::Recipe& recipe) {
  std::string text;
  for (const recipe::Need need : recipe.needs) {
    text += (text.empty() ? "needs " : " and ") + std::string(recipe::name(need));
  }
  return text;
}

bool has_wheel(const Component& component) {
  return std::ranges::any_of(component.expansion.sources, [](const recipe::Source& source) {
    return source.kind == recipe::Kind::wheel;
  });
}

/// A pin on a package that a recipe of something else is also for means that package, whatever the
/// recipe would call the wheel. A recipe for the package itself says where it comes from.
void put_package_first(Component& component) {
  if (!component.key.starts_with(kPackages) || component.recipe->is_generic() ||
      component.recipe->component == component.key) {
    return;
  }
  const std::string package = component.key.substr(kPackages.size());
  auto& sources = component.expansion.sources;
  if (!sources.empty() && sources.front().kind == recipe::Kind::wheel &&
      sources.front().name == package) {
    return;
  }
  recipe::Source source;
  source.name = package;
  source.version = component.version;
  sources.insert(sources.begin(), std::move(source));
}

std::string version_of(const Component& component) {
  const auto& sources = component.expansion.sources;
  return !sources.empty() && sources.front().kind == recipe::Kind::wheel ? sources.front().version
                                                                         : component.version;
}

}  // namespace

Result<Wanted> wanted_of(const manifest::Manifest& manifest, const recipe::Collection& recipes,
                         const Around& around) {
  Wanted wanted;
  const recipe::Values common = values_for(manifest, around);
  std::map<std::string, std::size_t> known;  // identity -> place in wanted.components
  for (const manifest::Pin& pin : manifest.pins) {
    const std::string& key = pin.key.name;
    const recipe::Recipe* const recipe =
        pin.key.label.empty() && !is_attribute(key) ? recipes.find(key) : nullptr;
    if (recipe == nullptr) {
      ++wanted.settings;
      continue;
    }
    if (pin.want.kind == facts::Want::Kind::absent || pin.want.kind == facts::Want::Kind::any) {
      continue;
    }
    const std::string want = facts::describe(pin.want);
    if (!recipe->cannot.empty()) {
      wanted.host.push_back({key, want, recipe->cannot});
      continue;
    }
    if (!recipe->needs.empty()) {
      wanted.host.push_back({key, want, needs_of(*recipe)});
      continue;
    }
    const std::optional<std::string> version = exact(pin);
    if (!version) {
      wanted.open.push_back({key, want, pin.when ? "it holds only under a condition" : ""});
      continue;
    }
    if (recipe->component == "python") {
      wanted.python = *version;
      continue;
    }
    recipe::Values values = common;
    values.insert_or_assign("version", *version);
    if (recipe->component == "cuda") {
      const std::string_view cudart = tables::number_in_cuda(*version, "cuda_cudart");
      if (!cudart.empty()) {
        values.insert_or_assign("cudart", std::string(cudart));
      }
    }
    values.insert_or_assign("name", recipe->is_generic() || key.starts_with(kPackages)
                                        ? key.substr(std::min(key.size(), kPackages.size()))
                                        : key.substr(key.rfind('.') + 1));
    Component component{key, *version, {}, recipe, recipe::expand(*recipe, values), {}};
    put_package_first(component);
    component.sha256 = pin.sha256;
    const auto [at, fresh] = known.try_emplace(identity(component), wanted.components.size());
    if (fresh) {
      wanted.components.push_back(std::move(component));
      continue;
    }
    Component& first = wanted.components[at->second];
    if (version_of(first) != version_of(component) &&
        !tables::serves(version_of(component), version_of(first)) &&
        !tables::serves(version_of(first), version_of(component))) {
      return Error{Errc::usage,
                   pin.file + ":" + std::to_string(pin.mark.line) + ": " + key + " " + *version +
                       " and " + first.key + " " + first.version +
                       " are the same thing in two versions",
                   {}};
    }
    if (!first.sha256.empty() && !pin.sha256.empty() && first.sha256 != pin.sha256) {
      return Error{Errc::usage,
                   pin.file + ":" + std::to_string(pin.mark.line) + ": " + key + " and " +
                       first.key + " are the same thing by two files",
                   {}};
    }
    first.sha256 = first.sha256.empty() ? pin.sha256 : first.sha256;
    first.also.push_back(key);
  }
  // Which wheel holds NCCL hangs on the CUDA; where that is not known, a pin on the wheel says it.
  std::vector<Component> all;
  std::vector<Component> without;
  for (Component& component : wanted.components) {
    (has_wheel(component) ? all : without).push_back(std::move(component));
  }
  for (Component& open : without) {
    const auto same = std::ranges::find_if(all, [&](const Component& other) {
      return other.recipe == open.recipe && other.version == open.version && has_wheel(other);
    });
    if (same == all.end()) {
      all.push_back(std::move(open));
    } else {
      same->also.push_back(open.key);
    }
  }
  std::ranges::sort(all, {}, &Component::key);
  wanted.components = std::move(all);
  return wanted;
}

Wanted wanted_of(const wheel::LockedSet& set, const recipe::Collection& recipes,
                 const Around& around) {
  Wanted wanted;
  for (const wheel::LockedPackage& package : set.packages) {
    const std::string key = std::string(kPackages) + package.name;
    const recipe::Recipe* const recipe = recipes.find(std::string(kPackages) + "*");
    if (recipe == nullptr) {
      wanted.open.push_back({key, package.version, "no recipe is for Python packages"});
      continue;
    }
    recipe::Values values = around.values;
    values.insert_or_assign("arch", around.arch);
    values.insert_or_assign("python", around.python);
    values.insert_or_assign("version", package.version);
    values.insert_or_assign("name", package.name);
    wanted.components.push_back(
        {key, package.version, {}, recipe, recipe::expand(*recipe, values), package});
  }
  for (const wheel::NotTaken& one : set.not_taken) {
    wanted.host.push_back({std::string(kPackages) + one.name, "", one.why});
  }
  return wanted;
}

}  // namespace goldenv::provision
