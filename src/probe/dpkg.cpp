// Debian packages as dpkg lists them.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/dpkg_status.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// Every fact of the family that was asked for by name, for a machine whose list says nothing of
/// it.
void add_named(Survey& survey, const Reading& reading, const facts::Evidence& evidence) {
  for (const std::string& name : survey.named_below("dpkg.package")) {
    survey.add("dpkg.package." + name, reading, evidence);
  }
}

void add_without_list(Survey& survey, const Error& error) {
  const facts::Evidence evidence = seen("/var/lib/dpkg/status");
  const Reading reading =
      error.code == Errc::absent ? Reading(Absent{"no dpkg"}) : Reading(Unknown::from(error));
  add_named(survey, reading, evidence);
  survey.add("dpkg.leftover", reading, evidence);
  if (error.code != Errc::absent) {
    survey.add("packages.held", reading, evidence);
    return;
  }
  if (survey.wants("dpkg.package")) {
    survey.listed("dpkg.package");
  }
  // Other packagers hold packages elsewhere, which is not read.
  survey.add("packages.held", Unknown{Why::unsupported, "no dpkg", ""}, evidence);
}

void run(Survey& survey) {
  const Result<DpkgStatus>& status = dpkg_status(survey);
  if (!status) {
    add_without_list(survey, status.error());
    return;
  }
  const bool packages = survey.wants_below("dpkg.package");
  if (packages) {
    // Overwritten below where the package is there; of two facts of one key the later counts.
    add_named(survey, Absent{"not installed"}, seen(status->from));
  }
  std::vector<std::pair<std::string, std::string>> leftover;
  std::vector<std::string> held;
  for (const DpkgPackage& package : status->packages) {
    const std::string name = status->name_of(package);
    if (package.want == "hold") {
      held.push_back(name);
    }
    if (package.state == "config-files") {
      leftover.emplace_back(name, package.version);
      continue;
    }
    if (!packages || package.state == "not-installed") {
      continue;
    }
    Reading reading = Value::scalar(std::string(package.version));
    if (!package.is_installed()) {
      reading = Unknown{Why::ambiguous,
                        std::string(package.version) + " is " + std::string(package.state) +
                            ": dpkg did not finish",
                        ""};
    }
    survey.add("dpkg.package." + name, std::move(reading), seen(status->from, package.line));
  }
  if (survey.wants("dpkg.package")) {
    survey.listed("dpkg.package");
  }
  survey.add("dpkg.leftover", Value::map(std::move(leftover)), seen(status->from));
  survey.add("packages.held", Value::set(std::move(held)), seen(status->from));
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"dpkg.package.**", "dpkg.leftover", "packages.held"});

}  // namespace

extern const Probe dpkg{.name = "dpkg", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
