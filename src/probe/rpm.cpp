// RPM packages as rpm lists them, and those that upgrades may not move.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/rpm_packages.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// The architecture of the system itself: that of rpm, or of the shell where rpm is not installed.
std::string native_architecture(const std::vector<RpmPackage>& packages) {
  for (const std::string_view name : {"rpm", "bash"}) {
    const auto found = std::ranges::find(packages, name, &RpmPackage::name);
    if (found != packages.end()) {
      return found->architecture;
    }
  }
  return "";
}

void add_packages(Survey& survey, const RpmPackages& database) {
  const std::string native = native_architecture(database.packages);
  std::map<std::string, std::vector<std::string>> versions;
  for (const RpmPackage& package : database.packages) {
    const bool is_foreign = !native.empty() && package.architecture != native &&
                            package.architecture != "noarch" && !package.architecture.empty();
    versions[package.name + (is_foreign ? ":" + package.architecture : "")].push_back(
        package.version);
  }
  for (const auto& [name, all] : versions) {
    // Kernels stand beside each other; which one counts, the list does not say.
    Reading reading = Value::scalar(all.front());
    if (all.size() > 1) {
      reading = Unknown{Why::ambiguous, join(all, " and ") + " are installed", ""};
    }
    survey.add("rpm.package." + name, std::move(reading), seen(database.path));
  }
}

/// "nvidia-driver" of "nvidia-driver-3:535.129.03-1.el9.*" and of "3:nvidia-driver-535.129.03-1.*":
/// name-[epoch:]version-release.
std::string_view locked_name(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::size_t dash = line.find('-');
  if (colon != std::string_view::npos && colon < dash) {
    line.remove_prefix(colon + 1);
  }
  for (int part = 0; part < 2; ++part) {
    const std::size_t last = line.rfind('-');
    if (last == std::string_view::npos || last + 1 >= line.size() ||
        (line[last + 1] < '0' || line[last + 1] > '9')) {
      break;
    }
    line = line.substr(0, last);
  }
  return line;
}

/// The names in versionlock's list; "!" forbids a version and holds none. Source: dnf's
/// versionlock plugin, yum-versionlock.conf(5).
std::vector<std::string> held_in_list(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view line : lines(text)) {
    const std::string_view entry = trim(line);
    if (!entry.empty() && entry[0] != '#' && entry[0] != '!') {
      names.emplace_back(locked_name(entry));
    }
  }
  return names;
}

/// The value of each line `key = "value"`. Sources: dnf5-versionlock(8), `name = "kernel"`;
/// zypper's locks, `solvable_name: kernel`.
std::vector<std::string> held_by_key(std::string_view text, std::string_view key) {
  std::vector<std::string> names;
  for (const std::string_view line : lines(text)) {
    std::string_view rest = trim(line);
    if (!rest.starts_with(key)) {
      continue;
    }
    rest = trim(rest.substr(key.size()));
    if (rest.empty() || (rest[0] != '=' && rest[0] != ':')) {
      continue;
    }
    rest = trim(rest.substr(1));
    if (rest.size() >= 2 && (rest[0] == '"' || rest[0] == '\'')) {
      rest = rest.substr(1, rest.find(rest[0], 1) - 1);
    }
    if (!rest.empty()) {
      names.emplace_back(rest);
    }
  }
  return names;
}

void add_held(Survey& survey) {
  if (!survey.wants("packages.held")) {
    return;
  }
  struct List {
    std::string_view path;
    std::vector<std::string> (*parse)(std::string_view text);
  };
  constexpr auto kLists = std::to_array<List>({
      {"/etc/dnf/plugins/versionlock.list", held_in_list},
      {"/etc/yum/pluginconf.d/versionlock.list", held_in_list},
      {"/etc/dnf/versionlock.toml",
       [](std::string_view text) { return held_by_key(text, "name"); }},
      {"/etc/zypp/locks", [](std::string_view text) { return held_by_key(text, "solvable_name"); }},
  });
  std::vector<std::string> held;
  facts::Evidence evidence = seen("lists of versionlock and zypper");
  for (const List& list : kLists) {
    const Result<std::string> text = survey.host().read_file(list.path);
    if (text) {
      std::vector<std::string> names = list.parse(*text);
      if (!names.empty()) {
        evidence.notes.emplace_back(list.path);
      }
      held.insert(held.end(), names.begin(), names.end());
    } else if (text.error().code != Errc::absent) {
      survey.add("packages.held", Unknown::from(text.error()), seen(list.path));
      return;
    }
  }
  survey.add("packages.held", Value::set(std::move(held)), std::move(evidence));
}

void run(Survey& survey) {
  const bool packages = survey.wants_below("rpm.package");
  if (!packages && !survey.wants("packages.held")) {
    return;
  }
  const Result<RpmPackages>& database = rpm_packages(survey);
  if (!database) {
    const bool is_none = database.error().code == Errc::absent;
    const Reading reading =
        is_none ? Reading(Absent{"no rpm"}) : Reading(Unknown::from(database.error()));
    for (const std::string& name : survey.named_below("rpm.package")) {
      survey.add("rpm.package." + name, reading, seen("/var/lib/rpm"));
    }
    if (is_none && survey.wants("rpm.package")) {
      survey.listed("rpm.package");
    }
    return;
  }
  if (packages) {
    for (const std::string& name : survey.named_below("rpm.package")) {
      survey.add("rpm.package." + name, Absent{"not installed"}, seen(database->path));
    }
    add_packages(survey, *database);
    if (survey.wants("rpm.package")) {
      survey.listed("rpm.package");
    }
  }
  // Where rpm is a tool beside dpkg its list is empty and dpkg's holds count.
  if (!database->packages.empty()) {
    add_held(survey);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"rpm.package.**", "packages.held"});

}  // namespace

extern const Probe rpm{.name = "rpm", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
