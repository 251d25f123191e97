// Versions of what runs jobs and containers on a host: systemd, Slurm, container engines.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/package_version.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/unit_state.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

using Names = std::span<const std::string_view>;

struct Tool {
  std::string_view key;
  Names packages;  ///< of dpkg and rpm, those that win first
  Names programs;
};

constexpr auto kDocker = std::to_array<std::string_view>({"docker-ce", "docker.io", "moby-engine"});
constexpr auto kDockerd = std::to_array<std::string_view>({"dockerd"});
constexpr auto kPodman = std::to_array<std::string_view>({"podman"});
constexpr auto kContainerd = std::to_array<std::string_view>({"containerd.io", "containerd"});
constexpr auto kContainerdProgram = std::to_array<std::string_view>({"containerd"});
constexpr auto kApptainer = std::to_array<std::string_view>({"apptainer"});
constexpr auto kEnroot = std::to_array<std::string_view>({"enroot", "enroot-hardened"});
constexpr auto kEnrootProgram = std::to_array<std::string_view>({"enroot"});
constexpr auto kRunc = std::to_array<std::string_view>({"runc", "crun"});
constexpr auto kToolkit = std::to_array<std::string_view>(
    {"nvidia-container-toolkit", "nvidia-container-toolkit-base", "nvidia-container-runtime"});
constexpr auto kToolkitPrograms = std::to_array<std::string_view>(
    {"nvidia-ctk", "nvidia-container-runtime", "nvidia-container-toolkit"});

constexpr auto kTools = std::to_array<Tool>({
    {"container.engine.apptainer", kApptainer, kApptainer},
    {"container.engine.containerd", kContainerd, kContainerdProgram},
    {"container.engine.docker", kDocker, kDockerd},
    {"container.engine.enroot", kEnroot, kEnrootProgram},
    {"container.engine.podman", kPodman, kPodman},
    {"container.runc", kRunc, kRunc},
    {"container.toolkit", kToolkit, kToolkitPrograms},
});

struct Found {
  Reading reading;
  facts::Evidence evidence;
};

/// The first of some programs that is there. Errors: of the look at a folder.
Result<std::string> program_at(const host::Host& host, Names programs, Names folders) {
  std::optional<Error> unseen;
  for (const std::string_view folder : folders) {
    for (const std::string_view program : programs) {
      std::string path = std::string(folder) + "/" + std::string(program);
      const auto status = host.status(path);
      if (status) {
        return path;
      }
      if (status.error().code != Errc::absent && !unseen) {
        unseen = status.error();
      }
    }
  }
  return unseen ? *unseen : Error{Errc::absent, "no such program", {}};
}

constexpr auto kProgramFolders =
    std::to_array<std::string_view>({"/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"});

/// By its package; a program that is of none says its version only when it is run.
Found version_of(Survey& survey, Names packages, Names programs) {
  const auto package = package_version(survey, packages);
  if (!package) {
    return {Unknown::from(package.error()), {}};
  }
  if (*package && !(*package)->version.empty()) {
    return {Value::scalar((*package)->version), (*package)->evidence};
  }
  const Result<std::string> program = program_at(survey.host(), programs, kProgramFolders);
  if (program) {
    return {Unknown{Why::not_stated, *program + " is of no package that is known here", ""},
            seen(*program)};
  }
  return {program.error().code == Errc::absent ? Reading(Absent{"not installed"})
                                               : Reading(Unknown::from(program.error())),
          seen("/usr/bin")};
}

/// "252" of libsystemd-shared-252.so, "255.10" of libsystemd-shared-255.10-1.fc40.so: the library
/// that all of systemd is built upon.
Found systemd(Survey& survey) {
  constexpr std::string_view kStart = "libsystemd-shared-";
  constexpr auto kFolders = std::to_array<std::string_view>(
      {"/usr/lib/systemd", "/lib/systemd", "/usr/lib64/systemd",
       "/usr/lib/x86_64-linux-gnu/systemd", "/usr/lib/aarch64-linux-gnu/systemd"});
  std::optional<Error> unseen;
  bool is_there = false;
  for (const std::string_view folder : kFolders) {
    const auto entries = survey.host().list(folder);
    if (!entries) {
      if (entries.error().code != Errc::absent) {
        unseen = entries.error();
      }
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      is_there = is_there || entry.name == "systemd";
      if (!entry.name.starts_with(kStart)) {
        continue;
      }
      std::string version = upstream_numbers(std::string_view(entry.name).substr(kStart.size()));
      if (!version.empty()) {
        return {Value::scalar(std::move(version)), seen(std::string(folder) + "/" + entry.name)};
      }
    }
  }
  if (unseen) {
    return {Unknown::from(*unseen), seen(kFolders.front())};
  }
  return {is_there ? Reading(Unknown{Why::not_stated, "its library's name holds no number", ""})
                   : Reading(Absent{"no systemd"}),
          seen(kFolders.front())};
}

/// "22.05.8" of `#define SLURM_VERSION_NUMBER SLURM_VERSION_NUM(22,5,8)`.
std::string slurm_in_header(std::string_view text) {
  constexpr std::string_view kMarker = "SLURM_VERSION_NUMBER SLURM_VERSION_NUM(";
  const std::size_t at = text.find(kMarker);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::string_view rest = text.substr(at + kMarker.size());
  const auto parts = split(rest.substr(0, rest.find(')')), ',');
  std::string version;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = to_number(trim(parts[i]));
    if (!number || *number > 999) {
      return "";
    }
    // A release is named for its month, in two digits.
    version += (i == 0 ? "" : ".") + std::string(i == 1 && *number < 10 ? "0" : "") +
               std::to_string(*number);
  }
  return parts.size() == 3 ? version : "";
}

