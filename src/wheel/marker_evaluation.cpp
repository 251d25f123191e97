#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "version/pep440.h"
#include "wheel/marker.h"
#include "wheel/marker_variables.h"
#include "wheel/name.h"
#include "wheel/specifier.h"

namespace goldenv::wheel {
namespace {

using Value = std::optional<std::string> MarkerEnvironment::*;

constexpr std::array<std::pair<std::string_view, Value>, 11> kValues{{
    {"implementation_name", &MarkerEnvironment::implementation_name},
    {"implementation_version", &MarkerEnvironment::implementation_version},
    {"os_name", &MarkerEnvironment::os_name},
    {"platform_machine", &MarkerEnvironment::platform_machine},
    {"platform_python_implementation", &MarkerEnvironment::platform_python_implementation},
    {"platform_release", &MarkerEnvironment::platform_release},
    {"platform_system", &MarkerEnvironment::platform_system},
    {"platform_version", &MarkerEnvironment::platform_version},
    {"python_full_version", &MarkerEnvironment::python_full_version},
    {"python_version", &MarkerEnvironment::python_version},
    {"sys_platform", &MarkerEnvironment::sys_platform},
}};

constexpr std::array<std::string_view, 3> kOwn{"extra", "extras", "dependency_groups"};

/// Spellings from before PEP 508.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOlder{{
    {"os.name", "os_name"},
    {"sys.platform", "sys_platform"},
    {"platform.version", "platform_version"},
    {"platform.machine", "platform_machine"},
    {"platform.python_implementation", "platform_python_implementation"},
    {"python_implementation", "platform_python_implementation"},
}};

/// As texts, byte by byte.
Truth compare_texts(std::string_view left, std::string_view op, std::string_view right) {
  if (op == "in") return truth(right.find(left) != std::string_view::npos);
  if (op == "not in") return truth(right.find(left) == std::string_view::npos);
  if (op == "==") return truth(left == right);
  if (op == "!=") return truth(left != right);
  if (op == "===") return truth(to_lower(left) == to_lower(right));
  if (op == "<") return truth(left < right);
  if (op == "<=") return truth(left <= right);
  if (op == ">") return truth(left > right);
  if (op == ">=") return truth(left >= right);
  return Truth::unknown;
}

Truth compare(std::string_view left, std::string_view op, std::string_view right) {
  const bool names = op == "in" || op == "not in";
  if (!names && right.find(',') == std::string_view::npos && version::pep440::parse(left)) {
    if (const auto specifier = parse_specifiers(std::string(op) + std::string(right));
        specifier && !specifier->empty()) {
      return truth(contains(*specifier, left));
    }
  }
  return compare_texts(left, op, right);
}

/// `"x" in extras`.
Truth is_listed(std::string_view name, std::string_view op, const std::vector<std::string>& list) {
  const std::string wanted = normalised_name(name);
  const bool there = std::ranges::any_of(
      list, [&](const std::string& entry) { return normalised_name(entry) == wanted; });
  if (op == "in") return truth(there);
  return op == "not in" ? truth(!there) : Truth::unknown;
}

Truth evaluate_comparison(const Marker& marker, const MarkerEnvironment& environment) {
  if (marker.right_is_variable) {
    if (const auto* list = variable_list(marker.right, environment)) {
      return marker.left_is_variable ? Truth::unknown : is_listed(marker.left, marker.op, *list);
    }
  }
  const auto value = [&](const std::string& side, bool is_variable) {
    return is_variable ? variable_value(side, environment) : std::optional(side);
  };
  auto left = value(marker.left, marker.left_is_variable);
  auto right = value(marker.right, marker.right_is_variable);
  if (!left || !right) return Truth::unknown;
  const bool about_extra = (marker.left_is_variable && marker.left == "extra") ||
                           (marker.right_is_variable && marker.right == "extra");
  if (about_extra) return compare(normalised_name(*left), marker.op, normalised_name(*right));
  return compare(*left, marker.op, *right);
}

}  // namespace

std::string_view variable_name(std::string_view word) {
  for (const auto& [older, name] : kOlder) {
    if (word == older) return name;
  }
  for (const auto& [name, value] : kValues) {
    if (word == name) return name;
  }
  const auto* const own = std::ranges::find(kOwn, word);
  return own == kOwn.end() ? std::string_view() : *own;
}

std::optional<std::string> variable_value(std::string_view name,
                                          const MarkerEnvironment& environment) {
  if (name == "extra") return environment.extra;
  for (const auto& [known, value] : kValues) {
    if (name == known) return environment.*value;
  }
  return std::nullopt;
}

const std::vector<std::string>* variable_list(std::string_view name,
                                              const MarkerEnvironment& environment) {
  if (name == "extras") return &environment.extras;
  return name == "dependency_groups" ? &environment.dependency_groups : nullptr;
}

MarkerEnvironment linux_environment(std::string_view full_version, std::string_view machine) {
  MarkerEnvironment environment;
  if (!machine.empty()) environment.platform_machine = std::string(machine);
  const auto parts = version::pep440::parse(full_version);
  if (parts && parts->release.size() >= 2) {
    environment.python_version =
        std::string(parts->release[0]) + "." + std::string(parts->release[1]);
  }
  if (parts && parts->release.size() >= 3) {
    environment.python_full_version = std::string(full_version);
    environment.implementation_version = std::string(full_version);
  }
  return environment;
}

Truth evaluate(const Marker& marker, const MarkerEnvironment& environment) {
  if (marker.kind == Marker::Kind::comparison) return evaluate_comparison(marker, environment);
  const bool all = marker.kind == Marker::Kind::all;
  Truth found = truth(all);
  for (const Marker& part : marker.parts) {
    const Truth holds = evaluate(part, environment);
    found = all ? found & holds : found | holds;
  }
  return found;
}

Truth holds(const Marker& marker, MarkerEnvironment environment,
            const std::vector<std::string>& extras) {
  if (extras.empty()) {
    environment.extra.clear();
    return evaluate(marker, environment);
  }
  Truth found = Truth::no;
  for (const std::string& extra : extras) {
    environment.extra = extra;
    found = found | evaluate(marker, environment);
  }
  return found;
}

}  // namespace goldenv::wheel
