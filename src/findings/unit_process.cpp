#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 2> kKeys = {"env", "limits"};
constexpr std::string_view kNotSet = "not set";
constexpr std::string_view kVisible = "env.CUDA_VISIBLE_DEVICES";

bool is_unit(std::string_view label) {
  return label.starts_with("unit:") || label.starts_with("user-unit:");
}

/// What a fact says in words that can be compared; none where it is not known.
std::optional<std::string> said(const facts::Fact* fact) {
  if (fact == nullptr || std::holds_alternative<facts::Unknown>(fact->reading)) {
    return std::nullopt;
  }
  return std::holds_alternative<facts::Absent>(fact->reading) ? std::string(kNotSet)
                                                              : facts::describe(fact->reading);
}

/// A process keeps what it was started with: what its unit's files say since then it has not.
void look_at_member(const View& view, const facts::Fact& of_unit, std::vector<Finding>& found) {
  const facts::Snapshot& snapshot = view.snapshot();
  const auto* set = std::get_if<facts::Value>(&of_unit.reading);
  const auto has = said(snapshot.find({of_unit.key.name, ""}));
  const std::string text = set == nullptr ? "" : facts::describe(of_unit.reading);
  if (set == nullptr || !has || *has == text) {
    return;
  }
  const std::string name = of_unit.key.name.substr(of_unit.key.name.find('.') + 1);
  found.push_back({{},
                   facts::Level::should,
                   name + " is " + text + " by the files of " + of_unit.key.label +
                       (*has == kNotSet ? ", its process lacks it" : ", its process has " + *has),
                   "it was started before they were changed, or what starts it sets it anew",
                   "systemctl daemon-reload, then restart the service",
                   {of_unit.key, {of_unit.key.name, ""}}});
}

/// What a shell exports never reaches a service: the choice of GPUs least of all.
void look_at_shell(const View& view, std::vector<Finding>& found) {
  const facts::Snapshot& snapshot = view.snapshot();
  const facts::Fact* shell = snapshot.find({std::string(kVisible), "shell"});
  const facts::Fact* own = snapshot.find({std::string(kVisible), ""});
  const facts::Fact* unit = nullptr;
  for (const facts::Fact& fact : snapshot.instances(kVisible)) {
    unit = is_unit(fact.key.label) ? &fact : unit;
  }
  const bool is_set = shell != nullptr && std::holds_alternative<facts::Value>(shell->reading);
  const bool is_missing = own != nullptr && std::holds_alternative<facts::Absent>(own->reading);
  if (unit == nullptr || !is_set || !is_missing ||
      !std::holds_alternative<facts::Absent>(unit->reading)) {
    return;
  }
  found.push_back({{},
                   facts::Level::should,
                   "CUDA_VISIBLE_DEVICES is " + facts::describe(shell->reading) +
                       " in the shell, the process of " + unit->key.label + " lacks it",
                   "the service uses every GPU, also those that others were given",
                   "set it in the unit: Environment=CUDA_VISIBLE_DEVICES=...; what a shell exports "
                   "does not reach services",
                   {shell->key, own->key}});
}

void look(const View& view, std::vector<Finding>& found) {
  for (const std::string_view family : {"env.", "limits."}) {
    // Facts of one name stand together, the one without label first.
    std::string_view before;
    for (const facts::Fact& fact : view.snapshot().facts) {
      if (!fact.key.name.starts_with(family) || !is_unit(fact.key.label)) {
        continue;
      }
      if (fact.key.name != before) {
        before = fact.key.name;
        look_at_member(view, fact, found);
      }
    }
  }
  look_at_shell(view, found);
}

}  // namespace

extern const Rule unit_process{"unit-process", kKeys, look};

}  // namespace goldenv::findings
