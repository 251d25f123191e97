#include "probe/instances.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

std::string counted_text(const facts::Reading& reading) {
  const auto* value = std::get_if<facts::Value>(&reading);
  if (value == nullptr) {
    return "absent";
  }
  switch (value->form) {
    case facts::Value::Form::list:
      return join(value->items, ",");
    case facts::Value::Form::scalar:
      return value->text;
    default:
      return facts::describe(reading);
  }
}

}  // namespace

facts::Evidence seen(std::string_view path, std::uint32_t line) {
  facts::Evidence evidence;
  evidence.from = path;
  evidence.line = line;
  return evidence;
}

facts::Evidence seen(std::string_view path, std::string note) {
  facts::Evidence evidence = seen(path);
  evidence.notes.push_back(std::move(note));
  return evidence;
}

void Instances::add(std::string label, facts::Reading reading, facts::Evidence evidence) {
  facts_.push_back({{"", std::move(label)}, std::move(reading), std::move(evidence)});
}

facts::Reading Instances::common(facts::Reading none) const {
  if (facts_.empty()) {
    return none;
  }
  const auto unknown = std::ranges::find_if(facts_, [](const facts::Fact& fact) {
    return std::holds_alternative<facts::Unknown>(fact.reading);
  });
  if (unknown != facts_.end()) {
    facts::Unknown reading = std::get<facts::Unknown>(unknown->reading);
    if (facts_.size() > 1) {
      reading.detail = unknown->key.label + (reading.detail.empty() ? "" : ": " + reading.detail);
    }
    return reading;
  }
  if (std::ranges::all_of(facts_, [&](const facts::Fact& fact) {
        return fact.reading == facts_.front().reading;
      })) {
    return facts_.front().reading;
  }
  std::map<std::string, std::uint64_t> counts;
  for (const facts::Fact& fact : facts_) {
    ++counts[counted_text(fact.reading)];
  }
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [text, count] : counts) {
    entries.emplace_back(text, std::to_string(count));
  }
  return facts::Value::tally(std::move(entries));
}

void Instances::record(Survey& survey, std::string_view key, const facts::Reading& none) const {
  if (!survey.wants(key)) {
    return;
  }
  for (const facts::Fact& fact : facts_) {
    survey.add(std::string(key) + "@" + fact.key.label, fact.reading, fact.evidence);
  }
  facts::Reading reading = common(none);
  // Of GPUs `none` also tells whether there may be more than were found.
  const facts::Entry* entry = facts::entry_of(key);
  const bool may_be_more =
      entry != nullptr && entry->label == "GPU" && std::holds_alternative<facts::Unknown>(none);
  add_missing(survey, key, may_be_more ? none : reading);
  survey.add(key, std::move(reading), seen(where_));
}

void Instances::add_missing(Survey& survey, std::string_view key,
                            const facts::Reading& reading) const {
  const facts::Entry* entry = facts::entry_of(key);
  if (entry == nullptr || entry->label == "PCI address") {
    return;  // of devices only those that matter are looked at
  }
  for (const std::string& label : survey.labels_of(key)) {
    const std::string name = std::string(key) + "@" + label;
    if (survey.holds(name)) {
      continue;
    }
    const auto* unknown = std::get_if<facts::Unknown>(&reading);
    survey.add(
        name,
        unknown != nullptr ? facts::Reading(*unknown) : facts::Reading(facts::Absent{missing()}),
        seen(where_));
  }
}

std::string Instances::missing() const {
  return facts_.empty()       ? "there is none"
         : facts_.size() == 1 ? "there is only " + facts_.front().key.label
                              : "there are " + std::to_string(facts_.size()) + ", " +
                                    facts_.front().key.label + " to " + facts_.back().key.label;
}

}  // namespace goldenv::probe
