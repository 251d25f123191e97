#include "probe/package_version.h"

#include <algorithm>

#include "probe/dpkg_status.h"
#include "probe/instances.h"
#include "probe/rpm_packages.h"

namespace goldenv::probe {

std::string upstream_numbers(std::string_view version) {
  const std::size_t colon = version.find(':');
  if (colon != std::string_view::npos) {
    version.remove_prefix(colon + 1);
  }
  std::string_view numbers = version.substr(0, version.find_first_not_of("0123456789."));
  while (numbers.ends_with('.')) {
    numbers.remove_suffix(1);
  }
  return std::string(numbers);
}

Result<std::optional<PackageVersion>> package_version(Survey& survey,
                                                      std::span<const std::string_view> names) {
  const auto made = [&](std::string_view name, std::string_view version, facts::Evidence evidence) {
    PackageVersion found{upstream_numbers(version), std::string(name) + " " + std::string(version),
                         std::move(evidence)};
    found.evidence.notes.push_back("package " + found.package);
    return found;
  };
  const Result<DpkgStatus>& status = dpkg_status(survey);
  if (!status && status.error().code != Errc::absent) {
    return status.error();
  }
  const Result<RpmPackages>& rpms = rpm_packages(survey);
  if (!rpms && rpms.error().code != Errc::absent) {
    return rpms.error();
  }
  for (const std::string_view name : names) {
    if (status) {
      const auto package = std::ranges::find_if(status->packages, [&](const DpkgPackage& one) {
        return one.name == name && one.is_installed();
      });
      if (package != status->packages.end()) {
        return std::optional(made(name, package->version, seen(status->from, package->line)));
      }
    }
    if (rpms) {
      const auto package = std::ranges::find(rpms->packages, name, &RpmPackage::name);
      if (package != rpms->packages.end()) {
        return std::optional(made(name, package->version, seen(rpms->path)));
      }
    }
  }
  return std::optional<PackageVersion>();
}

}  // namespace goldenv::probe
