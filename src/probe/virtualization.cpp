// Whether this system is a guest: of a hypervisor, of a container engine. No single sign is
// trusted.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// Points that a sign is worth. A container is one from kEnough on: /.dockerenv and a first process
/// other than init are found on virtual machines made from container images as well.
constexpr int kEnough = 3;

struct Signs {
  int score = 0;
  std::vector<std::string> notes;
  std::vector<Error> unseen;         ///< why some signs could not be looked for
  std::vector<std::string> engines;  ///< named by a sign, the most telling one first

  void add(int worth, std::string note, std::string_view engine = {}) {
    score += worth;
    notes.push_back(std::move(note));
    if (!engine.empty()) {
      engines.emplace_back(engine);
    }
  }
  void miss(const Error& error) {
    if (leaves_open(error)) {
      unseen.push_back(error);
    }
  }
  [[nodiscard]] bool there(const host::Host& host, std::string_view path) {
    const auto found = is_there(host, path);
    if (!found) {
      miss(found.error());
    }
    return found.value_or(false);
  }
  [[nodiscard]] std::optional<std::string> text(const host::Host& host, std::string_view path,
                                                std::size_t limit_bytes) {
    auto found = host.read_file(path, limit_bytes);
    if (!found) {
      miss(found.error());
      return std::nullopt;
    }
    return *std::move(found);
  }
};

/// The engine that a text such as /run/systemd/container or $container names.
std::string_view engine_named(std::string_view text) {
  struct Name {
    std::string_view text;
    std::string_view engine;
  };
  constexpr auto kNames = std::to_array<Name>({
      {"systemd-nspawn", "nspawn"},
      {"docker", "docker"},
      {"podman", "podman"},
      {"oci", "other"},
      {"lxc", "lxc"},
      {"kube", "kubernetes"},
      {"containerd", "containerd"},
  });
  const auto found = std::ranges::find_if(
      kNames, [&](const Name& name) { return text.find(name.text) != std::string_view::npos; });
  return found == kNames.end() ? "other" : found->engine;
}

bool is_set(const host::Host& host, std::string_view name) { return bool(host.variable(name)); }

/// Signs that also name the engine, the most telling ones first.
void add_naming_signs(const host::Host& host, Signs& signs) {
  if (const auto known = variables_known(host); !known) {
    signs.miss(known.error());
  }
  if (is_set(host, "KUBERNETES_SERVICE_HOST")) {
    signs.add(2, "KUBERNETES_SERVICE_HOST is set", "kubernetes");
  }
  if (is_set(host, "APPTAINER_CONTAINER") || is_set(host, "SINGULARITY_CONTAINER")) {
    signs.add(3, "APPTAINER_CONTAINER or SINGULARITY_CONTAINER is set", "apptainer");
  } else if (signs.there(host, "/.singularity.d")) {
    signs.add(2, "/.singularity.d exists", "apptainer");
  }
  if (const auto text = signs.text(host, "/run/systemd/container", 256)) {
    signs.add(3, "/run/systemd/container: " + std::string(trim(*text)), engine_named(*text));
  }
  if (const auto text = host.variable("container"); text && !text->empty()) {
    signs.add(2, "the variable container: " + *text, engine_named(*text));
  }
  if (signs.there(host, "/run/.containerenv")) {
    signs.add(2, "/run/.containerenv exists", "podman");
  }
  if (signs.there(host, "/.dockerenv")) {
    signs.add(1, "/.dockerenv exists", "docker");
  }
}

/// Paths of the first process's control groups: /docker/<id>, /kubepods/..., /lxc/<name>.
void add_cgroup_signs(const host::Host& host, Signs& signs) {
  const auto text = signs.text(host, "/proc/1/cgroup", 64u << 10);
  if (!text) {
    return;
  }
  struct Mark {
    std::string_view text;
    std::string_view engine;
  };
  for (const Mark& mark :
       {Mark{"kubepods", "kubernetes"}, Mark{"/docker", "docker"}, Mark{"libpod", "podman"},
        Mark{"containerd", "containerd"}, Mark{"/lxc", "lxc"}}) {
    // containerd.service is the engine's own group, on a host.
    if (text->find(mark.text) != std::string::npos &&
        !(mark.engine == "containerd" && text->find("containerd.service") != std::string::npos)) {
      signs.add(2, "/proc/1/cgroup names " + std::string(mark.text), mark.engine);
      return;
    }
  }
}

