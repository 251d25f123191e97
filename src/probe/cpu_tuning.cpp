// How the processors are set: frequency, idle states, threads, mitigations, clocks.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kCpus = "/sys/devices/system/cpu";

/// Entries `<start><number>` of a folder, by number: cpu2 before cpu10.
Result<std::vector<std::uint64_t>> numbered(const host::Host& host, const std::string& folder,
                                            std::string_view start) {
  GOLDENV_TRY(const auto entries, host.list(folder));
  std::vector<std::uint64_t> numbers;
  for (const host::DirEntry& entry : entries) {
    if (entry.name.starts_with(start)) {
      if (const auto number = to_number(std::string_view(entry.name).substr(start.size()))) {
        numbers.push_back(*number);
      }
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

void add_policies(Survey& survey) {
  struct Setting {
    std::string_view key;
    std::string_view file;
  };
  constexpr auto kSettings = std::to_array<Setting>({
      {"cpu.governor", "scaling_governor"},
      {"cpu.scaling_driver", "scaling_driver"},
      {"cpu.energy_preference", "energy_performance_preference"},
  });
  if (std::ranges::none_of(kSettings, [&](const Setting& s) { return survey.wants(s.key); })) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string folder = std::string(kCpus) + "/cpufreq";
  const auto policies = numbered(host, folder, "policy");
  const Reading none = policies || policies.error().code == Errc::absent
                           ? Reading(Absent{"no cpufreq policy"})
                           : Reading(Unknown::from(policies.error()));
  for (const Setting& setting : kSettings) {
    if (!survey.wants(setting.key)) {
      continue;
    }
    Instances instances(folder + "/policy*/" + std::string(setting.file));
    if (policies) {
      for (const std::uint64_t policy : *policies) {
        const std::string path =
            folder + "/policy" + std::to_string(policy) + "/" + std::string(setting.file);
        instances.add(std::to_string(policy), one_line(host, path), seen(path));
      }
    }
    instances.record(survey, setting.key, none);
  }
}

void add_boost(Survey& survey) {
  if (!survey.wants("cpu.boost")) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string boost = std::string(kCpus) + "/cpufreq/boost";
  const std::string no_turbo = std::string(kCpus) + "/intel_pstate/no_turbo";
  // acpi-cpufreq and amd-pstate have the first, intel_pstate the second.
  Reading reading = one_line(host, boost);
  std::string path = boost;
  std::string_view on = "1";
  if (std::holds_alternative<Absent>(reading)) {
    Reading turbo = one_line(host, no_turbo);
    if (!std::holds_alternative<Absent>(turbo)) {
      reading = std::move(turbo);
      path = no_turbo;
      on = "0";
    }
  }
  if (const auto* value = std::get_if<Value>(&reading)) {
    reading = value->text == "0" || value->text == "1"
                  ? Reading(Value::boolean(value->text == on))
                  : Reading(Unknown{Why::unreadable, "neither 0 nor 1: " + value->text, ""});
  }
  survey.add("cpu.boost", std::move(reading), seen(path));
}

void add_idle_states(Survey& survey) {
  if (!survey.wants("cpu.idle.disabled")) {
    return;
  }
  const host::Host& host = survey.host();
  Instances instances(std::string(kCpus) + "/cpu*/cpuidle/state*/disable");
  const auto cpus = numbered(host, std::string(kCpus), "cpu");
  if (cpus) {
    for (const std::uint64_t cpu : *cpus) {
      const std::string folder = std::string(kCpus) + "/cpu" + std::to_string(cpu) + "/cpuidle";
      const auto states = numbered(host, folder, "state");
      if (!states) {
        if (states.error().code != Errc::absent) {
          instances.add(std::to_string(cpu), Unknown::from(states.error()), seen(folder));
        }
        continue;  // no idle driver: nothing can be switched off
      }
      std::vector<std::string> disabled;
      Reading reading = Value::set({});
      for (const std::uint64_t state : *states) {
        const std::string path = folder + "/state" + std::to_string(state);
        const Result<std::string> disable = host.read_file(path + "/disable", 64);
        if (!disable) {
          reading = Unknown::from(disable.error());
          break;
        }
        if (trim(*disable) != "0") {
          const Result<std::string> name = host.read_file(path + "/name", 64);
          if (!name && name.error().code != Errc::absent) {
            reading = Unknown::from(name.error());
            break;
          }
          disabled.push_back(name ? std::string(trim(*name)) : "state" + std::to_string(state));
        }
      }
      if (std::holds_alternative<Value>(reading)) {
        reading = Value::set(std::move(disabled));
      }
      instances.add(std::to_string(cpu), std::move(reading), seen(folder));
    }
  }
  instances.record(survey, "cpu.idle.disabled",
                   cpus || cpus.error().code == Errc::absent
                       ? Reading(Absent{"no idle driver"})
                       : Reading(Unknown::from(cpus.error())));
}

void add_mitigations(Survey& survey) {
  if (!survey.wants_below("cpu.mitigation")) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string folder = std::string(kCpus) + "/vulnerabilities";
  std::vector<std::string> names = survey.named_below("cpu.mitigation");
  if (!survey.request().only_named) {
    const auto entries = host.list(folder);
    if (entries) {
      for (const host::DirEntry& entry : *entries) {
        names.push_back(entry.name);
      }
    }
  }
  for (const std::string& name : names) {
    if (name.find('/') == std::string::npos) {
      const std::string path = folder + "/" + name;
      survey.add("cpu.mitigation." + name, one_line(host, path), seen(path));
    }
  }
}

void add_line(Survey& survey, std::string_view key, const std::string& path) {
  if (survey.wants(key)) {
    survey.add(key, one_line(survey.host(), path), seen(path));
  }
}

void add_ranges(Survey& survey, std::string_view key, std::string_view file) {
  const std::string path = std::string(kCpus) + "/" + std::string(file);
  if (survey.wants(key)) {
    survey.add(key, ranges(survey.host(), path), seen(path));
  }
}

void add_idle_governor(Survey& survey) {
  if (!survey.wants("cpu.idle.governor")) {
    return;
  }
  std::string path = std::string(kCpus) + "/cpuidle/current_governor";
  Reading reading = one_line(survey.host(), path);
  if (std::holds_alternative<Absent>(reading)) {
    path += "_ro";  // kernels before 5.7, where it could not be changed
    reading = one_line(survey.host(), path);
  }
  survey.add("cpu.idle.governor", std::move(reading), seen(path));
}

void add_clocksource(Survey& survey) {
  const std::string folder = "/sys/devices/system/clocksource/clocksource0/";
  add_line(survey, "clocksource", folder + "current_clocksource");
  if (survey.wants("clocksource.available")) {
    Reading reading = one_line(survey.host(), folder + "available_clocksource");
    if (const auto* value = std::get_if<Value>(&reading)) {
      std::vector<std::string> names;
      for (const std::string_view name : words(value->text)) {
        names.emplace_back(name);
      }
      reading = Value::list(std::move(names));
    }
    survey.add("clocksource.available", std::move(reading), seen(folder + "available_clocksource"));
  }
}

void run(Survey& survey) {
  add_policies(survey);
  add_boost(survey);
  add_line(survey, "cpu.smt", std::string(kCpus) + "/smt/control");
  add_ranges(survey, "cpu.isolated", "isolated");
  add_ranges(survey, "cpu.nohz_full", "nohz_full");
  add_line(survey, "cpu.idle.driver", std::string(kCpus) + "/cpuidle/current_driver");
  add_idle_governor(survey);
  add_idle_states(survey);
  add_mitigations(survey);
  add_clocksource(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "cpu.governor",
    "cpu.scaling_driver",
    "cpu.energy_preference",
    "cpu.boost",
    "cpu.smt",
    "cpu.isolated",
    "cpu.nohz_full",
    "cpu.idle.*",
    "cpu.mitigation.**",
    "clocksource",
    "clocksource.available",
});

}  // namespace

extern const Probe cpu_tuning{.name = "cpu_tuning", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
