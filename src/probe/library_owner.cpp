#include "probe/library_owner.h"

#include <algorithm>

#include "base/text.h"
#include "host/process.h"
#include "probe/cuda_folder.h"
#include "probe/dpkg_status.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/python_target.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kDistInfo = ".dist-info";

bool begins_with_one_of(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// Folders that may hold the dist-info of a wheel which put a file at `path`: the site folder that
/// it lies in, or the dist-info folder of a CUDA tree assembled from wheels.
std::vector<std::string> dist_info_homes(Survey& survey, std::string_view path,
                                         std::vector<Error>& unseen) {
  std::vector<std::string> homes;
  if (const SiteOf site = site_of(survey, path); site.folder != nullptr) {
    homes.push_back(site.folder->path);
  }
  const auto toolkit = toolkit_of(survey, path);
  if (!toolkit) {
    unseen.push_back(toolkit.error());
  } else if (!toolkit->empty()) {
    homes.push_back(*toolkit + "/dist-info");
  }
  // CUDA 13 wheels share <site>/nvidia/cu13; a CUDA_HOME may point there though no Python is known.
  const std::size_t nvidia = path.rfind("/nvidia/");
  if (homes.empty() && nvidia != std::string_view::npos && nvidia > 0) {
    homes.emplace_back(path.substr(0, nvidia));
  }
  return homes;
}

void add_wheels(Survey& survey, std::string_view path, std::string_view real_path,
                std::span<const std::string_view> stems, LibraryOwners& owners) {
  if (stems.empty()) {
    return;
  }
  const host::Host& host = survey.host();
  const auto file = host.status(real_path);
  for (const std::string& home : dist_info_homes(survey, path, owners.unseen)) {
    for (const host::DirEntry& entry : entries_or_none(host, home, owners.unseen)) {
      const auto wheel = parse_dist_info(entry.name);
      if (!wheel || std::ranges::none_of(stems, [&](std::string_view stem) {
            return is_wheel_of(wheel->first, stem);
          })) {
        continue;
      }
      const std::string from = home + "/" + entry.name;
      LibraryOwner owner{wheel->first, wheel->second, "", survey.tilde(from), false};
      const auto record = host.read_file(from + "/RECORD");
      if (record) {
        const auto size = size_in_record(*record, base_name(path));
        if (!size) {
          continue;
        }
        owner.is_other_file = file && file->size_bytes != *size;
      } else {
        note_unseen(record.error(), owners.unseen);
      }
      owners.found.push_back(std::move(owner));
    }
  }
}

void add_conda(Survey& survey, std::string_view path, std::span<const std::string_view> names,
               LibraryOwners& owners) {
  const std::size_t lib = path.find("/lib/");
  if (names.empty() || lib == std::string_view::npos) {
    return;
  }
  const std::string prefix(path.substr(0, lib));
  const host::Host& host = survey.host();
  const std::string listed = "\"" + std::string(path.substr(lib + 1)) + "\"";
  for (const host::DirEntry& entry : entries_or_none(host, prefix + "/conda-meta", owners.unseen)) {
    // <name>-<version>-<build>.json; only the name may hold dashes.
    if (!entry.name.ends_with(".json") || !begins_with_one_of(entry.name, names)) {
      continue;
    }
    const std::size_t build = entry.name.rfind('-');
    const std::size_t version =
        build == std::string::npos || build == 0 ? build : entry.name.rfind('-', build - 1);
    if (version == std::string::npos) {
      continue;
    }
    const std::string from = prefix + "/conda-meta/" + entry.name;
    if (text_or_none(host, from, owners.unseen, 16u << 20).find(listed) == std::string::npos) {
      continue;
    }
    const std::string tail = entry.name.substr(build + 1);
    owners.found.push_back({entry.name.substr(0, version),
                            entry.name.substr(version + 1, build - version - 1),
                            tail.substr(0, tail.size() - 5), survey.tilde(from), false});
  }
}

void add_debian(Survey& survey, std::string_view real_path, std::span<const std::string_view> names,
                LibraryOwners& owners) {
  if (names.empty() || !(real_path.starts_with("/usr/") || real_path.starts_with("/lib"))) {
    return;
  }
  const auto& packages = debian_packages(survey);
  if (!packages) {
    note_unseen(packages.error(), owners.unseen);
    return;
  }
  const host::Host& host = survey.host();
  for (const auto& [name, version] : *packages) {
    if (!begins_with_one_of(name, names)) {
      continue;
    }
    // Multi-arch packages have their architecture in the name of the list.
    auto list = host.read_file("/var/lib/dpkg/info/" + name + ".list");
    for (const std::string_view arch : {":amd64", ":arm64"}) {
      if (!list && list.error().code == Errc::absent) {
        list = host.read_file("/var/lib/dpkg/info/" + name + std::string(arch) + ".list");
      }
    }
    if (!list) {
      note_unseen(list.error(), owners.unseen);
      continue;
    }
    // Packages built before /lib became a link to /usr/lib list the short path.
    const std::string_view short_path =
        real_path.starts_with("/usr/lib") ? real_path.substr(4) : real_path;
    const auto paths = lines(*list);
    if (std::ranges::find(paths, real_path) == paths.end() &&
        std::ranges::find(paths, short_path) == paths.end()) {
      continue;
    }
    auto [upstream, revision] = debian_parts(version);
    owners.found.push_back(
        {name, std::move(upstream), std::move(revision), "/var/lib/dpkg/status", false});
  }
}

using Packages = Result<std::vector<std::pair<std::string, std::string>>>;

struct DebianPackages {
  Packages packages;
};

Packages read_debian_packages(Survey& survey) {
  std::vector<std::pair<std::string, std::string>> packages;
  const Result<DpkgStatus>& status = dpkg_status(survey);
  if (!status) {
    return status.error().code == Errc::absent ? Packages(std::move(packages))
                                               : Packages(status.error());
  }
  for (const DpkgPackage& package : status->packages) {
    if (package.is_installed() && !status->is_foreign(package)) {
      packages.emplace_back(package.name, package.version);
    }
  }
  return packages;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> parse_dist_info(std::string_view folder) {
  if (!folder.ends_with(kDistInfo) || folder.starts_with('~')) {
    return std::nullopt;
  }
  folder.remove_suffix(kDistInfo.size());
  const std::size_t dash = folder.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 1 == folder.size()) {
    return std::nullopt;
  }
  return std::pair{std::string(folder.substr(0, dash)), std::string(folder.substr(dash + 1))};
}

bool is_wheel_of(std::string_view wheel, std::string_view stem) {
  if (!wheel.starts_with(stem)) {
    return false;
  }
  wheel.remove_prefix(stem.size());
  return wheel.empty() ||
         ((wheel.starts_with("_cu") || wheel.starts_with("-cu")) && to_number(wheel.substr(3)));
}

Result<std::uint64_t> size_in_record(std::string_view record, std::string_view name) {
  for (const std::string_view line : lines(record)) {
    const std::size_t comma = line.find(',');
    const std::size_t last = line.rfind(',');
    if (comma == std::string_view::npos || base_name(line.substr(0, comma)) != name) {
      continue;
    }
    const auto size = to_number(trim(line.substr(last + 1)));
    if (size) {
      return *size;
    }
  }
  return Error{Errc::absent, "RECORD lists no " + std::string(name), {}};
}

std::string version_in_name(std::string_view file_name) {
  if (file_name.ends_with(host::kDeleted)) {
    file_name.remove_suffix(host::kDeleted.size());
  }
  const std::size_t so = file_name.rfind(".so.");
  if (so == std::string_view::npos) {
    return {};
  }
  const std::string_view version = file_name.substr(so + 4);
  const bool is_version = !version.empty() && version.front() != '.' && version.back() != '.' &&
                          version.find_first_not_of("0123456789.") == std::string_view::npos &&
                          version.find("..") == std::string_view::npos;
  return is_version ? std::string(version) : std::string();
}

LibraryOwners library_owners(Survey& survey, std::string_view path, std::string_view real_path,
                             const PackageNames& names) {
  LibraryOwners owners;
  const std::string plain = without_dots(path);
  add_wheels(survey, plain, real_path, names.wheels, owners);
  if (owners.found.empty() && plain != real_path) {
    add_wheels(survey, real_path, real_path, names.wheels, owners);
  }
  add_conda(survey, plain, names.conda, owners);
  if (plain != real_path) {
    add_conda(survey, real_path, names.conda, owners);
  }
  add_debian(survey, real_path, names.debian, owners);
  std::ranges::stable_sort(owners.found, {}, &LibraryOwner::is_other_file);
  // Conda lists the link and the file it leads to.
  owners.found.erase(std::unique(owners.found.begin(), owners.found.end()), owners.found.end());
  return owners;
}

const Packages& debian_packages(Survey& survey) {
  return survey.shared<DebianPackages>([&] { return DebianPackages{read_debian_packages(survey)}; })
      .packages;
}

std::pair<std::string, std::string> debian_parts(std::string_view version) {
  const std::size_t colon = version.find(':');
  if (colon != std::string_view::npos) {
    version.remove_prefix(colon + 1);
  }
  const std::size_t dash = version.rfind('-');
  if (dash == std::string_view::npos) {
    return {std::string(version), ""};
  }
  return {std::string(version.substr(0, dash)), std::string(version.substr(dash + 1))};
}

}  // namespace goldenv::probe