void add_mount_signs(const host::Host& host, Signs& signs) {
  const auto& mounts = host.mounts();
  if (const auto known = mounts_known(host); !known) {
    signs.miss(known.error());
  }
  const host::Mount* root = host::mount_of(mounts, "/");
  if (root != nullptr && (root->type == "overlay" || root->type == "fuse-overlayfs" ||
                          root->type == "fuse.fuse-overlayfs")) {
    std::string_view engine;
    for (const std::string& option : root->options) {
      if (option.find("/docker/") != std::string::npos) {
        engine = "docker";
      } else if (option.find("/containerd/") != std::string::npos ||
                 option.find("io.containerd") != std::string::npos) {
        engine = "containerd";
      } else if (option.find("/containers/storage") != std::string::npos) {
        engine = "podman";
      }
    }
    signs.add(1, "the root file system is an overlay", engine);
  }
  // Engines mount these three over the image's own, one by one.
  const auto mounted = std::ranges::count_if(mounts, [](const host::Mount& mount) {
    return mount.point == "/etc/hostname" || mount.point == "/etc/hosts" ||
           mount.point == "/etc/resolv.conf";
  });
  if (mounted >= 2) {
    signs.add(2, "/etc/hostname, /etc/hosts or /etc/resolv.conf are mounts of their own");
  }
}

/// The engine when there are several names: what runs on top, not what it uses.
std::string_view engine_of(const Signs& signs) {
  if (signs.engines.empty()) {
    return "other";
  }
  for (const std::string_view top : {"kubernetes", "apptainer"}) {
    if (std::ranges::find(signs.engines, top) != signs.engines.end()) {
      return top;
    }
  }
  return signs.engines.front();
}

void add_container(Survey& survey) {
  if (!survey.wants("host.container")) {
    return;
  }
  const host::Host& host = survey.host();
  Signs signs;
  add_naming_signs(host, signs);
  add_cgroup_signs(host, signs);
  add_mount_signs(host, signs);
  const Result<std::string> first = host.read_file("/proc/1/comm", 256);
  if (first) {
    const std::string_view name = trim(*first);
    if (name != "systemd" && name != "init") {
      signs.add(1, "process 1 is " + std::string(name));
    }
  } else {
    signs.miss(first.error());
  }
  facts::Evidence evidence = seen("signs of containers");
  evidence.notes = signs.notes;
  Reading reading = Value::scalar(signs.score >= kEnough ? std::string(engine_of(signs)) : "none");
  if (!signs.unseen.empty()) {
    // Another sign may make it a container, or name another engine.
    reading = Unknown::from(signs.unseen.front());
  } else if (!first && host.mounts().empty() && signs.score < kEnough) {
    // A tree without processes and mounts cannot answer, unless what is there settles it.
    reading = first.error().code == Errc::absent
                  ? Reading(Unknown{Why::not_stated, "neither processes nor mounts are shown", ""})
                  : Reading(Unknown::from(first.error()));
  }
  survey.add("host.container", std::move(reading), std::move(evidence));
}

/// The monitor that DMI's texts name; "" where they name none.
std::string_view monitor_in_dmi(std::string_view text) {
  struct Mark {
    std::string_view text;
    std::string_view monitor;
  };
  constexpr auto kMarks = std::to_array<Mark>({
      {"KVM", "kvm"},
      {"QEMU", "kvm"},
      {"Google Compute Engine", "kvm"},
      {"OpenStack", "kvm"},
      {"Alibaba Cloud ECS", "kvm"},
      {"DigitalOcean", "kvm"},
      {"VMware", "vmware"},
      {"Virtual Machine", "hyper-v"},
      {"HVM domU", "xen"},
      {"Xen", "xen"},
      {"Amazon EC2", "nitro"},
      {"VirtualBox", "other"},
      {"Parallels", "other"},
      {"Bochs", "other"},
      {"BHYVE", "other"},
  });
  const auto found = std::ranges::find_if(
      kMarks, [&](const Mark& mark) { return text.find(mark.text) != std::string_view::npos; });
  return found == kMarks.end() ? std::string_view{} : found->monitor;
}

