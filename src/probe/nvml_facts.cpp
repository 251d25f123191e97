// What only NVIDIA's management library tells of GPUs and their driver. It is asked on running
// machines alone, and only where a driver is in memory, so that no machine without one pays.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "host/process.h"
#include "nvml/reader.h"
#include "probe/driver_library.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/nvml_report.h"
#include "probe/platform.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;
using nvml::Report;

constexpr std::string_view kControlNode = "/dev/nvidiactl";

/// Why the library is not asked; and what that makes of its status.
struct Closed {
  Unknown unknown;
  std::optional<Reading> status;
};

std::optional<Closed> find_closed(Survey& survey) {
  const host::Host& host = survey.host();
  if (!host.live()) {
    return Closed{{Why::not_live, "only the driver of a running machine tells", "nvml"}, {}};
  }
  if (host.process() != nullptr && host.process()->own_root) {
    return Closed{{Why::not_probed, "the process has files of its own; @live asks NVML", "nvml"},
                  {}};
  }
  const bool is_wsl = platform_of(survey).kind == Platform::Kind::wsl2;
  const Result<host::FileStatus> node = host.status(is_wsl ? "/dev/dxg" : kControlNode);
  if (!node && node.error().code != Errc::absent) {
    return Closed{Unknown::from(node.error()), {}};
  }
  if (!node) {
    const Result<host::FileStatus> module = host.status("/proc/driver/nvidia");
    if (!module && module.error().code == Errc::absent) {
      return Closed{{Why::not_probed, "the NVIDIA driver is not loaded", "nvml"},
                    Reading(Absent{"the NVIDIA driver is not loaded"})};
    }
    // The library would have the node made, and goldenv changes nothing.
    return Closed{{Why::not_probed, std::string(kControlNode) + " is not there", "nvml"}, {}};
  }
  const Result<std::string>& library = nvml_library(survey);
  if (!library) {
    const bool is_none = library.error().code == Errc::absent;
    return Closed{
        is_none ? Unknown{Why::not_probed, "no libnvidia-ml.so.1 answers", "nvml"}
                : Unknown::from(library.error()),
        is_none ? std::optional<Reading>(Value::scalar("library missing")) : std::nullopt};
  }
  return std::nullopt;
}

void add_closed(Survey& survey, const Closed& closed) {
  const facts::Evidence evidence = seen("libnvidia-ml.so.1");
  survey.add("driver.nvml.status", closed.status ? *closed.status : Reading(closed.unknown),
             evidence);
  const GpuList& list = gpu_list(survey);
  const bool has_none = list.gpus.empty() && !list.unknown;
  const Reading reading = has_none ? list.none() : Reading(closed.unknown);
  survey.add("gpu.confidential", reading, evidence);
  for (const auto& [key, name] : kNvmlOfGpu) {
    Instances instances(evidence.from);
    for (const Gpu& gpu : list.gpus) {
      instances.add(gpu.label, reading, evidence);
    }
    instances.record(survey, key, reading);
  }
  Instances errors(evidence.from);
  errors.record(survey, "gpu.errors", reading);
  for (const auto& [key, name] : kNvmlOfPair) {
    Instances(evidence.from).record(survey, key, reading);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "cuda.driver_api",
    "driver",
    "driver.nvml.status",
    "gpu.addressing_mode",
    "gpu.arch",
    "gpu.bus",
    "gpu.clocks.application",
    "gpu.compute_capability",
    "gpu.compute_mode",
    "gpu.confidential",
    "gpu.count",
    "gpu.ecc",
    "gpu.ecc.uncorrected",
    "gpu.errors",
    "gpu.fabric.state",
    "gpu.inforom",
    "gpu.memory",
    "gpu.mig",
    "gpu.mig.instances",
    "gpu.name",
    "gpu.nvlink.active",
    "gpu.p2p",
    "gpu.part_number",
    "gpu.persistence",
    "gpu.power_limit",
    "gpu.remapped_rows",
    "gpu.serial",
    "gpu.temperature",
    "gpu.topology",
    "gpu.uuid",
    "gpu.vbios",
    "gpu.vendor",
});

/// Whether a fact is wanted for which a GPU has to be asked. What /proc tells of the GPUs on the
/// bus is none.
bool wants_devices(Survey& survey) {
  const auto wanted = [&](std::string_view key) { return survey.wants(key); };
  const auto wanted_first = [&](const auto& row) { return survey.wants(row.first); };
  if (std::ranges::any_of(kNvmlOfGpu, wanted_first) ||
      std::ranges::any_of(kNvmlOfPair, wanted_first) || survey.wants("gpu.errors")) {
    return true;
  }
  constexpr std::array<std::string_view, 3> kList = {"gpu.bus", "gpu.count", "gpu.vendor"};
  const bool wants_list = std::ranges::any_of(kList, wanted);
  const bool wants_shared = std::ranges::any_of(kNvmlShared, wanted, &NvmlShared::key);
  if (!wants_list && !wants_shared) {
    return false;
  }
  const GpuList& list = gpu_list(survey);
  if (list.gpus.empty()) {
    return list.unknown.has_value();
  }
  return std::ranges::any_of(kNvmlShared, [&](const NvmlShared& fact) {
    return survey.wants(fact.key) && std::ranges::any_of(list.gpus, [&](const Gpu& gpu) {
             return gpu.vendor == "nvidia" &&
                    !std::holds_alternative<Value>(gpu.information(fact.line));
           });
  });
}

/// Whether the library can tell more than is known without it.
bool is_needed(Survey& survey, bool devices) {
  return devices || survey.wants("driver.nvml.status") || survey.wants("gpu.confidential") ||
         survey.wants("cuda.driver_api") ||
         (survey.wants("driver") && platform_of(survey).kind == Platform::Kind::wsl2);
}

void run(Survey& survey) {
  const bool devices = wants_devices(survey);
  if (!is_needed(survey, devices)) {
    return;
  }
  if (const std::optional<Closed> closed = find_closed(survey)) {
    add_closed(survey, *closed);
    return;
  }
  const std::string library = *nvml_library(survey);
  const nvml::Depth depth = devices ? nvml::Depth::devices : nvml::Depth::system;
  // As a question about the file: so a record of this machine keeps the answer.
  const Result<std::string> answer = survey.host().ask(
      library, devices ? "nvml 1 devices" : "nvml 1 system",
      [&](int) -> Result<std::string> { return nvml::encode(nvml::read(library, depth)); });
  const Result<Report> report = answer ? nvml::decode(*answer) : Result<Report>(answer.error());
  if (!report) {
    add_closed(survey, {Unknown::from(report.error()), {}});
    return;
  }
  add_report(survey, *report, survey.tilde(library));
}

}  // namespace

extern const Probe nvml_facts{.name = "nvml_facts", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
