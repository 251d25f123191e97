// What firmware and drivers set on the PCIe links of GPUs and RDMA adapters, and on the bridges
// above them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/pci_config.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kDevices = "/sys/bus/pci/devices/";
constexpr std::string_view kAdapters = "/sys/class/infiniband";

/// Configuration spaces by address, each read once.
class Spaces {
 public:
  explicit Spaces(const host::Host& host) : host_(host) {}

  const Result<PciConfig>& of(const std::string& address) {
    const auto found = spaces_.find(address);
    if (found != spaces_.end()) {
      return found->second;
    }
    return spaces_.emplace(address, read_pci_config(host_, std::string(kDevices) + address))
        .first->second;
  }

 private:
  const host::Host& host_;
  std::map<std::string, Result<PciConfig>> spaces_;
};

/// Why a register is not known; none where the space was read.
std::optional<Reading> unread_space(const Result<PciConfig>& config) {
  if (!config && config.error().code == Errc::absent) {
    return Unknown{Why::not_stated, "the kernel shows no configuration space of it", ""};
  }
  if (!config) {
    Unknown unknown = Unknown::from(config.error());
    if (unknown.why == Why::denied) {
      unknown.needs = "root";
    }
    return unknown;
  }
  if (config->is_cut) {
    return Unknown{Why::denied, "only root is shown more than the header", "root"};
  }
  return std::nullopt;
}

Reading aspm(const PciConfig& config) {
  if (!config.link_control) {
    return Absent{"no PCIe link"};
  }
  constexpr std::array<std::string_view, 4> kNames = {"off", "L0s", "L1", "L0s L1"};
  return Value::scalar(std::string(kNames[*config.link_control & 3u]));
}

Reading relaxed_ordering(const PciConfig& config) {
  if (!config.device_control) {
    return Absent{"not PCIe"};
  }
  return Value::boolean((*config.device_control & 0x10u) != 0);
}

Reading max_payload(const PciConfig& config) {
  if (!config.device_control) {
    return Absent{"not PCIe"};
  }
  const std::uint32_t size = (*config.device_control >> 5) & 7u;
  if (size > 5) {
    return Unknown{Why::unreadable, "a reserved payload size", ""};
  }
  return Value::number(128u << size);
}

struct Device {
  std::string address;
  std::vector<std::string> above;  ///< bridges on the way to the root, the nearest first
  bool is_placed = false;          ///< the way to the root is shown
};

/// "0000:3b:00.0" and the bridges above it, by the path without links of its folder:
/// /sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0.
std::optional<Device> device_at(std::string_view real_path) {
  Device device;
  device.is_placed = real_path.starts_with("/sys/devices/");
  auto parts = split(real_path, '/');
  while (!parts.empty() && parse_pci_address(parts.back())) {
    (device.address.empty() ? device.address : device.above.emplace_back()) = parts.back();
    parts.pop_back();
  }
  return device.address.empty() ? std::nullopt : std::optional(device);
}

struct Devices {
  std::vector<Device> found;
  std::optional<Unknown> unseen;  ///< why there may be more
};

/// GPUs and RDMA adapters, sorted by address.
Devices find_devices(Survey& survey) {
  const host::Host& host = survey.host();
  Devices devices;
  std::vector<std::string> folders;
  const GpuList& list = gpu_list(survey);
  devices.unseen = list.unknown;
  for (const Gpu& gpu : list.gpus) {
    if (!gpu.folder.empty()) {
      folders.push_back(gpu.folder);
    }
  }
  const auto adapters = host.list(kAdapters);
  if (!adapters && adapters.error().code != Errc::absent) {
    devices.unseen = Unknown::from(adapters.error());
  }
  for (const host::DirEntry& adapter : adapters.value_or(std::vector<host::DirEntry>{})) {
    folders.push_back(std::string(kAdapters) + "/" + adapter.name + "/device");
  }
  for (const std::string& folder : folders) {
    const Result<std::string> real = host.real_path(folder);
    if (!real) {
      devices.unseen = Unknown::from(real.error());
      continue;
    }
    // Soft adapters (rxe) hang on no bus.
    if (auto device = device_at(*real)) {
      devices.found.push_back(std::move(*device));
    }
  }
  std::ranges::sort(devices.found, {}, &Device::address);
  const auto alike = [](const Device& x, const Device& y) { return x.address == y.address; };
  devices.found.erase(std::unique(devices.found.begin(), devices.found.end(), alike),
                      devices.found.end());
  return devices;
}

/// Where a device is that could not be looked at, what the others have in common is not all.
void add_unseen(Survey& survey, std::string_view key, const Devices& devices) {
  if (devices.unseen) {
    survey.add(key, *devices.unseen, seen(kDevices));
  }
}

std::string config_of(const std::string& address) {
  return std::string(kDevices) + address + "/config";
}

/// As lspci writes the bits: "SrcValid+ TransBlk- ReqRedir+ ...".
std::string acs_bits(std::uint32_t control) {
  constexpr std::array<std::string_view, 7> kNames = {
      "SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    text += (text.empty() ? "" : " ") + std::string(kNames[i]);
    text += (control >> i & 1u) != 0 ? '+' : '-';
  }
  return text;
}

