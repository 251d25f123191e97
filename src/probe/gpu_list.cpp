#include "probe/gpu_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/nvidia_proc.h"
#include "probe/platform.h"
#include "probe/presence.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr std::string_view kDriverGpus = "/proc/driver/nvidia/gpus";

std::optional<std::uint32_t> hex_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

/// "0x10de" and "0x030200", as sysfs writes them. One that is there and cannot be read, or is no
/// number (cut short), is told in `unseen`: what it is of may be a GPU.
std::optional<std::uint32_t> attribute(const host::Host& host, const std::string& path,
                                       std::optional<Error>& unseen) {
  const Result<std::string> text = host.read_file(path, 64);
  if (!text) {
    if (text.error().code != Errc::absent) {
      unseen = text.error();
    }
    return std::nullopt;
  }
  std::string_view number = trim(*text);
  if (number.starts_with("0x")) {
    number.remove_prefix(2);
  }
  const auto found = hex_number(number);
  if (!found) {
    unseen = Error{Errc::unreadable, path + ": no hexadecimal number", {}};
  }
  return found;
}

/// Vendor name where this is a GPU, by PCI class (class and subclass) and vendor.
std::string_view gpu_vendor(std::uint32_t klass, std::uint32_t vendor, std::uint32_t bus) {
  constexpr std::uint32_t kVga = 0x0300;
  constexpr std::uint32_t k3d = 0x0302;
  constexpr std::uint32_t kOtherDisplay = 0x0380;
  constexpr std::uint32_t kAccelerator = 0x1200;
  const bool display = klass == kVga || klass == k3d || klass == kOtherDisplay;
  if (vendor == 0x10de && display) {
    return "nvidia";
  }
  if (vendor == 0x1002 && (display || klass == kAccelerator)) {
    return "amd";
  }
  // Graphics inside the processor sit on bus 0.
  if (vendor == 0x8086 && display && bus != 0) {
    return "intel";
  }
  return "";
}

/// Finds what the buses show; the vendor of each GPU by address.
struct Bus {
  std::map<std::array<std::uint32_t, 4>, Gpu> gpus;
  std::size_t switches = 0;
  std::optional<Error> error;
  bool there = false;
};

Bus look_at_bus(const host::Host& host) {
  Bus bus;
  const auto devices = host.list(kDevices);
  if (!devices) {
    if (devices.error().code != Errc::absent) {
      bus.error = devices.error();
    }
    return bus;
  }
  bus.there = true;
  for (const host::DirEntry& device : *devices) {
    const auto address = parse_pci_address(device.name);
    const std::string folder = std::string(kDevices) + "/" + device.name;
    const auto klass = attribute(host, folder + "/class", bus.error);
    if (!address || !klass) {
      continue;
    }
    const std::uint32_t kind = *klass >> 8;
    if (kind >> 8 != 0x03 && kind >> 8 != 0x12 && kind != 0x0680) {
      continue;
    }
    const auto vendor = attribute(host, folder + "/vendor", bus.error);
    if (!vendor) {
      continue;
    }
    if (kind == 0x0680) {
      bus.switches += *vendor == 0x10de ? 1u : 0u;
      continue;
    }
    const std::string_view name = gpu_vendor(kind, *vendor, (*address)[1]);
    if (name.empty()) {
      continue;
    }
    const auto is_virtual = is_there(host, folder + "/physfn");  // a function lent to a guest
    if (!is_virtual) {
      bus.error = is_virtual.error();
    }
    if (!is_virtual.value_or(false)) {
      Gpu gpu;
      gpu.bus = device.name;
      gpu.folder = folder;
      gpu.vendor = name;
      bus.gpus.emplace(*address, std::move(gpu));
    }
  }
  return bus;
}

/// /dev/nvidia0 and so on: a GPU is lent to this container whatever the buses show.
bool has_gpu_node(const host::Host& host) {
  const auto nodes = host.list("/dev");
  return nodes && std::ranges::any_of(*nodes, [](const host::DirEntry& node) {
           return node.name.starts_with("nvidia") && node.name.size() > 6 &&
                  to_number(std::string_view(node.name).substr(6)).has_value();
         });
}