/// The monitor whose clock the kernel offers.
std::string_view monitor_by_clock(std::string_view clocks) {
  if (clocks.find("kvm-clock") != std::string_view::npos) {
    return "kvm";
  }
  if (clocks.find("hyperv") != std::string_view::npos) {
    return "hyper-v";
  }
  return clocks.find("xen") != std::string_view::npos ? "xen" : "";
}

void add_hypervisor(Survey& survey) {
  if (!survey.wants("host.hypervisor")) {
    return;
  }
  const host::Host& host = survey.host();
  facts::Evidence evidence = seen("/proc/cpuinfo, /sys/class/dmi/id, /sys/hypervisor");
  Signs signs;  // for what could not be looked at
  const Result<std::string> cpuinfo = host.read_file("/proc/cpuinfo", 16u << 20);
  std::optional<bool> guest;  // what the processor says; Arm's says nothing
  if (cpuinfo) {
    const std::size_t flags = cpuinfo->find("\nflags");
    if (flags != std::string::npos) {
      const std::string_view line =
          std::string_view(*cpuinfo).substr(flags + 1, cpuinfo->find('\n', flags + 1) - flags - 1);
      const auto all = words(line);
      guest = std::ranges::find(all, "hypervisor") != all.end();
      evidence.notes.push_back(*guest ? "the processor's flags name a hypervisor"
                                      : "the processor's flags name no hypervisor");
    }
  }
  std::string_view monitor;
  std::string dmi;
  bool dmi_seen = false;
  Signs of_dmi;
  for (const std::string_view file : {"sys_vendor", "product_name", "bios_vendor"}) {
    if (const auto text = of_dmi.text(host, "/sys/class/dmi/id/" + std::string(file), 256)) {
      dmi_seen = true;
      dmi += std::string(trim(*text)) + "\n";
    }
  }
  // Bare machines of Amazon's have its name in DMI as well, but no hypervisor flag.
  if (guest.value_or(true)) {
    signs.unseen = of_dmi.unseen;
    if (!cpuinfo) {
      signs.miss(cpuinfo.error());
    }
    monitor = monitor_in_dmi(dmi);
    if (!monitor.empty()) {
      evidence.notes.push_back("DMI names it");
    }
    if (monitor.empty() || monitor == "other") {
      if (const auto type = signs.text(host, "/sys/hypervisor/type", 64);
          type && trim(*type) == "xen") {
        monitor = "xen";
        evidence.notes.emplace_back("/sys/hypervisor/type: xen");
      }
    }
    if (monitor.empty()) {
      const auto clocks = signs.text(
          host, "/sys/devices/system/clocksource/clocksource0/available_clocksource", 4096);
      monitor = monitor_by_clock(clocks.value_or(""));
      if (!monitor.empty()) {
        evidence.notes.emplace_back("the kernel offers that monitor's clock");
      }
    }
  }
  Reading reading = Value::scalar(std::string(monitor));
  if (!signs.unseen.empty()) {
    reading = Unknown::from(signs.unseen.front());
  } else if (monitor.empty()) {
    if (guest.has_value()) {
      reading = Value::scalar(*guest ? "other" : "none");
    } else if (dmi_seen) {
      reading = Value::scalar("none");
    } else {
      reading = cpuinfo || cpuinfo.error().code == Errc::absent
                    ? Reading(Unknown{Why::not_stated, "neither processor nor DMI tells", ""})
                    : Reading(Unknown::from(cpuinfo.error()));
    }
  }
  survey.add("host.hypervisor", std::move(reading), std::move(evidence));
}

void run(Survey& survey) {
  add_container(survey);
  add_hypervisor(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({"host.container", "host.hypervisor"});

}  // namespace

extern const Probe virtualization{.name = "virtualization", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
