#include "launch/variables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"

namespace goldenv::launch {
namespace {

using Table = std::map<std::string, std::string, std::less<>>;

/// Whether "NCCL_*" or "PATH" names it.
bool names(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

bool any_names(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return names(pattern, name); });
}

bool holds(When when, const Environment& environment) {
  switch (when) {
    case When::always:
      return true;
    case When::with_python:
      return !environment.python.empty();
    case When::with_toolkit:
      return environment.has_toolkit;
  }
  return false;
}

const Rule* rule_of(std::string_view name, const Environment& environment) {
  for (const Rule& rule : rules()) {
    if (names(rule.name, name) && holds(rule.when, environment)) {
      return &rule;
    }
  }
  return nullptr;
}

/// A value with the environment's words in it. What these hold is not looked at again.
std::string filled(std::string_view value, const Environment& environment) {
  std::string text;
  while (!value.empty()) {
    const std::size_t at = value.find("${");
    text += value.substr(0, at);
    if (at == std::string_view::npos) {
      break;
    }
    value.remove_prefix(at);
    if (value.starts_with("${prefix}")) {
      text += environment.prefix;
      value.remove_prefix(9);
    } else if (value.starts_with("${name}")) {
      text += environment.name;
      value.remove_prefix(7);
    } else {
      text += "${";
      value.remove_prefix(2);
    }
  }
  return text;
}

std::string without_final_slashes(std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return std::string(folder);
}

/// PATH with the environment's folder first and without the folders of others. All else keeps its
/// place, empty entries too, which mean the working folder.
std::string path_of(const Environment& environment, const Table& ambient, bool clean) {
  const std::string own = environment.prefix + "/bin";
  const auto found = ambient.find("PATH");
  if (clean || found == ambient.end()) {
    return own + ":" + std::string(kSystemPath);
  }
  std::vector<std::string> others;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto other = ambient.find(name);
    if (other != ambient.end() && other->second.starts_with('/')) {
      others.push_back(without_final_slashes(other->second) + "/bin");
    }
  }
  // Its neighbours are what an outer goldenv has put there.
  const std::string neighbours = environment.prefix.substr(0, environment.prefix.rfind('/') + 1);
  std::string path = own;
  for (const std::string_view entry : split(found->second, ':')) {
    const std::string folder = without_final_slashes(entry);
    const bool neighbour =
        neighbours.size() > 1 && folder.starts_with(neighbours) && folder.ends_with("/bin");
    if (!neighbour && std::ranges::find(others, folder) == others.end()) {
      path += ":" + std::string(entry);
    }
  }
  return path;
}

Result<void> check_pattern(std::string_view option, std::string_view pattern) {
  const std::string_view name =
      pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (pattern.empty() ||
      name.find_first_of(std::string_view("=*\0", 3)) != std::string_view::npos) {
    return Error{Errc::usage,
                 std::string(option) + " takes a variable's name or NAME*, not \"" +
                     std::string(pattern) + "\"",
                 {}};
  }
  return {};
}

Result<void> check(const Environment& environment, const Choices& choices) {
  if (!environment.prefix.starts_with('/') ||
      environment.prefix.find_first_of(std::string_view(":\0", 2)) != std::string::npos) {
    return Error{Errc::failed,
                 "an environment in " + environment.prefix +
                     " cannot be used: its folder must be absolute, and ':' cannot stand in PATH",
                 {}};
  }
  for (const Variable& variable : environment.variables) {
    const Rule* rule = rule_of(variable.name, environment);
    if (!is_name(variable.name) || variable.value.find('\0') != std::string::npos) {
      return Error{Errc::failed, "a recipe sets a variable that is none: " + variable.name, {}};
    }
    if (rule != nullptr && (rule->action == Action::put_first || rule->action == Action::drop)) {
      return Error{Errc::failed,
                   "a recipe sets " + variable.name + ", which no recipe may: it " +
                       std::string(rule->reason),
                   {}};
    }
  }
  for (const std::string& pattern : choices.keep) {
    if (const Result<void> fit = check_pattern("--keep", pattern); !fit) {
      return fit.error();
    }
  }
  for (const std::string& pattern : choices.drop) {
    if (const Result<void> fit = check_pattern("--drop", pattern); !fit) {
      return fit.error();
    }
    if (std::ranges::find(choices.keep, pattern) != choices.keep.end()) {
      return Error{Errc::usage, pattern + " is both kept and dropped", {}};
    }
  }
  for (const Variable& variable : choices.set) {
    if (variable.name.empty() ||
        variable.name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
        variable.value.find('\0') != std::string::npos) {
      return Error{Errc::usage, "--set takes NAME=VALUE, not \"" + variable.name + "\"", {}};
    }
    if (std::ranges::find(choices.keep, variable.name) != choices.keep.end() ||
        std::ranges::find(choices.drop, variable.name) != choices.drop.end()) {
      return Error{Errc::usage, variable.name + " is set, and kept or dropped as well", {}};
    }
  }
  return {};
}

}  // namespace

