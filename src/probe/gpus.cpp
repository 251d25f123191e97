// GPUs as the buses and the driver's /proc folder show them: nothing here wakes or asks a GPU.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kDevices = "/sys/bus/pci/devices/*/";
constexpr std::string_view kInformation = "/proc/driver/nvidia/gpus/*/information";

/// A one-line file of the GPU's folder; what a PCI device does not state is unknown, not absent.
Reading device_line(const host::Host& host, const Gpu& gpu, std::string_view name) {
  if (gpu.folder.empty()) {
    return Unknown{Why::not_stated, "this GPU's PCI device is not shown here", ""};
  }
  Reading reading = one_line(host, gpu.folder + "/" + std::string(name));
  if (std::holds_alternative<Absent>(reading)) {
    return Unknown{Why::not_stated, "the kernel does not state it for this device", ""};
  }
  return reading;
}

using Read = Reading (*)(const host::Host& host, const Gpu& gpu);

void add_each(Survey& survey, std::string_view key, std::string_view file, Read read) {
  if (!survey.wants(key)) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  Instances instances(std::string(kDevices) + std::string(file));
  for (const Gpu& gpu : list.gpus) {
    const std::string folder = gpu.folder.empty() ? "/sys/bus/pci/devices/" + gpu.bus : gpu.folder;
    instances.add(gpu.label, read(survey.host(), gpu), seen(folder + "/" + std::string(file)));
  }
  instances.record(survey, key, list.none());
}

Reading pci_id(const host::Host& host, const Gpu& gpu) {
  Reading vendor = device_line(host, gpu, "vendor");
  Reading device = device_line(host, gpu, "device");
  const auto* a = std::get_if<Value>(&vendor);
  const auto* b = std::get_if<Value>(&device);
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? vendor : device;
  }
  if (!a->text.starts_with("0x") || !b->text.starts_with("0x")) {
    return Unknown{Why::unreadable, "no hexadecimal id", ""};
  }
  return Value::scalar(to_lower(a->text.substr(2)) + ":" + to_lower(b->text.substr(2)));
}

Reading numa_node(const host::Host& host, const Gpu& gpu) {
  Reading reading = device_line(host, gpu, "numa_node");
  if (const auto* value = std::get_if<Value>(&reading); value != nullptr && value->text == "-1") {
    return Unknown{Why::not_stated, "firmware does not say", ""};
  }
  return reading;
}

Reading bound_to(const host::Host& host, const Gpu& gpu) {
  if (gpu.folder.empty()) {
    return Value::scalar("nvidia");  // its driver lists it
  }
  const Result<std::string> link = host.read_link(gpu.folder + "/driver");
  if (link) {
    return Value::scalar(link->substr(link->rfind('/') + 1));
  }
  return link.error().code == Errc::absent ? Reading(Value::scalar("none"))
                                           : Reading(Unknown::from(link.error()));
}

Reading cpu_affinity(const host::Host& host, const Gpu& gpu) {
  Reading reading = device_line(host, gpu, "local_cpulist");
  if (const auto* value = std::get_if<Value>(&reading)) {
    std::vector<std::string> ranges;
    for (const std::string_view range : split(value->text, ',')) {
      if (!range.empty()) {
        ranges.emplace_back(range);
      }
    }
    return Value::list(std::move(ranges));
  }
  return reading;
}

/// "16.0 GT/s PCIe" and older kernels' "16 GT/s": the number, without a fraction of zero.
Reading speed(const host::Host& host, const Gpu& gpu, std::string_view file) {
  Reading reading = device_line(host, gpu, file);
  const auto* value = std::get_if<Value>(&reading);
  if (value == nullptr) {
    return reading;
  }
  const auto parts = words(value->text);
  if (parts.size() < 2 || parts[1] != "GT/s") {
    return Unknown{Why::not_stated, "the kernel says \"" + value->text + "\"", ""};
  }
  std::string number(parts[0]);
  if (number.ends_with(".0")) {
    number.resize(number.size() - 2);
  }
  return Value::scalar(std::move(number));
}

