// What NVIDIA's management library answered, as facts.
#include "probe/nvml_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/platform.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;
using nvml::Report;

/// What stands in for every answer where the library gave none.
Unknown unknown_of(const Report& report) {
  switch (report.end) {
    case Report::End::timed_out:
      return {Why::timed_out, "NVML did not come back from " + report.doing, "nvml"};
    case Report::End::died:
      return {Why::unreadable, "libnvidia-ml crashed at " + report.doing, "nvml"};
    case Report::End::not_started:
      return {Why::unreadable, "no process could be started to ask NVML", "nvml"};
    case Report::End::complete:
      break;
  }
  std::string detail = "NVML: " + report.problem + " (" + std::to_string(report.code) + ")";
  if (report.code == nvml::kNoPermission) {
    return {Why::denied, std::move(detail), "root"};
  }
  return {Why::unreadable, std::move(detail), "nvml"};
}

Reading reading_of(int code) {
  const std::string number = " (NVML " + std::to_string(code) + ")";
  constexpr int kDeprecated = 26;
  switch (code) {
    case nvml::kNotSupported:
      return Absent{"not supported by this GPU"};
    case nvml::kNoPermission:
      return Unknown{Why::denied, "not permitted" + number, "root"};
    case nvml::kOperatingSystem:
      return Unknown{Why::denied, "the operating system keeps the device from us" + number, ""};
    case nvml::kFunctionNotFound:
      return Unknown{Why::unsupported, "this driver's NVML does not tell it", ""};
    case kDeprecated:
      return Unknown{Why::unsupported, "this driver's NVML no longer tells it", ""};
    case nvml::kGpuIsLost:
      return Unknown{Why::unreadable, "GPU is lost" + number, ""};
    case nvml::kResetRequired:
      return Unknown{Why::unreadable, "GPU requires reset" + number, ""};
    case nvml::kUnknown:
      return Unknown{Why::unreadable, "Unknown Error" + number, ""};
    default:
      return Unknown{Why::unreadable, "error" + number, ""};
  }
}

