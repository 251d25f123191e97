#include "probe/python_origin.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "probe/python_prefix.h"

namespace goldenv::probe {
namespace {

using facts::Unknown;
using facts::Value;
using facts::Why;

bool is_conda(const Python& python) {
  return python.kind == PythonKind::conda || python.kind == PythonKind::pixi;
}

}  // namespace

Result<std::vector<CondaName>> conda_packages(const host::Host& host, const std::string& prefix) {
  const auto entries = host.list(path_in(prefix, "conda-meta"));
  if (!entries) {
    return entries.error();
  }
  std::vector<CondaName> packages;
  for (const host::DirEntry& entry : *entries) {
    if (auto package = parse_conda_name(entry.name)) {
      packages.push_back(*std::move(package));
    }
  }
  std::ranges::sort(packages, {}, &CondaName::name);
  return packages;
}

PackageOrigins::PackageOrigins(Survey& survey, const Python& python)
    : survey_(survey), python_(python) {
  if (is_conda(python)) {
    auto packages = conda_packages(survey.host(), python.prefix);
    if (packages) {
      conda_ = *std::move(packages);
    } else if (packages.error().code != Errc::absent) {
      conda_unseen_ = packages.error();
    }
  }
}

/// "" where the file is missing. Errors: those of reading it.
Result<std::string> PackageOrigins::installer(const std::string& path) const {
  const auto text = survey_.host().read_file(path + "/INSTALLER", 4096);
  if (!text && text.error().code != Errc::absent) {
    return text.error();
  }
  return text ? std::string(trim(*text)) : std::string();
}

PackageOrigin PackageOrigins::of(const Distribution& distribution) const {
  const SiteFolder& folder = python_.folders[distribution.folder];
  const std::string path = path_in(folder.path, distribution.entry);
  PackageOrigin found;
  const auto say = [&](std::string origin, const std::string& from, std::string basis = "read") {
    found.origin = Value::scalar(std::move(origin));
    found.evidence.from = survey_.tilde(from);
    found.evidence.basis = std::move(basis);
    return found;
  };
  const auto leave_open = [&](const Error& error) {
    found.origin = Unknown::from(error);
    found.evidence.from = survey_.tilde(path);
    return found;
  };
  if (conda_unseen_) {
    return leave_open(*conda_unseen_);
  }
  // conda's own builds carry a direct_url.json that names a folder of the build machine.
  const bool recorded = std::ranges::any_of(conda_, [&](const CondaName& package) {
    return package.name == distribution.name && package.version == distribution.version;
  });
  if (recorded) {
    const auto by = distribution.egg ? Result<std::string>(std::string()) : installer(path);
    if (!by) {
      return leave_open(by.error());
    }
    if (by->empty() || *by == "conda") {
      return say("conda", path_in(python_.prefix, "conda-meta"));
    }
  }
  if (distribution.egg) {
    if (folder.distribution) {
      return say("system", folder.path, "derived");
    }
    if (folder.origin == SiteFolder::Origin::pth) {
      return say("editable", folder.from);
    }
    found.origin = Unknown{Why::not_stated, "an egg-info does not say", ""};
    found.evidence.from = survey_.tilde(path);
    return found;
  }
  const std::string file = path + "/direct_url.json";
  const auto text = survey_.host().read_file(file);
  if (text) {
    const auto url = parse_direct_url(*text);
    if (!url) {
      found.origin = Unknown{Why::unreadable, "its direct_url.json is malformed", ""};
      found.evidence.from = survey_.tilde(file);
      return found;
    }
    found.sha256 = url->sha256;
    return say(url->editable       ? "editable"
               : !url->vcs.empty() ? url->vcs + " " + url->commit
               : url->archive      ? "archive"
                                   : "folder",
               file);
  }
  if (text.error().code != Errc::absent) {
    found.origin = Unknown::from(text.error());
    found.evidence.from = survey_.tilde(file);
    return found;
  }
  if (folder.distribution) {
    const auto by = installer(path);
    if (!by) {
      return leave_open(by.error());
    }
    if (*by != "pip") {
      return say("system", folder.path, "derived");
    }
  }
  return say("index", path, "derived");
}

}  // namespace goldenv::probe