void add_acs(Survey& survey, const Devices& devices, const Reading& none, Spaces& spaces) {
  if (!survey.wants("pcie.acs")) {
    return;
  }
  std::map<std::string, Result<PciConfig>> bridges;
  for (const Device& device : devices.found) {
    for (const std::string& bridge : device.above) {
      bridges.emplace(bridge, spaces.of(bridge));
    }
  }
  Instances acs(config_of("*"));
  for (const auto& [address, config] : bridges) {
    if (auto unread = unread_space(config)) {
      acs.add(address, std::move(*unread), seen(config_of(address)));
    } else if (config->is_express && !config->has_extended) {
      acs.add(address,
              Unknown{Why::not_stated, "its extended configuration space is not shown", ""},
              seen(config_of(address)));
    } else if (config->acs_control) {
      acs.add(address, Value::scalar((*config->acs_control & 1u) != 0 ? "on" : "off"),
              seen(config_of(address), acs_bits(*config->acs_control)));
    }
  }
  Reading instead = none;
  if (!devices.found.empty() && !devices.unseen) {
    instead = Absent{"no bridge above a GPU or adapter has ACS"};
    if (!std::ranges::all_of(devices.found, &Device::is_placed)) {
      instead = Unknown{Why::not_stated, "the way from the devices to the root is not shown", ""};
    }
  }
  acs.record(survey, "pcie.acs", instead);
  add_unseen(survey, "pcie.acs", devices);
}

void add_links(Survey& survey, const Devices& devices, const Reading& none, Spaces& spaces) {
  using Read = Reading (*)(const PciConfig& config);
  constexpr std::array<std::pair<std::string_view, Read>, 3> kKeys = {{
      {"pcie.aspm", aspm},
      {"pcie.relaxed_ordering", relaxed_ordering},
      {"pcie.max_payload", max_payload},
  }};
  for (const auto& [key, read] : kKeys) {
    if (!survey.wants(key)) {
      continue;
    }
    Instances instances(config_of("*"));
    for (const Device& device : devices.found) {
      const Result<PciConfig>& config = spaces.of(device.address);
      auto unread = unread_space(config);
      instances.add(device.address, unread ? std::move(*unread) : read(*config),
                    seen(config_of(device.address)));
    }
    instances.record(survey, key, none);
    add_unseen(survey, key, devices);
  }
}

/// What the slot above each GPU may give it.
void add_slot_power(Survey& survey, Spaces& spaces) {
  if (!survey.wants("gpu.pcie.slot_power")) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  Instances power(config_of("*"));
  for (const Gpu& gpu : list.gpus) {
    std::optional<Device> device;
    Reading reading = Unknown{Why::not_stated, "this GPU's PCI device is not shown here", ""};
    if (!gpu.folder.empty()) {
      const Result<std::string> real = survey.host().real_path(gpu.folder);
      if (real) {
        device = device_at(*real);
        reading = Unknown{Why::not_stated, "no bridge is shown above it", ""};
      } else {
        reading = Unknown::from(real.error());
      }
    }
    if (!device || device->above.empty()) {
      power.add(gpu.label, std::move(reading), seen(std::string(kDevices) + gpu.bus));
      continue;
    }
    const Result<PciConfig>& config = spaces.of(device->above.front());
    if (auto unread = unread_space(config)) {
      reading = std::move(*unread);
    } else if (!config->slot_capabilities) {
      reading = Absent{"the port above it is no slot"};
    } else if (std::string watts = slot_power(*config->slot_capabilities); watts.empty()) {
      reading = Absent{"the slot states no limit"};
    } else {
      reading = Value::scalar(std::move(watts));
    }
    power.add(gpu.label, std::move(reading), seen(config_of(device->above.front())));
  }
  power.record(survey, "gpu.pcie.slot_power", list.none());
}

/// GPUs of one group cannot be lent to two guests.
void add_groups(Survey& survey) {
  constexpr std::string_view kGroups = "/sys/kernel/iommu_groups";
  if (!survey.wants("gpu.iommu_group")) {
    return;
  }
  const host::Host& host = survey.host();
  const GpuList& list = gpu_list(survey);
  Instances groups(std::string(kDevices) + "*/iommu_group");
  for (const Gpu& gpu : list.gpus) {
    const std::string path = std::string(kDevices) + gpu.bus + "/iommu_group";
    const Result<std::string> link = host.read_link(path);
    if (link) {
      groups.add(gpu.label, Value::scalar(link->substr(link->rfind('/') + 1)), seen(path));
      continue;
    }
    Reading reading = Unknown::from(link.error());
    if (link.error().code == Errc::absent) {
      const auto all = host.list(kGroups);
      const bool is_off = all ? all->empty() : all.error().code == Errc::absent;
      reading = is_off ? Reading(Absent{"the IOMMU is off"})
                       : Reading(Unknown{Why::not_stated, "the kernel names no group of it", ""});
    }
    groups.add(gpu.label, std::move(reading), seen(path));
  }
  groups.record(survey, "gpu.iommu_group", list.none());
}

void run(Survey& survey) {
  add_groups(survey);
  Spaces spaces(survey.host());
  add_slot_power(survey, spaces);
  if (!survey.wants_below("pcie")) {
    return;
  }
  const Devices devices = find_devices(survey);
  const Reading none =
      devices.unseen ? Reading(*devices.unseen) : Reading(Absent{"no GPU or adapter"});
  add_links(survey, devices, none, spaces);
  add_acs(survey, devices, none, spaces);
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "gpu.iommu_group",
    "gpu.pcie.slot_power",
    "pcie.acs",
    "pcie.aspm",
    "pcie.max_payload",
    "pcie.relaxed_ordering",
});

}  // namespace

extern const Probe pcie{.name = "pcie", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
