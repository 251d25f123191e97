// For pid:N and unit:NAME: the variables that others have beside the process's own. Those of a unit
// stand in its files, those of a user's manager in environment.d, those of the shell are goldenv's.
// Of any other source those of a unit that is asked for by name, env.X@unit:NAME.
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "facts/variable_names.h"
#include "host/process.h"
#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/redact.h"
#include "probe/unit_files.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// A place in which a variable may be set.
struct Context {
  std::string label;
  std::string from;
  std::map<std::string, SetVariable, std::less<>> set;
  std::vector<Error> unread;
  bool is_there = true;
};

Context of_files(std::string label, std::string from, UnitEnvironment environment) {
  Context context{std::move(label), std::move(from), {}, std::move(environment.unread), true};
  for (SetVariable& variable : environment.variables) {
    const std::string name = variable.name;
    context.set.emplace(name, std::move(variable));
  }
  return context;
}

Context of_shell(const host::Host& machine) {
  Context context{"shell", "environment of goldenv", {}, {}, true};
  const auto names = machine.variables();
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    if (const auto value = machine.variable(name)) {
      context.set[name] = {name, *value, "", "", 0};
    }
  }
  if (!names) {
    context.unread.push_back(names.error());
  }
  return context;
}

/// `home`: of the user whose unit it is, "" for one of the system's.
Context of_unit(const host::Host& machine, std::string label, const std::string& unit,
                const std::string& home) {
  const UnitFiles files = read_unit_files(machine, unit, home);
  Context context =
      of_files(std::move(label), files.files.empty() ? "files of " + unit : files.files.front(),
               environment_of_unit(machine, files, unit, home));
  context.is_there = files.is_there();
  return context;
}

Value value_of(std::string_view name, const std::string& text) {
  if (!facts::is_listed_variable(name)) {
    return Value::scalar("sha256:" + Sha256::of(text).hex());
  }
  if (!name.ends_with("PATH")) {
    return Value::scalar(text);
  }
  std::vector<std::string> folders;
  const std::string safe = redact(text);
  for (const std::string_view folder :
       text.empty() ? std::vector<std::string_view>{} : split(safe, ':')) {
    folders.emplace_back(folder);
  }
  return Value::list(std::move(folders));
}

void add(Survey& survey, const Context& context, const std::string& name) {
  const auto at = context.set.find(name);
  facts::Evidence evidence = seen(context.from);
  Reading reading = Absent{context.is_there ? "not set there" : "no such unit"};
  if (at != context.set.end() && !at->second.file.empty()) {
    evidence = seen(survey.tilde(at->second.file), at->second.line);
  }
  if (!context.unread.empty()) {
    // What could not be read could set it, or set it anew.
    reading = Unknown::from(context.unread.front());
  } else if (at != context.set.end()) {
    reading = at->second.value ? Reading(value_of(name, *at->second.value))
                               : Reading(Unknown{Why::unsupported, at->second.why, ""});
  }
  survey.add("env." + name + "@" + context.label, std::move(reading), std::move(evidence));
}

void add_named(Survey& survey) {
  std::map<std::string, Context> contexts;
  for (const facts::FactKey& key : survey.request().named) {
    const auto unit =
        key.name.starts_with("env.") ? unit_of_label(survey.host(), key.label) : std::nullopt;
    if (!unit) {
      continue;
    }
    auto at = contexts.find(key.label);
    if (at == contexts.end()) {
      at = contexts.emplace(key.label, of_unit(survey.host(), key.label, unit->name, unit->home))
               .first;
    }
    add(survey, at->second, key.name.substr(std::string_view("env.").size()));
  }
}

void run(Survey& survey) {
  const host::Process* process = survey.host().process();
  if (!survey.wants_below("env")) {
    return;
  }
  if (process == nullptr) {
    add_named(survey);
    return;
  }
  const host::Host& machine = *process->machine;
  std::vector<Context> contexts{of_shell(machine)};
  if (!process->unit.empty()) {
    const std::string& unit = process->unit;
    const std::string home = process->is_user_unit ? process->home : "";
    const std::string label = unit.ends_with(".service") ? unit.substr(0, unit.rfind('.')) : unit;
    contexts.push_back(
        of_unit(machine, (process->is_user_unit ? "user-unit:" : "unit:") + label, unit, home));
    if (process->is_user_unit) {
      contexts.push_back(
          of_files("user-manager", "environment.d", environment_of_user_manager(machine, home)));
    }
  }
  const auto named = survey.named_below("env");
  std::set<std::string> names(named.begin(), named.end());
  if (survey.wants("env")) {
    for (const Context& context : contexts) {
      for (const auto& [name, variable] : context.set) {
        if (facts::is_listed_variable(name)) {
          names.insert(name);
        }
      }
    }
    const auto own = survey.host().variables();
    for (const std::string& name : own ? *own : std::vector<std::string>{}) {
      if (facts::is_listed_variable(name)) {
        names.insert(name);
      }
    }
  }
  for (const std::string& name : names) {
    for (const Context& context : contexts) {
      add(survey, context, name);
    }
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"env.**"});

}  // namespace

extern const Probe unit_environment{.name = "unit_environment", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