GpuList find_gpus(Survey& survey) {
  const host::Host& host = survey.host();
  GpuList list;
  list.evidence = seen(kDevices);
  Bus bus = look_at_bus(host);
  list.switches = bus.switches;
  const auto driven = host.list(kDriverGpus);
  if (driven) {
    for (const host::DirEntry& entry : *driven) {
      const auto address = parse_pci_address(entry.name);
      if (!address) {
        continue;
      }
      Gpu& gpu = bus.gpus[*address];
      if (gpu.bus.empty()) {
        gpu.bus = entry.name;
        gpu.vendor = "nvidia";
        // One that cannot be looked at says so in each of its files.
        if (std::string folder = std::string(kDevices) + "/" + entry.name;
            is_there(host, folder).value_or(true)) {
          gpu.folder = std::move(folder);  // whose class or vendor could not be told
        }
      }
      const std::string path = std::string(kDriverGpus) + "/" + entry.name + "/information";
      const Result<std::string> text = host.read_file(path, 64u << 10);
      if (text) {
        gpu.lines = parse_nvidia_lines(*text);
      } else {
        gpu.lines = text.error();
      }
    }
  }
  if (!driven && driven.error().code != Errc::absent) {
    for (auto& [address, gpu] : bus.gpus) {
      if (gpu.vendor == "nvidia") {
        gpu.lines = driven.error();
      }
    }
    if (!bus.there && !bus.error) {
      bus.error = driven.error();
    }
  }
  for (auto& [address, gpu] : bus.gpus) {
    gpu.label = std::to_string(list.gpus.size());
    list.gpus.push_back(std::move(gpu));
  }
  if (bus.error) {
    list.unknown = Unknown::from(*bus.error);
  } else if (list.gpus.empty()) {
    const Platform& platform = platform_of(survey);
    if (platform.kind == Platform::Kind::wsl2) {
      list.unknown =
          Unknown{Why::not_probed, "WSL shows no GPU on its buses; NVML knows them", "nvml"};
    } else if (platform.unseen) {
      list.unknown = Unknown::from(*platform.unseen);
    } else if (platform.kind == Platform::Kind::jetson) {
      list.unknown = Unknown{Why::unsupported, "Jetson's GPU is no PCI device", ""};
    } else if (!bus.there && has_gpu_node(host)) {
      list.unknown =
          Unknown{Why::not_stated, "/dev holds GPU nodes, but no PCI bus is shown here", "nvml"};
    } else if (!bus.there) {
      list.evidence.notes.emplace_back("no PCI bus");
    }
  }
  return list;
}

}  // namespace

facts::Reading Gpu::information(std::string_view name) const {
  if (!lines) {
    if (lines.error().code == Errc::absent) {
      return Unknown{Why::not_stated,
                     vendor == "nvidia" ? "the NVIDIA driver does not list this GPU"
                                        : "only its driver's own tools tell",
                     ""};
    }
    return Unknown::from(lines.error());
  }
  const auto line = std::ranges::find(*lines, name, &std::pair<std::string, std::string>::first);
  if (line == lines->end() || line->second.empty()) {
    return Unknown{Why::not_stated, "the driver does not state it", ""};
  }
  if (line->second.find('?') != std::string::npos || line->second == "Unknown") {
    return Unknown{Why::not_stated, "the driver has not read it yet: " + line->second, ""};
  }
  return Value::scalar(line->second);
}

facts::Evidence Gpu::information_evidence(std::string_view name) const {
  facts::Evidence evidence = seen(std::string(kDriverGpus) + "/" + bus + "/information");
  if (lines) {
    const auto line = std::ranges::find(*lines, name, &std::pair<std::string, std::string>::first);
    if (line != lines->end()) {
      evidence.line = static_cast<std::uint32_t>(line - lines->begin() + 1);
    }
  }
  return evidence;
}

facts::Reading GpuList::none() const {
  return unknown ? Reading(*unknown) : Reading(Absent{"no GPU"});
}

const GpuList& gpu_list(Survey& survey) {
  return survey.shared<GpuList>([&] { return find_gpus(survey); });
}

std::optional<std::array<std::uint32_t, 4>> parse_pci_address(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto parts = split(text.substr(0, dot), ':');
  if (parts.size() != 3) {
    return std::nullopt;
  }
  std::array<std::uint32_t, 4> address{};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto number = hex_number(parts[i]);
    if (!number) {
      return std::nullopt;
    }
    address[i] = *number;
  }
  const auto function = hex_number(text.substr(dot + 1));
  if (!function) {
    return std::nullopt;
  }
  address[3] = *function;
  return address;
}

}  // namespace goldenv::probe
