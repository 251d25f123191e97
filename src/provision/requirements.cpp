#include "provision/requirements.h"

#include <map>
#include <set>

#include "wheel/name.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"

namespace goldenv::provision {
namespace {

using Extras = std::map<std::string, std::set<std::string>>;

/// Whether a requirement holds for a package of which these extras are asked.
Truth holds(const wheel::Requirement& requirement, const wheel::MarkerEnvironment& environment,
            const std::set<std::string>& extras) {
  if (!requirement.marker) {
    return Truth::yes;
  }
  return wheel::holds(*requirement.marker, environment, {extras.begin(), extras.end()});
}

/// Adds the extras that a package asks of others; whether that was something new.
bool ask_extras(const Installed& package, const wheel::MarkerEnvironment& environment,
                Extras& extras) {
  bool grew = false;
  const std::set<std::string> own = extras[package.project];
  for (const wheel::Requirement& requirement : package.metadata.requires_dist) {
    if (requirement.extras.empty() || holds(requirement, environment, own) == Truth::no) {
      continue;
    }
    std::set<std::string>& asked = extras[wheel::normalised_name(requirement.name)];
    for (const std::string& extra : requirement.extras) {
      grew = asked.insert(wheel::normalised_name(extra)).second || grew;
    }
  }
  return grew;
}

std::string wish_text(const wheel::Requirement& requirement) {
  const std::string specifiers = wheel::render(requirement.specifiers);
  return wheel::normalised_name(requirement.name) + (specifiers.empty() ? "" : " " + specifiers);
}

}  // namespace

std::vector<Unmet> unmet_requirements(const std::vector<Installed>& set,
                                      const wheel::MarkerEnvironment& environment) {
  std::map<std::string, const Installed*> by_name;
  for (const Installed& package : set) {
    by_name.emplace(package.project, &package);
  }
  Extras extras;
  // Each round adds an extra or is the last.
  for (bool grew = true; grew;) {
    grew = false;
    for (const Installed& package : set) {
      grew = ask_extras(package, environment, extras) || grew;
    }
  }
  std::vector<Unmet> unmet;
  for (const Installed& package : set) {
    const std::string& python = package.metadata.requires_python;
    if (environment.python_full_version &&
        !wheel::fits_python(package.metadata, *environment.python_full_version)) {
      unmet.push_back({package.project + " " + package.version,
                       "Python " + python + " (this is " + *environment.python_full_version + ")",
                       "", true});
    }
    for (const wheel::Requirement& requirement : package.metadata.requires_dist) {
      const Truth truth = holds(requirement, environment, extras[package.project]);
      if (truth == Truth::no) {
        continue;
      }
      const auto at = by_name.find(wheel::normalised_name(requirement.name));
      const bool met =
          at != by_name.end() && (requirement.specifiers.empty() ||
                                  wheel::contains(requirement.specifiers, at->second->version));
      if (!met) {
        unmet.push_back({package.project + " " + package.version, wish_text(requirement),
                         at == by_name.end() ? "" : at->second->version, truth == Truth::yes});
      }
    }
  }
  return unmet;
}

}  // namespace goldenv::provision
