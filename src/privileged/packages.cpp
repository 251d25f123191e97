#include "privileged/packages.h"

#include <algorithm>

#include "base/text.h"
#include "version/version.h"

namespace goldenv::privileged {
namespace {

using facts::Value;

constexpr std::string_view kNextBoot = "next_boot.";

bool consists_of(std::string_view text, std::string_view more, bool upper) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (upper && c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

/// "libc6", "libc6:i386". Source: Debian Policy 5.6.1.
bool is_package_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view arch =
      colon == std::string_view::npos ? std::string_view("any") : text.substr(colon + 1);
  return name.size() > 1 && consists_of(name, "+-.", false) &&
         consists_of(name.substr(0, 1), "", false) && !arch.empty() && arch.front() != '-' &&
         consists_of(arch, "-", false);
}

/// Source: Debian Policy 5.6.12.
bool is_package_version(std::string_view text) {
  return consists_of(text, ".+:~-", true) && !text.starts_with('-');
}

/// The filled-in Debian sources of a recipe for a version.
std::vector<recipe::Source> sources_of(const recipe::Recipe& recipe, std::string_view key,
                                       const std::string& version, const Around& around) {
  recipe::Values values = around.values;
  values.insert_or_assign("version", version);
  values.insert_or_assign("name", key.starts_with(kDebianPackage)
                                      ? std::string(key.substr(kDebianPackage.size()))
                                      : std::string(key.substr(key.rfind('.') + 1)));
  std::vector<recipe::Source> sources = recipe::expand(recipe, values).sources;
  std::erase_if(sources, [](const auto& source) { return source.kind != recipe::Kind::deb; });
  return sources;
}

/// The first source with a file and its digest; nullptr.
const recipe::Source* with_file(const std::vector<recipe::Source>& sources,
                                const std::string& version) {
  const auto at = std::ranges::find_if(sources, [&](const recipe::Source& source) {
    return !source.url.empty() && source.sha256.contains(version);
  });
  return at == sources.end() ? nullptr : &*at;
}

bool is_newer(const std::string& a, const std::string& b) {
  const auto left = version::parse(version::Scheme::debian, a);
  const auto right = version::parse(version::Scheme::debian, b);
  return left && right && version::order(*left, *right) == std::strong_ordering::greater;
}

/// The offer for a source at a version: of several revisions the newest.
const Offered* offer_for(const recipe::Source& source, std::string_view key,
                         const std::string& version, const Around& around) {
  const Offered* best = nullptr;
  for (const Offered& offered : around.offered) {
    if (offered.key == key && offered.version == version && offered.package == source.name &&
        (best == nullptr || is_newer(offered.package_version, best->package_version))) {
      best = &offered;
    }
  }
  return best;
}

/// The way back to the version that is there now, where a recipe knows its file.
void add_old_file(Package& package, const recipe::Recipe& recipe, std::string_view key,
                  const facts::Reading& found, const Around& around) {
  const auto* const value = std::get_if<Value>(&found);
  if (value == nullptr || value->form != Value::Form::scalar) {
    return;
  }
  const std::vector<recipe::Source> sources = sources_of(recipe, key, value->text, around);
  if (const recipe::Source* const source = with_file(sources, value->text)) {
    package.old_url = source->url;
    package.old_sha256 = source->sha256.at(value->text);
  }
}

Result<Package> checked(Package package) {
  if (!is_package_name(package.name) || !is_package_version(package.version)) {
    return Error{Errc::absent, "no Debian package can be called so", {}};
  }
  return package;
}

}  // namespace

const recipe::Recipe* recipe_of(const recipe::Collection& recipes, std::string_view key) {
  const recipe::Recipe* recipe = recipes.find(key);
  if (recipe == nullptr && key.starts_with(kNextBoot)) {
    recipe = recipes.find(key.substr(kNextBoot.size()));
  }
  const bool takes_root =
      recipe != nullptr &&
      std::ranges::find(recipe->needs, recipe::Need::root) != recipe->needs.end();
  return takes_root ? recipe : nullptr;
}

Result<Package> package_for(std::string_view key, const std::string& want,
                            const facts::Reading& found, const recipe::Collection& recipes,
                            const Around& around) {
  const bool is_package = key.starts_with(kDebianPackage);
  const recipe::Recipe* const recipe = is_package ? recipes.find(key) : recipe_of(recipes, key);
  if (recipe != nullptr) {
    const std::vector<recipe::Source> sources = sources_of(*recipe, key, want, around);
    if (const recipe::Source* const source = with_file(sources, want)) {
      Package package{
          source->name, is_package ? want : "", source->url, source->sha256.at(want), {}, {}};
      add_old_file(package, *recipe, key, found, around);
      return checked(std::move(package));
    }
    for (const recipe::Source& source : sources) {
      if (const Offered* const offer = offer_for(source, recipe->component, want, around)) {
        return checked({offer->package, offer->package_version, {}, {}, {}, {}});
      }
    }
    // One package that is named for the version, as a kernel's: apt says whether it is there.
    if (sources.size() == 1 && sources.front().url.empty() && sources.front().version == "*") {
      return checked({sources.front().name, {}, {}, {}, {}, {}});
    }
  }
  if (is_package) {
    return checked({std::string(key.substr(kDebianPackage.size())), want, {}, {}, {}, {}});
  }
  return Error{Errc::absent,
               around.unread.empty() ? "no package with it is in apt's lists"
                                     : "what apt offers is not known: " + around.unread,
               {}};
}

bool has_installed_kernel(const facts::Snapshot& snapshot, std::string_view release) {
  const facts::Fact fact = snapshot.read({"kernel.installed", {}});
  const auto* const value = std::get_if<Value>(&fact.reading);
  return value != nullptr && std::ranges::find(value->items, release) != value->items.end();
}

}  // namespace goldenv::privileged
