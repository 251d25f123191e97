// The limits that a unit's files set, beside those that its process has: a service that was started
// before they were changed has the old ones until its restart.
#include "probe/unit_limits.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "host/process.h"
#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/unit_files.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// Resources that goldenv watches, by the end of their setting's name.
constexpr auto kResources =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"memlock", "MEMLOCK"},
                                                                  {"stack", "STACK"},
                                                                  {"core", "CORE"},
                                                                  {"nofile", "NOFILE"},
                                                                  {"nproc", "NPROC"},
                                                                  {"msgqueue", "MSGQUEUE"},
                                                                  {"rtprio", "RTPRIO"}});

/// Files of a unit, and of the manager whose defaults it has.
struct Unit {
  UnitFiles files;
  ManagerSettings manager;
};

std::string setting_of(std::string_view resource) {
  const auto found = std::ranges::find(kResources, resource,
                                       &std::pair<std::string_view, std::string_view>::first);
  return found == kResources.end() ? "" : "Limit" + std::string(found->second);
}

/// The last of a setting; an empty one takes back those before it.
const UnitSetting* last_of(const std::vector<UnitSetting>& settings, const std::string& key) {
  const UnitSetting* last = nullptr;
  for (const UnitSetting& setting : settings) {
    if (setting.key == key) {
      last = setting.value.empty() ? nullptr : &setting;
    }
  }
  return last;
}

void add(Survey& survey, const Unit& unit, const std::string& resource, const std::string& label) {
  const std::string soft_key = "limits." + resource + "@" + label;
  const std::string hard_key = "limits." + resource + ".hard@" + label;
  const auto both = [&](const Reading& reading, const facts::Evidence& evidence) {
    survey.add(soft_key, reading, evidence);
    survey.add(hard_key, reading, evidence);
  };
  const std::string name = setting_of(resource);
  if (name.empty()) {
    both(Unknown{Why::unsupported, "of units this limit is not looked at", ""}, {});
    return;
  }
  if (!unit.files.is_there()) {
    both(Absent{"no such unit"}, {});
    return;
  }
  for (const std::vector<Error>* unread : {&unit.files.unread, &unit.manager.unread}) {
    if (!unread->empty()) {
      both(Unknown::from(unread->front()), {});
      return;
    }
  }
  const UnitSetting* setting = last_of(unit.files.settings, name);
  if (setting == nullptr) {
    setting = last_of(unit.manager.settings, "Default" + name);
  }
  if (setting == nullptr) {
    both(Absent{"no file sets it"}, seen(unit.files.files.empty() ? "" : unit.files.files.front()));
    return;
  }
  facts::Evidence evidence = seen(survey.tilde(setting->file), setting->line);
  const auto limit = parse_unit_limit(setting->value);
  if (!limit) {
    both(Unknown{Why::unreadable, setting->key + "=" + setting->value + " is no limit", ""},
         evidence);
    return;
  }
  survey.add(soft_key, Value::scalar(limit->soft), evidence);
  survey.add(hard_key, Value::scalar(limit->hard), std::move(evidence));
}

Unit read_unit(const host::Host& host, const std::string& name, const std::string& home) {
  return {read_unit_files(host, name, home), read_manager_settings(host, !home.empty())};
}

void run(Survey& survey) {
  if (!survey.wants_below("limits")) {
    return;
  }
  const host::Process* process = survey.host().process();
  if (process != nullptr && !process->unit.empty()) {
    const std::string home = process->is_user_unit ? process->home : "";
    const std::string& name = process->unit;
    const std::string label = (process->is_user_unit ? "user-unit:" : "unit:") +
                              (name.ends_with(".service") ? name.substr(0, name.rfind('.')) : name);
    const Unit unit = read_unit(*process->machine, name, home);
    for (const auto& [resource, setting] : kResources) {
      add(survey, unit, std::string(resource), label);
    }
    return;
  }
  std::map<std::string, Unit> units;
  for (const facts::FactKey& key : survey.request().named) {
    const auto named =
        key.name.starts_with("limits.") ? unit_of_label(survey.host(), key.label) : std::nullopt;
    if (!named) {
      continue;
    }
    auto at = units.find(key.label);
    if (at == units.end()) {
      at = units.emplace(key.label, read_unit(survey.host(), named->name, named->home)).first;
    }
    const std::string rest = key.name.substr(std::string_view("limits.").size());
    add(survey, at->second, rest.substr(0, rest.find('.')), key.label);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"limits.**"});

/// "8388608" of "8M", "unlimited" of "infinity".
std::optional<std::string> one_limit(std::string_view text) {
  text = trim(text);
  if (text == "infinity") {
    return "unlimited";
  }
  constexpr std::string_view kUnits = "KMGTPE";
  std::uint64_t factor = 1;
  if (!text.empty()) {
    const std::size_t unit = kUnits.find(text.back());
    if (unit != std::string_view::npos) {
      factor = std::uint64_t{1} << (10 * (unit + 1));
      text.remove_suffix(1);
    }
  }
  const auto number = to_number(text);
  if (!number || (factor > 1 && *number > UINT64_MAX / factor)) {
    return std::nullopt;
  }
  return std::to_string(*number * factor);
}

}  // namespace

std::optional<UnitLimit> parse_unit_limit(std::string_view value) {
  const std::size_t colon = value.find(':');
  const auto soft = one_limit(value.substr(0, colon));
  const auto hard = colon == std::string_view::npos ? soft : one_limit(value.substr(colon + 1));
  return soft && hard ? std::optional(UnitLimit{*soft, *hard}) : std::nullopt;
}

extern const Probe unit_limits{.name = "unit_limits", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