const std::string* Plan::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(variables, name, {}, &Variable::name);
  return found != variables.end() && found->name == name ? &found->value : nullptr;
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
         std::ranges::all_of(text, fits);
}

std::vector<Variable> parse_environ(const char* const* environ) {
  std::vector<Variable> variables;
  for (; environ != nullptr && *environ != nullptr; ++environ) {
    const std::string_view entry = *environ;
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals != 0) {
      variables.push_back(
          {std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))});
    }
  }
  return variables;
}

Result<Plan> plan(const Environment& environment, const std::vector<Variable>& ambient,
                  const Choices& choices) {
  if (const Result<void> fit = check(environment, choices); !fit) {
    return fit.error();
  }
  Table caller;
  for (const Variable& variable : ambient) {
    caller.emplace(variable.name, variable.value);
  }
  Plan made;
  Table table;
  Table own;  // what is not the caller's
  for (const auto& entry : caller) {
    const std::string& name = entry.first;
    const bool clean =
        choices.clean && !std::ranges::any_of(clean_names(), [&](std::string_view pattern) {
          return names(pattern, name);
        });
    const Rule* rule = clean ? nullptr : rule_of(name, environment);
    const bool kept = any_names(choices.keep, name);
    if (!kept && any_names(choices.drop, name)) {
      continue;
    }
    if (kept || (!clean && (rule == nullptr || rule->action == Action::warn))) {
      table.insert(entry);
    }
    if (!kept && rule != nullptr &&
        (rule->action == Action::drop || rule->action == Action::warn)) {
      made.decisions.push_back({name, rule->action, std::string(rule->reason)});
    }
  }
  const auto set = [&](const std::string& name, std::string value) {
    if (!any_names(choices.keep, name) && !any_names(choices.drop, name)) {
      own.insert_or_assign(name, std::move(value));
    }
  };
  for (const Rule& rule : rules()) {
    if (holds(rule.when, environment) && rule.action == Action::set) {
      set(std::string(rule.name), filled(rule.value, environment));
    }
  }
  set("PATH", path_of(environment, caller, choices.clean));
  for (const Variable& variable : environment.variables) {
    set(variable.name, filled(variable.value, environment));
  }
  for (const Variable& variable : choices.set) {
    own.insert_or_assign(variable.name, variable.value);
  }
  for (auto& [name, value] : own) {
    made.set.push_back(name);
    table.insert_or_assign(name, std::move(value));
  }
  // Whoever sets a variable himself need not be told that the caller's was dropped.
  std::erase_if(made.decisions,
                [&](const Decision& decision) { return own.contains(decision.name); });
  for (const auto& [name, value] : caller) {
    if (!table.contains(name)) {
      made.unset.push_back(name);
    }
  }
  for (const Rule& rule : rules()) {
    const std::string name(rule.name);
    if (rule.action == Action::drop && is_name(name) && rule_of(name, environment) == &rule &&
        !table.contains(name) && !any_names(choices.keep, name)) {
      made.unwanted.push_back(name);
    }
  }
  std::ranges::sort(made.unwanted);
  for (auto& [name, value] : table) {
    made.variables.push_back({name, std::move(value)});
  }
  return made;
}

}  // namespace goldenv::launch