Reading width(const host::Host& host, const Gpu& gpu, std::string_view file) {
  Reading reading = device_line(host, gpu, file);
  const auto* value = std::get_if<Value>(&reading);
  if (value == nullptr) {
    return reading;
  }
  // 0 is a link that is down, 255 one that the kernel does not know.
  const auto lanes = to_number(value->text);
  if (!lanes || *lanes == 0 || *lanes > 32) {
    return Unknown{Why::not_stated, "the kernel says \"" + value->text + "\"", ""};
  }
  return Value::number(*lanes);
}

/// First and last address of a line of `resource`; none where it is none.
std::optional<std::array<std::uint64_t, 2>> parse_window(std::string_view line) {
  const auto parts = words(line);
  std::array<std::uint64_t, 2> range{};
  if (parts.size() < 2) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view number = parts[i].starts_with("0x") ? parts[i].substr(2) : parts[i];
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), range[i], 16);
    if (error != std::errc() || end != number.data() + number.size()) {
      return std::nullopt;
    }
  }
  return range;
}

/// Size of the second window in use, which NVIDIA calls BAR1: line 2 of `resource`, or line 3 where
/// the registers take two lines (Hopper's first window is a 64-bit one).
Reading bar1(const host::Host& host, const Gpu& gpu) {
  if (gpu.vendor != "nvidia") {
    return Unknown{Why::unsupported, "the layout of other vendors' windows differs", ""};
  }
  if (gpu.folder.empty()) {
    return Unknown{Why::not_stated, "this GPU's PCI device is not shown here", ""};
  }
  const Result<std::string> text = host.read_file(gpu.folder + "/resource", 4096);
  if (!text) {
    return Unknown::from(text.error());
  }
  constexpr std::size_t kBaseRegisters = 6;  // further lines: expansion ROM, bridge windows, SR-IOV
  std::size_t used = 0;
  const auto rows = lines(*text);
  for (std::size_t i = 0; i < rows.size() && i < kBaseRegisters; ++i) {
    const auto window = parse_window(rows[i]);
    if (!window) {
      return Unknown{Why::unreadable, "resource: a line without two addresses", ""};
    }
    if ((*window)[1] > (*window)[0] && ++used == 2) {
      return Value::number((*window)[1] - (*window)[0] + 1);
    }
  }
  return Unknown{Why::not_stated, "no second window is assigned", ""};
}

/// Lowest maximum of the GPU's link and those above it, "16.0 GT/s x8": width first, then speed.
Reading narrowest(const host::Host& host, const Gpu& gpu) {
  if (gpu.folder.empty()) {
    return Unknown{Why::not_stated, "this GPU's PCI device is not shown here", ""};
  }
  const Result<std::string> real = host.real_path(gpu.folder);
  if (!real) {
    return Unknown::from(real.error());
  }
  std::string at = *real;
  double lowest = 0;
  std::string text;
  while (parse_pci_address(std::string_view(at).substr(at.rfind('/') + 1))) {
    const auto speed_line = host.read_file(at + "/max_link_speed", 64);
    const auto width_line = host.read_file(at + "/max_link_width", 64);
    if (speed_line && width_line) {
      const auto parts = words(*speed_line);
      const auto lanes = to_number(trim(*width_line)).value_or(0);
      double rate = 0;
      if (!parts.empty()) {
        std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), rate);
      }
      const double room = rate * static_cast<double>(lanes);
      if (room > 0 && lanes <= 32 && (text.empty() || room < lowest)) {
        lowest = room;
        std::string number(parts[0]);
        if (number.find('.') == std::string::npos) {
          number += ".0";
        }
        text = number + " GT/s x" + std::to_string(lanes);
      }
    }
    at.resize(at.rfind('/'));
  }
  if (text.empty()) {
    return Unknown{Why::not_stated, "the kernel states no maximum on the way to the root", ""};
  }
  return Value::scalar(std::move(text));
}

