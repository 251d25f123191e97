#include "findings/finding.h"

#include <algorithm>
#include <iterator>

#include "findings/rule.h"

namespace goldenv::findings {

std::vector<Finding> contradictions(const facts::Snapshot& snapshot) {
  const View view(snapshot);
  std::vector<Finding> found;
  for (const Rule* rule : rules()) {
    const std::size_t before = found.size();
    rule->look(view, found);
    for (std::size_t i = before; i < found.size(); ++i) {
      found[i].rule = rule->name;
    }
  }
  std::ranges::stable_sort(found, {}, &Finding::level);
  return found;
}

std::vector<std::string_view> keys() {
  std::vector<std::string_view> all;
  for (const Rule* rule : rules()) {
    all.insert(all.end(), rule->keys.begin(), rule->keys.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<facts::FactKey> keys_beside(const facts::Snapshot& snapshot) {
  constexpr std::string_view kNext = "next_boot.";
  std::vector<facts::FactKey> beside;
  for (const facts::Fact& fact : View(snapshot).below(kNext)) {
    facts::FactKey now{fact.key.name.substr(kNext.size()), ""};
    if (fact.key.label.empty() && std::holds_alternative<facts::Value>(fact.reading) &&
        facts::entry_of(now.name) != nullptr && snapshot.find(now) == nullptr) {
      beside.push_back(std::move(now));
    }
  }
  // Of another kernel the modules that stand ready for it; of the running one they were asked.
  const View view(snapshot);
  if (const auto next = view.text("next_boot.kernel"); next && next != view.text("kernel")) {
    for (const std::string_view key : keys()) {
      facts::FactKey then{std::string(key), *next};
      if (key.starts_with("module.") && key.find(".on_disk") != std::string_view::npos &&
          snapshot.find(then) == nullptr) {
        beside.push_back(std::move(then));
      }
    }
  }
  return beside;
}

std::optional<std::string> View::text(std::string_view name, std::string_view label) const {
  const facts::Value* found = value(name, label);
  return found != nullptr && found->form == facts::Value::Form::scalar ? std::optional(found->text)
                                                                       : std::nullopt;
}

const facts::Value* View::value(std::string_view name, std::string_view label) const {
  const facts::Fact* fact = snapshot_.find({std::string(name), std::string(label)});
  return fact == nullptr ? nullptr : std::get_if<facts::Value>(&fact->reading);
}

bool View::absent(std::string_view name, std::string_view label) const {
  return std::holds_alternative<facts::Absent>(
      snapshot_.read({std::string(name), std::string(label)}).reading);
}

std::span<const facts::Fact> View::below(std::string_view prefix) const {
  const auto& all = snapshot_.facts;
  const auto first = std::ranges::lower_bound(
      all, prefix, {}, [](const facts::Fact& fact) { return std::string_view(fact.key.name); });
  const auto last = std::find_if_not(
      first, all.end(), [&](const facts::Fact& fact) { return fact.key.name.starts_with(prefix); });
  return std::span(first, last);
}

bool differs(const facts::Value& value, std::string_view text) {
  switch (value.form) {
    case facts::Value::Form::scalar:
      return value.text != text;
    case facts::Value::Form::prefix:
      return !text.starts_with(value.text);
    case facts::Value::Form::tally:
      return std::ranges::any_of(value.entries,
                                 [&](const auto& entry) { return entry.first != text; });
    default:
      return false;
  }
}

}  // namespace goldenv::findings