Reading value_of(std::string_view name, const std::string& text) {
  if (name == "mig.instances") {
    std::vector<std::pair<std::string, std::string>> entries;
    for (const std::string_view item : split(text, ',')) {
      const std::size_t equals = item.rfind('=');
      if (equals != std::string_view::npos) {
        entries.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      }
    }
    return Value::map(std::move(entries));
  }
  if (text.empty() || text.find('?') != std::string::npos) {
    return Unknown{Why::not_stated, text.empty() ? "NVML gives no text" : "NVML gives " + text, ""};
  }
  if (name == "vbios") {
    std::string upper = text;
    std::ranges::transform(upper, upper.begin(), [](char c) {
      return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return Value::scalar(std::move(upper));
  }
  return Value::scalar(text);
}

/// A GPU of ours and what the library calls it.
struct Slot {
  std::string label;
  std::string number;  ///< in the library's order; "" where it does not list the GPU
  const Gpu* gpu = nullptr;
};

std::vector<std::string> numbers_of(const Report& report) {
  std::vector<std::string> numbers;
  for (const nvml::Answer& answer : report.answers) {
    if (answer.name == "handle") {
      numbers.push_back(answer.where);
    }
  }
  return numbers;
}

bool is_same_bus(std::string_view a, std::string_view b) {
  const auto first = parse_pci_address(a);
  return first && first == parse_pci_address(b);
}

std::vector<Slot> find_slots(const GpuList& list, const Report& report) {
  const std::vector<std::string> numbers = numbers_of(report);
  std::vector<Slot> slots;
  if (list.gpus.empty()) {
    for (const std::string& number : numbers) {
      slots.push_back({number, number, nullptr});
    }
    return slots;
  }
  for (const Gpu& gpu : list.gpus) {
    if (gpu.vendor != "nvidia") {
      continue;
    }
    Slot slot{gpu.label, "", &gpu};
    for (const std::string& number : numbers) {
      const nvml::Answer* bus = report.find(number, "bus");
      if (bus != nullptr && bus->code == nvml::kSuccess && is_same_bus(bus->text, gpu.bus)) {
        slot.number = number;
      }
    }
    slots.push_back(std::move(slot));
  }
  // One that gives no handle has no address; where one of ours is left over, that is it.
  const auto is_unnamed = [&](const std::string& number) {
    const nvml::Answer* handle = report.find(number, "handle");
    return handle != nullptr && handle->code != nvml::kSuccess;
  };
  const auto has_no_number = [](const Slot& slot) { return slot.number.empty(); };
  if (std::ranges::count_if(numbers, is_unnamed) == 1 &&
      std::ranges::count_if(slots, has_no_number) == 1) {
    std::ranges::find_if(slots, has_no_number)->number = *std::ranges::find_if(numbers, is_unnamed);
  }
  return slots;
}

Reading read(const Report& report, std::string_view where, std::string_view name) {
  const nvml::Answer* answer = report.find(where, name);
  if (answer != nullptr) {
    return answer->code == nvml::kSuccess ? value_of(name, answer->text) : reading_of(answer->code);
  }
  const nvml::Answer* handle = report.find(where, "handle");
  if (handle != nullptr && handle->code != nvml::kSuccess) {
    return reading_of(handle->code);
  }
  return report.end == Report::End::complete
             ? Reading(Unknown{Why::not_stated, "NVML does not list this GPU", "nvml"})
             : Reading(unknown_of(report));
}

Reading read(const Report& report, const Slot& slot, std::string_view name) {
  if (report.code != nvml::kSuccess) {
    return unknown_of(report);
  }
  if (slot.number.empty()) {
    return report.end == Report::End::complete
               ? Reading(Unknown{Why::not_stated, "NVML does not list this GPU", "nvml"})
               : Reading(unknown_of(report));
  }
  return read(report, slot.number, name);
}

/// What the library answers with an error that tells of a sick GPU.
Reading errors_of(const Report& report, const Slot& slot) {
  Reading handle = read(report, slot, "handle");
  if (report.code != nvml::kSuccess || slot.number.empty()) {
    return handle;
  }
  std::vector<std::string> errors;
  for (const nvml::Answer& answer : report.answers) {
    const std::string_view name = answer.name == "handle" ? "gpu" : std::string_view(answer.name);
    if (answer.where != slot.number) {
      continue;
    }
    if (answer.code == nvml::kGpuIsLost) {
      errors.push_back(std::string(name) + ": GPU is lost");
    } else if (answer.code == nvml::kResetRequired) {
      errors.push_back(std::string(name) + ": GPU requires reset");
    } else if (answer.code == nvml::kUnknown) {
      errors.push_back(std::string(name) + ": Unknown Error");
    }
  }
  const bool is_whole =
      report.end == Report::End::complete || report.find(slot.number, "nvlink.active");
  return is_whole || !errors.empty() ? Reading(Value::set(std::move(errors)))
                                     : Reading(unknown_of(report));
}

facts::Evidence evidence_of(const std::string& library) {
  facts::Evidence evidence = seen(library);
  evidence.basis = "nvml";
  return evidence;
}

std::string_view status_of(const Report& report) {
  if (report.end == Report::End::timed_out) {
    return "timed out";
  }
  if (report.end != Report::End::complete) {
    return "other";
  }
  int code = report.code;
  for (const nvml::Answer& answer : report.answers) {
    if (answer.name == "handle" && answer.code != nvml::kSuccess && code == nvml::kSuccess) {
      code = answer.code;
    }
  }
  switch (code) {
    case nvml::kSuccess:
      return "ok";
    case nvml::kNoPermission:
    case nvml::kOperatingSystem:
      return "no permission";
    case nvml::kDriverNotLoaded:
      return "not loaded";
    case nvml::kLibraryNotFound:
      return "library missing";
    case nvml::kGpuIsLost:
      return "gpu lost";
    case nvml::kResetRequired:
      return "reset required";
    case nvml::kVersionMismatch:
      return "version mismatch";
    default:
      return "other";
  }
}

void add_status(Survey& survey, const Report& report, const std::string& library) {
  facts::Evidence evidence = evidence_of(library);
  if (!report.problem.empty()) {
    evidence.notes.push_back(report.problem + " (" + std::to_string(report.code) + ")");
  }
  if (report.end != Report::End::complete) {
    evidence.notes.push_back(unknown_of(report).detail);
  }
  if (const nvml::Answer* nvml = report.find("", "nvml"); nvml && nvml->code == nvml::kSuccess) {
    evidence.notes.push_back("NVML " + nvml->text);
  }
  survey.add("driver.nvml.status", Value::scalar(std::string(status_of(report))),
             std::move(evidence));
}

void add_system(Survey& survey, const Report& report, const std::string& library) {
  add_status(survey, report, library);
  if (survey.wants("gpu.confidential")) {
    Reading reading = report.code == nvml::kSuccess ? read(report, "", "confidential")
                                                    : Reading(unknown_of(report));
    if (const auto* value = std::get_if<Absent>(&reading)) {
      static_cast<void>(value);
      reading = Absent{"not supported by this system"};
    }
    survey.add("gpu.confidential", std::move(reading), evidence_of(library));
  }
  // Where the library does not say it, the table of branches stands.
  const nvml::Answer* cuda = report.find("", "cuda");
  if (cuda != nullptr && cuda->code == nvml::kSuccess && cuda->text != "0.0") {
    survey.add("cuda.driver_api", Value::scalar(cuda->text), evidence_of(library));
  }
  const nvml::Answer* driver = report.find("", "driver");
  if (driver != nullptr && driver->code == nvml::kSuccess &&
      platform_of(survey).kind == Platform::Kind::wsl2) {
    survey.add("driver", value_of("driver", driver->text), evidence_of(library));
  }
}

/// GPUs that no bus shows.
void add_list(Survey& survey, const Report& report, const std::vector<Slot>& slots,
              const std::string& library) {
  const GpuList& list = gpu_list(survey);
  const nvml::Answer* count = report.find("", "count");
  if (!list.unknown || !list.gpus.empty() || count == nullptr || count->code != nvml::kSuccess) {
    return;
  }
  survey.add("gpu.count", Value::scalar(count->text), evidence_of(library));
  Instances bus(library);
  Instances vendor(library);
  for (const Slot& slot : slots) {
    bus.add(slot.label, read(report, slot, "bus"), evidence_of(library));
    vendor.add(slot.label, Value::scalar("nvidia"), evidence_of(library));
  }
  bus.record(survey, "gpu.bus", Absent{"no GPU"});
  vendor.record(survey, "gpu.vendor", Absent{"no GPU"});
}

void add_shared(Survey& survey, const Report& report, const std::vector<Slot>& slots,
                const std::string& library) {
  for (const NvmlShared& fact : kNvmlShared) {
    const bool is_told = std::ranges::all_of(slots, [&](const Slot& slot) {
      return slot.gpu != nullptr && std::holds_alternative<Value>(slot.gpu->information(fact.line));
    });
    if (is_told || report.code != nvml::kSuccess) {
      continue;
    }
    Instances instances(library);
    for (const Slot& slot : slots) {
      Reading told = slot.gpu == nullptr ? Reading(Unknown{}) : slot.gpu->information(fact.line);
      if (const auto* value = std::get_if<Value>(&told)) {
        instances.add(slot.label, value_of(fact.name, value->text),
                      slot.gpu->information_evidence(fact.line));
      } else {
        instances.add(slot.label, read(report, slot, fact.name), evidence_of(library));
      }
    }
    instances.record(survey, fact.key, Absent{"no GPU"});
  }
}

void add_pairs(Survey& survey, const Report& report, const std::vector<Slot>& slots,
               const Reading& none, const std::string& library) {
  for (const auto& [key, name] : kNvmlOfPair) {
    Instances instances(library);
    for (std::size_t a = 0; a < slots.size(); ++a) {
      for (std::size_t b = a + 1; b < slots.size(); ++b) {
        const std::string label = slots[a].label + "-" + slots[b].label;
        const bool is_turned = to_number(slots[a].number) > to_number(slots[b].number);
        const Slot& first = slots[is_turned ? b : a];
        const Slot& second = slots[is_turned ? a : b];
        Slot pair{label, "", nullptr};
        if (!first.number.empty() && !second.number.empty()) {
          pair.number = first.number + "-" + second.number;
        }
        Reading reading = read(report, pair, name);
        for (const Slot* one : {&first, &second}) {
          const nvml::Answer* handle = report.find(one->number, "handle");
          if (report.find(pair.number, name) == nullptr && handle && handle->code != 0) {
            reading = reading_of(handle->code);
          }
        }
        instances.add(label, std::move(reading), evidence_of(library));
      }
    }
    instances.record(survey, key,
                     slots.size() == 1 ? Reading(Absent{"there is only one GPU"}) : none);
  }
}

}  // namespace

void add_report(Survey& survey, const Report& report, const std::string& library) {
  const GpuList& list = gpu_list(survey);
  const std::vector<Slot> slots = find_slots(list, report);
  Reading none = list.none();
  if (list.gpus.empty() && list.unknown) {
    const nvml::Answer* count = report.find("", "count");
    if (count != nullptr && count->code == nvml::kSuccess) {
      none = Absent{"no GPU"};  // it lists those that there are
    } else if (report.code != nvml::kSuccess || report.end != Report::End::complete) {
      none = unknown_of(report);
    }
  } else if (!list.gpus.empty() && slots.empty()) {
    none = Unknown{Why::unsupported, "only NVIDIA's GPUs are asked", ""};
  }
  add_system(survey, report, library);
  add_list(survey, report, slots, library);
  add_shared(survey, report, slots, library);
  for (const auto& [key, name] : kNvmlOfGpu) {
    Instances instances(library);
    for (const Slot& slot : slots) {
      instances.add(slot.label, read(report, slot, name), evidence_of(library));
    }
    instances.record(survey, key, none);
  }
  Instances errors(library);
  for (const Slot& slot : slots) {
    errors.add(slot.label, errors_of(report, slot), evidence_of(library));
  }
  errors.record(survey, "gpu.errors", none);
  add_pairs(survey, report, slots, none, library);
}

}  // namespace goldenv::probe
