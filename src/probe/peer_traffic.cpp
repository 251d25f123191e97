// Settings that lie in the way of traffic between PCI devices, and the profile that may have set
// them.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/kernel_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kGroups = "/sys/kernel/iommu_groups";

/// How one group's devices reach memory: "DMA" and "DMA-FQ" are translated, "identity" is not.
/// Source: the kernel's testing/sysfs-kernel-iommu_groups.
std::string_view mode_of(std::string_view type) {
  if (type == "identity") {
    return "passthrough";
  }
  return type.starts_with("DMA") ? "translated" : "";
}

/// What the kernel was told, where its groups have no type (before 5.1) or none that says it.
Reading by_cmdline(const host::Host& host) {
  const Result<std::string> text = host.read_file("/proc/cmdline", 64u << 10);
  if (text) {
    const std::vector<std::string> parameters = split_cmdline(*text);
    for (const std::string_view parameter : {"iommu=pt", "iommu.passthrough=1"}) {
      if (std::ranges::find(parameters, parameter) != parameters.end()) {
        return Value::scalar("passthrough");
      }
    }
  }
  return Unknown{Why::not_stated, "the groups do not state their type", ""};
}

struct Mode {
  Reading reading;
  facts::Evidence evidence;
};

/// The mode of the GPUs' groups where there are GPUs, since theirs decides; else of all groups.
Mode find_mode(Survey& survey, const std::vector<host::DirEntry>& groups) {
  const host::Host& host = survey.host();
  std::vector<std::string> paths;
  for (const Gpu& gpu : gpu_list(survey).gpus) {
    if (!gpu.folder.empty()) {
      paths.push_back(gpu.folder + "/iommu_group/type");
    }
  }
  const bool by_gpu = !paths.empty();
  if (!by_gpu) {
    for (const host::DirEntry& group : groups) {
      paths.push_back(std::string(kGroups) + "/" + group.name + "/type");
    }
  }
  std::map<std::string, int> counts;
  Mode mode{Absent{}, seen(by_gpu ? "/sys/bus/pci/devices/*/iommu_group/type"
                                  : std::string(kGroups) + "/*/type")};
  for (const std::string& path : paths) {
    const Result<std::string> type = host.read_file(path, 64);
    if (type) {
      ++counts[std::string(trim(*type))];
    } else if (type.error().code != Errc::absent) {
      mode.reading = Unknown::from(type.error());
      return mode;
    }
  }
  std::set<std::string_view> modes;
  for (const auto& [type, count] : counts) {
    mode.evidence.notes.push_back(type + " x " + std::to_string(count));
    if (const std::string_view name = mode_of(type); !name.empty()) {
      modes.insert(name);
    }
  }
  if (modes.empty()) {
    mode.reading = by_cmdline(host);
  } else if (modes.size() == 1) {
    mode.reading = Value::scalar(std::string(*modes.begin()));
  } else if (by_gpu) {
    mode.reading = Unknown{Why::ambiguous, "the GPUs' groups differ", ""};
  } else {
    // Some devices are always mapped one to one; the others tell what the kernel does by default.
    mode.reading = Value::scalar("translated");
  }
  return mode;
}

void add_iommu(Survey& survey) {
  if (!survey.wants("iommu.mode") && !survey.wants("iommu.groups")) {
    return;
  }
  const auto groups = survey.host().list(kGroups);
  if (!groups && groups.error().code != Errc::absent) {
    survey.add("iommu.groups", Unknown::from(groups.error()), seen(kGroups));
    survey.add("iommu.mode", Unknown::from(groups.error()), seen(kGroups));
    return;
  }
  // A kernel without IOMMU support has not even the folder.
  const std::size_t count = groups ? groups->size() : 0;
  survey.add("iommu.groups", Value::number(count), seen(kGroups));
  if (!survey.wants("iommu.mode")) {
    return;
  }
  if (count == 0) {
    survey.add("iommu.mode", Value::scalar("off"), seen(kGroups));
    return;
  }
  Mode mode = find_mode(survey, *groups);
  survey.add("iommu.mode", std::move(mode.reading), std::move(mode.evidence));
}

void run(Survey& survey) {
  add_iommu(survey);
  if (survey.wants("pcie.aspm.policy")) {
    constexpr std::string_view kPolicy = "/sys/module/pcie_aspm/parameters/policy";
    survey.add("pcie.aspm.policy", bracketed(survey.host(), kPolicy), seen(kPolicy));
  }
  if (survey.wants("tuned.profile")) {
    constexpr std::string_view kProfile = "/etc/tuned/active_profile";
    Reading reading = one_line(survey.host(), kProfile);
    if (const auto* value = std::get_if<Value>(&reading); value != nullptr && value->text.empty()) {
      reading = Absent{"no profile is active"};
    }
    survey.add("tuned.profile", std::move(reading), seen(kProfile));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>(
    {"iommu.mode", "iommu.groups", "pcie.aspm.policy", "tuned.profile"});

}  // namespace

extern const Probe peer_traffic{.name = "peer_traffic", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
