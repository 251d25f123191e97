// How the NVIDIA driver came to this machine, and the versions of the two programs of it whose
// files state none: they are those of the packages that hold them.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/instances.h"
#include "probe/library_owner.h"
#include "probe/package_version.h"
#include "probe/path_text.h"
#include "probe/platform.h"
#include "probe/probe.h"
#include "probe/rpm_packages.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

struct Package {
  std::string name;
  std::string version;  ///< upstream part
};

/// The machine's packages that concern the driver.
struct Packages {
  std::vector<Package> found;
  std::string from;
  std::optional<Error> unseen;
};

/// Beginnings of the names that hold parts of the driver. Sources: the package lists of Ubuntu
/// (nvidia-graphics-drivers-535), Debian (nvidia-graphics-drivers) and NVIDIA's own repositories.
constexpr std::array<std::string_view, 16> kDriverPackages = {
    "cuda-drivers",     "kmod-nvidia",           "libcuda1",        "libnvidia-compute-",
    "libnvidia-ml1",    "linux-modules-nvidia-", "nvidia-driver",   "nvidia-fabric",
    "nvidia-headless-", "nvidia-kernel-",        "nvidia-l4t-core", "xorg-x11-drv-nvidia",
    "akmod-nvidia",     "nvidia-open",           "nvidia-smi",      "nvidia-utils-"};

bool begins_with_any(std::string_view name, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view start) { return name.starts_with(start); });
}

Packages find_packages(Survey& survey) {
  Packages packages;
  packages.from = "/var/lib/dpkg/status";
  const auto& debian = debian_packages(survey);
  if (debian) {
    for (const auto& [name, version] : *debian) {
      if (begins_with_any(name, kDriverPackages)) {
        packages.found.push_back({name, debian_parts(version).first});
      }
    }
  } else {
    packages.unseen = debian.error();
  }
  const Result<RpmPackages>& rpm = rpm_packages(survey);
  if (!rpm) {
    if (rpm.error().code != Errc::absent) {
      packages.unseen = rpm.error();
    }
    return packages;
  }
  if (packages.found.empty()) {
    packages.from = rpm->path;
  }
  for (const RpmPackage& package : rpm->packages) {
    if (begins_with_any(package.name, kDriverPackages)) {
      packages.found.push_back({package.name, upstream_numbers(package.version)});
    }
  }
  return packages;
}

const Packages& packages_of(Survey& survey) {
  return survey.shared<Packages>([&survey] { return find_packages(survey); });
}

/// A program of the driver's, known by its file and the packages that hold it.
struct Program {
  std::string_view key;
  std::string_view name;
  std::span<const std::string_view> packages;
};

constexpr std::array<std::string_view, 2> kFolders = {"/usr/bin/", "/usr/lib/wsl/lib/"};

void add_program(Survey& survey, const Program& program) {
  if (!survey.wants(program.key)) {
    return;
  }
  std::optional<std::string> file;
  std::optional<Error> unseen;
  for (const std::string_view folder : kFolders) {
    const std::string path = std::string(folder) + std::string(program.name);
    const Result<host::FileStatus> status = survey.host().status(path);
    if (status) {
      file = path;
      break;
    }
    if (status.error().code != Errc::absent) {
      unseen = status.error();
    }
  }
  facts::Evidence evidence =
      seen(file ? *file : std::string(kFolders[0]) + std::string(program.name));
  if (!file) {
    survey.add(program.key,
               unseen ? Reading(Unknown::from(*unseen))
                      : Reading(Absent{"no " + std::string(program.name)}),
               std::move(evidence));
    return;
  }
  // Lists of packages are long: only where the program is there.
  const Packages& packages = packages_of(survey);
  std::vector<std::string> versions;
  for (const Package& package : packages.found) {
    if (begins_with_any(package.name, program.packages)) {
      evidence.notes.push_back(package.name + " " + package.version + " in " + packages.from);
      versions.push_back(package.version);
    }
  }
  std::ranges::sort(versions);
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  Reading reading = Unknown{Why::not_stated, "the file states no version, and no package does", ""};
  if (packages.unseen && packages.unseen->code != Errc::absent) {
    reading = Unknown::from(*packages.unseen);
  } else if (versions.size() == 1) {
    reading = Value::scalar(versions.front());
    evidence.basis = "package";
  } else if (versions.size() > 1) {
    reading = Unknown{Why::ambiguous, "packages of several versions hold it", ""};
  }
  survey.add(program.key, std::move(reading), std::move(evidence));
}

/// The first of these paths that is there.
std::string first_there(const host::Host& host, std::span<const std::string_view> paths,
                        std::optional<Error>& unseen) {
  for (const std::string_view path : paths) {
    const Result<host::FileStatus> status = host.status(path);
    if (status) {
      return std::string(path);
    }
    if (status.error().code != Errc::absent) {
      unseen = status.error();
    }
  }
  return "";
}

