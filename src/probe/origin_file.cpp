// Whose a file is, and who last touched that.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "probe/dpkg_status.h"
#include "probe/origin.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kInfo = "/var/lib/dpkg/info";
constexpr std::string_view kList = ".list";
constexpr std::size_t kLogLimitBytes = 32u << 20;

/// The paths under which a package may list a file: packages built before /lib became a link to
/// /usr/lib list the short one.
std::set<std::string> listed_forms(std::string_view path, std::string_view real_path) {
  std::set<std::string> forms;
  for (const std::string_view one : {path, real_path}) {
    forms.emplace(one);
    if (one.starts_with("/usr/")) {
      forms.emplace(one.substr(4));
    } else if (one.starts_with("/lib") || one.starts_with("/bin") || one.starts_with("/sbin")) {
      forms.emplace("/usr" + std::string(one));
    }
  }
  return forms;
}

/// The package whose list of files names one of the forms. Errors: absent where there is no dpkg or
/// none does; else of what could not be read.
Result<std::string> owner_of(const host::Host& host, const std::set<std::string>& forms) {
  const auto entries = host.list(kInfo);
  if (!entries) {
    return entries.error();
  }
  std::optional<Error> open;
  for (const host::DirEntry& entry : *entries) {
    if (!entry.name.ends_with(kList)) {
      continue;
    }
    const auto text = host.read_file(std::string(kInfo) + "/" + entry.name, 16u << 20);
    if (!text) {
      open = text.error();
      continue;
    }
    for (const std::string_view line : lines(*text)) {
      if (forms.contains(std::string(line))) {
        const std::string package = entry.name.substr(0, entry.name.size() - kList.size());
        return package.substr(0, package.find(':'));
      }
    }
  }
  return open ? *open : Error{Errc::absent, "no package lists it", {}};
}

std::string version_of(Survey& survey, std::string_view package) {
  const Result<DpkgStatus>& status = dpkg_status(survey);
  if (status) {
    for (const DpkgPackage& one : status->packages) {
      if (one.name == package && one.is_installed()) {
        return std::string(one.version);
      }
    }
  }
  return {};
}

/// The first of the logs, newest first, in which something is said of the package.
template <typename Find>
std::string in_logs(const host::Host& host, std::string_view log, Find find) {
  for (const std::string_view older : {"", ".1"}) {
    const auto text = host.read_file(std::string(log) + std::string(older), kLogLimitBytes);
    if (text) {
      std::string said = find(*text);
      if (!said.empty()) {
        return said;
      }
    }
  }
  return {};
}

}  // namespace

facts::OriginFile origin_file(Survey& survey, std::string_view path) {
  const host::Host& host = survey.host();
  facts::OriginFile file;
  file.path = survey.tilde(path);
  const auto real = host.real_path(path);
  if (real && *real != path) {
    file.real_path = survey.tilde(*real);
  }
  // The files of a recorded machine are as old as the recording, not as the machine's own. (These
  // looks decide no fact, but what is said beside one.)
  const auto status = host.status(path);
  if (status && (host.live() || !host.exists("/record.yaml"))) {
    file.changed_ns = status->mtime_ns;
  }
  const auto owner = owner_of(host, listed_forms(path, real ? std::string_view(*real) : path));
  if (!owner) {
    file.unowned = owner.error().code != Errc::absent ? "not known: " + owner.error().message
                   : host.exists(kInfo)               ? "no package lists it"
                                                      : "no lists of dpkg are there";
    return file;
  }
  const std::string version = version_of(survey, *owner);
  file.package = *owner + (version.empty() ? "" : " " + version);
  file.touched = in_logs(host, "/var/log/dpkg.log",
                         [&](std::string_view text) { return last_dpkg_entry(text, *owner); });
  file.touched_by = in_logs(host, "/var/log/apt/history.log",
                            [&](std::string_view text) { return last_apt_command(text, *owner); });
  return file;
}

}  // namespace goldenv::probe