Found slurm(Survey& survey) {
  constexpr auto kPackages =
      std::to_array<std::string_view>({"slurm-smd-slurmd", "slurmd", "slurm-slurmd", "slurm-node"});
  constexpr auto kPrograms = std::to_array<std::string_view>({"slurmd"});
  constexpr auto kFolders = std::to_array<std::string_view>(
      {"/usr/sbin", "/usr/local/sbin", "/opt/slurm/sbin", "/usr/local/slurm/sbin"});
  const auto package = package_version(survey, kPackages);
  if (package && *package && !(*package)->version.empty()) {
    return {Value::scalar((*package)->version), (*package)->evidence};
  }
  const Result<std::string> program = program_at(survey.host(), kPrograms, kFolders);
  if (!program) {
    if (program.error().code != Errc::absent) {
      return {Unknown::from(program.error()), {}};
    }
    return package ? Found{Absent{"no slurmd"}, seen(kFolders.front())}
                   : Found{Unknown::from(package.error()), {}};
  }
  const std::string prefix = program->substr(0, program->rfind("/sbin/"));
  const std::string header = prefix + "/include/slurm/slurm_version.h";
  const Result<std::string> text = survey.host().read_file(header, 64u << 10);
  std::string version = text ? slurm_in_header(*text) : "";
  if (!version.empty()) {
    return {Value::scalar(std::move(version)), seen(header, "of " + *program)};
  }
  return {Unknown{Why::not_stated, *program + " is of no package that is known here", ""},
          seen(*program)};
}

/// The last value of a key in docker's or containerd's settings; "" where nothing sets it.
std::string word_after(std::string_view text, std::string_view key) {
  std::string word;
  for (std::size_t at = text.find(key); at != std::string_view::npos;
       at = text.find(key, at + key.size())) {
    std::string_view rest = text.substr(at + key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t=\"'"), rest.size()));
    word = rest.substr(0, rest.find_first_of(" \t\r\n\"',]#"));
  }
  return word;
}

/// Lines that are no comments.
std::string without_comments(std::string_view text) {
  std::string kept;
  for (const std::string_view line : lines(text)) {
    if (!trim(line).starts_with('#')) {
      kept += line;
      kept += '\n';
    }
  }
  return kept;
}

/// Whether it is not known if a program is there. One that states no version is.
bool is_hidden(const Reading& reading) {
  const auto* unknown = std::get_if<Unknown>(&reading);
  return unknown != nullptr && unknown->why != Why::not_stated && unknown->why != Why::ambiguous;
}

/// Docker's, else containerd's (for Kubernetes). Source: dockerd(8) "native.cgroupdriver",
/// containerd's CRI plugin, `SystemdCgroup`.
Found cgroup_driver(Survey& survey) {
  const host::Host& host = survey.host();
  Found docker = version_of(survey, kDocker, kDockerd);
  if (is_hidden(docker.reading)) {
    return docker;
  }
  if (!std::holds_alternative<Absent>(docker.reading)) {
    constexpr std::string_view kFile = "/etc/docker/daemon.json";
    const Result<std::string> text = host.read_file(kFile, 1u << 20);
    if (!text && text.error().code != Errc::absent) {
      return {Unknown::from(text.error()), seen(kFile)};
    }
    const std::string set = text ? word_after(*text, "native.cgroupdriver") : "";
    if (!set.empty()) {
      return {Value::scalar(set), seen(kFile)};
    }
    if (const auto known = mounts_known(host); !known) {
      return {Unknown::from(known.error()), seen(kFile)};
    }
    const auto& mounts = host.mounts();
    if (mounts.empty()) {
      return {
          Unknown{Why::not_stated, "docker's settings leave it to the host's control groups", ""},
          seen(kFile)};
    }
    const bool is_v2 = std::ranges::any_of(mounts, [](const host::Mount& mount) {
      return mount.point == "/sys/fs/cgroup" && mount.type == "cgroup2";
    });
    facts::Evidence evidence = seen(kFile, "docker's default");
    evidence.basis = "default";
    return {Value::scalar(is_v2 ? "systemd" : "cgroupfs"), std::move(evidence)};
  }
  Found containerd = version_of(survey, kContainerd, kContainerdProgram);
  if (is_hidden(containerd.reading)) {
    return containerd;
  }
  if (std::holds_alternative<Absent>(containerd.reading)) {
    return {Absent{"neither docker nor containerd"}, seen("/usr/bin")};
  }
  constexpr std::string_view kFile = "/etc/containerd/config.toml";
  const Result<std::string> text = host.read_file(kFile, 1u << 20);
  if (!text && text.error().code != Errc::absent) {
    return {Unknown::from(text.error()), seen(kFile)};
  }
  const std::string set = text ? word_after(without_comments(*text), "SystemdCgroup") : "";
  facts::Evidence evidence = seen(kFile);
  if (set.empty()) {
    evidence.basis = "default";
  }
  return {Value::scalar(set == "true" ? "systemd" : "cgroupfs"), std::move(evidence)};
}

void run(Survey& survey) {
  const auto add = [&](std::string_view key, Found (*ask)(Survey&)) {
    if (survey.wants(key)) {
      Found found = ask(survey);
      survey.add(key, std::move(found.reading), std::move(found.evidence));
    }
  };
  add("systemd", systemd);
  add("slurm", slurm);
  add("container.cgroup_driver", cgroup_driver);
  for (const Tool& tool : kTools) {
    if (survey.wants(tool.key)) {
      Found found = version_of(survey, tool.packages, tool.programs);
      survey.add(tool.key, std::move(found.reading), std::move(found.evidence));
    }
  }
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"systemd", "slurm", "container.engine.*", "container.runc",
                                     "container.toolkit", "container.cgroup_driver"});

}  // namespace

extern const Probe host_tools{.name = "host_tools", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