/// A file of the driver's that is mounted by itself: a container runtime lends it.
std::string lent_file(const host::Host& host, std::optional<Error>& unseen) {
  if (host.mounts().empty()) {
    const Result<host::FileStatus> table = host.status("/proc/self/mountinfo");
    if (!table && table.error().code == Errc::denied) {
      unseen = table.error();
    }
  }
  for (const host::Mount& mount : host.mounts()) {
    const std::string_view name = base_name(mount.point);
    if (name.starts_with("libcuda.so.") || name.starts_with("libnvidia-ml.so.")) {
      return mount.point;
    }
  }
  return "";
}

/// Folder of DKMS's tree that is of the driver.
std::string dkms_folder(const host::Host& host, std::optional<Error>& unseen) {
  constexpr std::string_view kTree = "/var/lib/dkms";
  const auto entries = host.list(kTree);
  if (!entries) {
    if (entries.error().code != Errc::absent) {
      unseen = entries.error();
    }
    return "";
  }
  for (const host::DirEntry& entry : *entries) {
    if (entry.name.starts_with("nvidia") && !entry.name.starts_with("nvidia-fs") &&
        !entry.name.starts_with("nvidia-peer")) {
      return std::string(kTree) + "/" + entry.name;
    }
  }
  return "";
}

void add_origin(Survey& survey) {
  // nvidia-installer puts both there, and no package does.
  constexpr std::array<std::string_view, 2> kInstaller = {"/usr/bin/nvidia-uninstall",
                                                          "/usr/bin/nvidia-installer"};
  // NVIDIA's operator keeps the driver of its container there.
  constexpr std::array<std::string_view, 1> kImage = {"/run/nvidia/driver/usr"};
  constexpr std::array<std::string_view, 3> kDriver = {"/proc/driver/nvidia/version",
                                                       "/sys/module/nvidia", "/dev/nvidiactl"};
  const host::Host& host = survey.host();
  std::optional<Error> unseen;
  const auto add = [&](Reading reading, std::string_view from,
                       std::vector<std::string> notes = {}) {
    facts::Evidence evidence = seen(from);
    evidence.notes = std::move(notes);
    survey.add("driver.origin", std::move(reading), std::move(evidence));
  };
  const Platform& platform = platform_of(survey);
  if (platform.kind == Platform::Kind::wsl2) {
    add(Value::scalar("other"), "/usr/lib/wsl/lib", {"the Windows driver's own"});
    return;
  }
  const Packages& packages = packages_of(survey);
  if (packages.unseen && packages.unseen->code != Errc::absent) {
    unseen = packages.unseen;
  }
  const std::string lent = lent_file(host, unseen);
  const std::string installer = first_there(host, kInstaller, unseen);
  const std::string image = first_there(host, kImage, unseen);
  const std::string dkms = dkms_folder(host, unseen);
  const std::string driver = first_there(host, kDriver, unseen);
  std::vector<std::string> names;
  for (const Package& package : packages.found) {
    if (package.name.find("fabric") == std::string::npos) {  // which comes beside any driver
      names.push_back(package.name + " " + package.version);
    }
  }
  if (unseen) {  // the sign that could not be looked for may be the one that counts
    add(Unknown::from(*unseen), driver.empty() ? packages.from : driver);
  } else if (!lent.empty()) {
    add(Value::scalar("container"), lent, {"mounted by itself"});
  } else if (!installer.empty() && !names.empty()) {
    names.insert(names.begin(), installer);
    add(Unknown{Why::ambiguous, "both the installer and packages left their signs", ""}, installer,
        std::move(names));
  } else if (!installer.empty()) {
    add(Value::scalar("runfile"), installer);
  } else if (!names.empty()) {
    add(Value::scalar("package"), packages.from, std::move(names));
  } else if (!image.empty()) {
    add(Value::scalar("image"), image);
  } else if (!dkms.empty()) {
    add(Value::scalar("dkms"), dkms);
  } else if (driver.empty()) {
    add(Absent{"no driver"}, kDriver[0]);
  } else {
    add(Unknown{Why::not_stated, "neither package, installer, image nor DKMS left a sign", ""},
        driver);
  }
}

void run(Survey& survey) {
  constexpr std::array<std::string_view, 2> kFabric = {"nvidia-fabricmanager",
                                                       "nvidia-fabric-manager"};
  // Ubuntu's, Debian's, and those of NVIDIA's own repositories for Red Hat's systems.
  constexpr std::array<std::string_view, 3> kSmi = {"nvidia-utils-", "nvidia-smi",
                                                    "nvidia-driver-cuda"};
  add_program(survey, {"driver.fabricmanager", "nv-fabricmanager", kFabric});
  add_program(survey, {"driver.smi", "nvidia-smi", kSmi});
  if (survey.wants("driver.origin")) {
    add_origin(survey);
  }
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"driver.fabricmanager", "driver.origin", "driver.smi"});

}  // namespace

extern const Probe driver_packages{.name = "driver_packages", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
