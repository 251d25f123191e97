// Kernel settings as the next boot will make them.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/boot_sysctls.h"
#include "probe/probe.h"
#include "probe/sysctl_path.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kFamily = "next_boot.sysctl";
constexpr std::string_view kRoot = "/proc/sys";

/// First parts of all names that kernels have, and the second ones below net, where globs over the
/// interfaces are common: families that can be told whole one by one.
constexpr auto kBranches = std::to_array<std::string_view>(
    {"abi", "crypto", "debug", "dev", "fs", "kernel", "net.bridge", "net.core", "net.mptcp",
     "net.netfilter", "net.unix", "sunrpc", "user", "vm"});

/// Watched by the sysctl probe, and in no branch of the above: told even where nothing sets them.
constexpr auto kBeside =
    std::to_array<std::string_view>({"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"});

/// Names that are there and that a glob covers, as sysctl names.
void expand(const host::Host& host, const std::vector<std::string_view>& parts, std::size_t at,
            const std::string& path, std::set<std::string>& names) {
  constexpr std::size_t kNamesLimit = 100'000;
  if (names.size() >= kNamesLimit) {
    return;
  }
  if (at == parts.size()) {
    names.insert(sysctl_name(path));
    return;
  }
  const std::string folder = std::string(kRoot) + (path.empty() ? "" : "/") + path;
  const auto entries = host.list(folder);
  if (!entries) {
    return;
  }
  for (const host::DirEntry& entry : *entries) {
    const bool is_folder = entry.kind == host::FileStatus::Kind::folder;
    if (is_folder == (at + 1 < parts.size()) && path_glob_matches(parts[at], entry.name)) {
      expand(host, parts, at + 1, path.empty() ? entry.name : path + "/" + entry.name, names);
    }
  }
}

/// Whether a glob may set something in a branch such as net.core.
bool reaches(const SysctlSetting& glob, std::string_view branch) {
  const auto pattern = split(glob.path, '/');
  const auto parts = split(branch, '.');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i >= pattern.size() || !path_glob_matches(pattern[i], parts[i])) {
      return false;
    }
  }
  return true;
}

/// Branches in which every name that something sets was added.
void list_branches(Survey& survey, const SysctlSettings& settings) {
  for (const std::string_view branch : kBranches) {
    const bool is_open = std::ranges::any_of(settings.settings, [&](const SysctlSetting& setting) {
      return setting.is_glob() && setting.value && reaches(setting, branch);
    });
    if (!is_open) {
      survey.listed(std::string(kFamily) + "." + std::string(branch));
    }
  }
}

/// The names that the settings spell out; with `whole` those that their globs reach, too: each
/// interface has its own, and they would set equal machines apart.
std::set<std::string> names_of(const host::Host& host, const SysctlSettings& settings, bool whole) {
  std::set<std::string> names;
  for (const SysctlSetting& setting : settings.settings) {
    if (!setting.value) {
      continue;
    }
    if (!setting.is_glob()) {
      names.insert(sysctl_name(setting.path));
    } else if (whole) {
      const std::string_view path = setting.path;
      expand(host, split(path, '/'), 0, "", names);
    }
  }
  return names;
}

void run(Survey& survey) {
  if (!survey.wants_below(kFamily)) {
    return;
  }
  const BootSysctls& all = boot_sysctls(survey);
  const SysctlSettings& settings = all.with_run;
  const auto named = survey.named_below(kFamily);
  std::set<std::string> names(named.begin(), named.end());
  const bool known = settings.by != SysctlSettings::By::nobody || settings.masked;
  if (known && (!survey.request().only_named || survey.wants(kFamily))) {
    names.merge(names_of(survey.host(), settings, survey.request().all));
    if (all.without_run) {
      names.merge(names_of(survey.host(), *all.without_run, survey.request().all));
    }
    names.insert(kBeside.begin(), kBeside.end());
    std::erase_if(names, [](const std::string& name) {
      // No key can hold every name that a file can: kernel.x@y, .hidden, a misspelled one.
      const auto key = facts::resolve(std::string(kFamily) + "." + name);
      return !key || !key->label.empty();
    });
    if (settings.holes.empty()) {
      list_branches(survey, settings);
    }
  }
  for (const std::string& name : names) {
    NextSysctl next = next_sysctl(all, name);
    if (std::holds_alternative<facts::Value>(next.reading)) {
      const auto there = survey.host().status(std::string(kRoot) + "/" + sysctl_path(name));
      if (!there && there.error().code == Errc::absent) {
        next.evidence.notes.emplace_back("the running kernel has no such name");
      }
    }
    survey.add(std::string(kFamily) + "." + name, std::move(next.reading),
               std::move(next.evidence));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"next_boot.sysctl.**"});

}  // namespace

extern const Probe next_boot_sysctl{.name = "next_boot_sysctl", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