void add_information(Survey& survey, std::string_view key, std::string_view line) {
  if (!survey.wants(key)) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  Instances instances{std::string(kInformation)};
  for (const Gpu& gpu : list.gpus) {
    Reading reading = gpu.information(line);
    if (auto* value = std::get_if<Value>(&reading); value != nullptr && key == "gpu.vbios") {
      std::ranges::transform(value->text, value->text.begin(), [](char c) {
        return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
      });
    }
    instances.add(gpu.label, std::move(reading), gpu.information_evidence(line));
  }
  instances.record(survey, key, list.none());
}

void add_counts(Survey& survey) {
  if (!survey.wants("gpu.count") && !survey.wants("nvswitch.count")) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  survey.add("gpu.count",
             list.unknown ? Reading(*list.unknown) : Reading(Value::number(list.gpus.size())),
             list.evidence);
  survey.add("nvswitch.count",
             list.unknown && list.unknown->why != Why::unsupported
                 ? Reading(*list.unknown)
                 : Reading(Value::number(list.switches)),
             list.evidence);
}

void add_identity(Survey& survey) {
  if (!survey.wants("gpu.bus") && !survey.wants("gpu.vendor")) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  Instances bus(std::string(kDevices).substr(0, kDevices.size() - 1));
  Instances vendor(std::string(kDevices) + "vendor");
  for (const Gpu& gpu : list.gpus) {
    const facts::Evidence evidence =
        gpu.folder.empty() ? gpu.information_evidence("") : seen(gpu.folder + "/vendor");
    bus.add(gpu.label, Value::scalar(gpu.bus), evidence);
    vendor.add(gpu.label, Value::scalar(gpu.vendor), evidence);
  }
  bus.record(survey, "gpu.bus", list.none());
  vendor.record(survey, "gpu.vendor", list.none());
}

void run(Survey& survey) {
  add_counts(survey);
  add_identity(survey);
  add_information(survey, "gpu.name", "Model");
  add_information(survey, "gpu.uuid", "GPU UUID");
  add_information(survey, "gpu.vbios", "Video BIOS");
  add_each(survey, "gpu.pci_id", "device", pci_id);
  add_each(survey, "gpu.numa_node", "numa_node", numa_node);
  add_each(survey, "gpu.cpu_affinity", "local_cpulist", cpu_affinity);
  add_each(survey, "gpu.bound_to", "driver", bound_to);
  add_each(survey, "gpu.bar1", "resource", bar1);
  add_each(survey, "gpu.pcie.narrowest", "max_link_speed", narrowest);
  add_each(survey, "gpu.pcie.max_speed", "max_link_speed",
           [](const host::Host& h, const Gpu& gpu) { return speed(h, gpu, "max_link_speed"); });
  add_each(survey, "gpu.pcie.speed", "current_link_speed",
           [](const host::Host& h, const Gpu& gpu) { return speed(h, gpu, "current_link_speed"); });
  add_each(survey, "gpu.pcie.max_width", "max_link_width",
           [](const host::Host& h, const Gpu& gpu) { return width(h, gpu, "max_link_width"); });
  add_each(survey, "gpu.pcie.width", "current_link_width",
           [](const host::Host& h, const Gpu& gpu) { return width(h, gpu, "current_link_width"); });
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "gpu.count",
    "gpu.bus",
    "gpu.vendor",
    "gpu.name",
    "gpu.uuid",
    "gpu.vbios",
    "gpu.pci_id",
    "gpu.numa_node",
    "gpu.cpu_affinity",
    "gpu.bound_to",
    "gpu.bar1",
    "gpu.pcie.*",
    "nvswitch.count",
});

}  // namespace

extern const Probe gpus{.name = "gpus", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
