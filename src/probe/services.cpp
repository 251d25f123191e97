// Services that GPU machines lean on: whether they run and whether they start at boot. systemd is
// not asked: its control groups and the links of its units say it.
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/unit_state.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;

constexpr auto kWatched = std::to_array<std::string_view>(
    {"nvidia-persistenced", "nvidia-fabricmanager", "nvidia-dcgm", "dcgm-exporter", "irqbalance",
     "tuned", "docker", "containerd", "slurmd", "opensmd"});

/// The start of a service that runs; of another there is none.
Reading started(const UnitRunning& running) {
  if (running.started_s) {
    return Value::number(*running.started_s);
  }
  if (const auto* unknown = std::get_if<Unknown>(&running.reading)) {
    return *unknown;
  }
  if (std::get<Value>(running.reading) == Value::scalar("active")) {
    return Unknown{facts::Why::unreadable, "the start of its process is not known", ""};
  }
  return Absent{"it does not run"};
}

void add(Survey& survey, const std::string& name) {
  const std::string key = "service." + name;
  const std::string unit = name + ".service";
  const SystemUnits& units = system_units(survey);
  if (const auto none = without_unit(units, unit)) {
    for (const std::string_view member : {"", ".enabled", ".started"}) {
      survey.add(key + std::string(member), *none, seen("folders of systemd's units"));
    }
    return;
  }
  if (survey.wants(key) || survey.wants(key + ".started")) {
    UnitRunning running = unit_running(survey, unit);
    survey.add(key + ".started", started(running), running.evidence);
    survey.add(key, std::move(running.reading), std::move(running.evidence));
  }
  if (survey.wants(key + ".enabled")) {
    UnitEnabled enabled = unit_enabled(survey, unit);
    survey.add(key + ".enabled", std::move(enabled.reading), std::move(enabled.evidence));
  }
}

void run(Survey& survey) {
  std::set<std::string> names;
  if (survey.wants("service")) {
    names.insert(kWatched.begin(), kWatched.end());
  }
  for (const std::string_view name : kWatched) {
    if (survey.wants("service." + std::string(name))) {
      names.emplace(name);
    }
  }
  for (const std::string& member : survey.named_below("service")) {
    names.insert(member.substr(0, member.find('.')));
  }
  for (const std::string& name : names) {
    add(survey, name);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"service.**"});

}  // namespace

extern const Probe services{.name = "services", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
