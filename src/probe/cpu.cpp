// The processors as they are built: what no setting changes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/cpuinfo.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kCpuinfo = "/proc/cpuinfo";
constexpr std::string_view kCpus = "/sys/devices/system/cpu";

bool wants_any(const Survey& survey, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return survey.wants(key); });
}

Reading text_or_unknown(std::string text, std::string_view why) {
  return text.empty() ? Reading(Unknown{Why::not_stated, std::string(why), ""})
                      : Reading(Value::scalar(std::move(text)));
}

/// The common reading of a field over all processors: machines with two kinds of cores exist.
Reading over_all(const std::vector<Processor>& processors, std::string (*read)(const Processor&),
                 std::string_view why) {
  Instances instances{std::string(kCpuinfo)};
  for (const Processor& processor : processors) {
    instances.add(std::to_string(processor.number), text_or_unknown(read(processor), why), {});
  }
  return instances.common(Unknown{Why::unreadable, "no processor is listed", ""});
}

void add_microcode(Survey& survey, const std::vector<Processor>& processors) {
  if (!survey.wants("cpu.microcode")) {
    return;
  }
  Instances microcode{std::string(kCpuinfo)};
  for (const Processor& processor : processors) {
    const std::string label = std::to_string(processor.number);
    if (const auto revision = processor.field("microcode"); !revision.empty()) {
      microcode.add(label, Value::scalar(std::string(revision)), seen(kCpuinfo));
      continue;
    }
    if (processor.field("vendor_id").empty()) {
      microcode.add(label, Absent{"this architecture has none"}, seen(kCpuinfo));
      continue;
    }
    const std::string path = std::string(kCpus) + "/cpu" + label + "/microcode/version";
    Reading reading = one_line(survey.host(), path);
    if (std::holds_alternative<Absent>(reading)) {
      reading = Unknown{Why::not_stated, "a virtual machine may not be told", ""};
    }
    microcode.add(label, std::move(reading), seen(path));
  }
  microcode.record(survey, "cpu.microcode", Unknown{Why::unreadable, "no processor is listed", ""});
}

void add_from_cpuinfo(Survey& survey) {
  if (!wants_any(survey,
                 {"cpu.vendor", "cpu.model", "cpu.stepping", "cpu.flags", "cpu.microcode"})) {
    return;
  }
  const Result<std::string> text = survey.host().read_file(kCpuinfo, 16u << 20);
  const facts::Evidence evidence = seen(kCpuinfo);
  if (!text) {
    for (const std::string_view key :
         {"cpu.vendor", "cpu.model", "cpu.stepping", "cpu.flags", "cpu.microcode"}) {
      survey.add(key, Unknown::from(text.error()), evidence);
    }
    return;
  }
  const std::vector<Processor> processors = parse_cpuinfo(*text);
  survey.add("cpu.vendor", over_all(processors, cpu_vendor, "no vendor is named"), evidence);
  survey.add("cpu.model",
             over_all(processors, cpu_model, "no model name, and the part is not known"), evidence);
  survey.add("cpu.stepping",
             over_all(processors, cpu_stepping, "this architecture has no family-model-stepping"),
             evidence);
  if (survey.wants("cpu.flags")) {
    const std::set<std::string> flags = common_flags(processors);
    survey.add("cpu.flags",
               flags.empty() ? Reading(Unknown{Why::not_stated, "no flags are listed", ""})
                             : Reading(Value::set({flags.begin(), flags.end()})),
               evidence);
  }
  add_microcode(survey, processors);
}

/// Sockets and cores by sysfs, which counts right where cpuinfo's core ids repeat from die to die.
void add_topology(Survey& survey) {
  if (!wants_any(survey, {"cpu.count", "cpu.sockets", "cpu.cores"})) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string present = std::string(kCpus) + "/present";
  const Result<std::string> text = host.read_file(present, 4096);
  if (!text) {
    for (const std::string_view key : {"cpu.count", "cpu.sockets", "cpu.cores"}) {
      survey.add(key, Unknown::from(text.error()), seen(present));
    }
    return;
  }
  const std::vector<std::uint32_t> numbers = expand_ranges(*text);
  survey.add("cpu.count",
             numbers.empty() ? Reading(Unknown{Why::unreadable, "no range: " + *text, ""})
                             : Reading(Value::number(numbers.size())),
             seen(present));
  if (!wants_any(survey, {"cpu.sockets", "cpu.cores"})) {
    return;
  }
  struct Parts {
    std::set<std::string> names;
    std::optional<Error> unseen;
    void add(const Result<std::string>& text) {
      if (text) {
        names.emplace(trim(*text));
      } else if (text.error().code != Errc::absent) {
        unseen = text.error();
      }
    }
  };
  Parts sockets;
  Parts cores;
  for (const std::uint32_t number : numbers) {
    const std::string folder = std::string(kCpus) + "/cpu" + std::to_string(number) + "/topology/";
    // CPUs that are off have no topology; their siblings stand for them.
    sockets.add(host.read_file(folder + "physical_package_id", 64));
    cores.add(host.read_file(folder + "thread_siblings_list", 4096));
  }
  const std::string where = std::string(kCpus) + "/cpu*/topology/";
  const auto count = [](const Parts& parts) {
    if (parts.unseen) {
      return Reading(Unknown::from(*parts.unseen));
    }
    return parts.names.empty() ? Reading(Unknown{Why::not_stated, "no topology is shown", ""})
                               : Reading(Value::number(parts.names.size()));
  };
  // -1 is a package that the firmware did not number.
  sockets.names.erase("-1");
  survey.add("cpu.sockets", count(sockets), seen(where + "physical_package_id"));
  survey.add("cpu.cores", count(cores), seen(where + "thread_siblings_list"));
}

void run(Survey& survey) {
  if (survey.wants("cpu.arch")) {
    const Result<host::SystemName> uname = survey.host().system_name();
    survey.add(
        "cpu.arch",
        uname ? Reading(Value::scalar(uname->machine)) : Reading(Unknown::from(uname.error())),
        seen("uname machine"));
  }
  add_from_cpuinfo(survey);
  add_topology(survey);
  if (survey.wants("cpu.online")) {
    const std::string path = std::string(kCpus) + "/online";
    survey.add("cpu.online", ranges(survey.host(), path), seen(path));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "cpu.arch",
    "cpu.vendor",
    "cpu.model",
    "cpu.stepping",
    "cpu.flags",
    "cpu.microcode",
    "cpu.count",
    "cpu.sockets",
    "cpu.cores",
    "cpu.online",
});

}  // namespace

extern const Probe cpu{.name = "cpu", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
