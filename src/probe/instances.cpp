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

void Instances::record(Survey& survey, std::string_view key, facts::Reading none) const {
  if (!survey.wants(key)) {
    return;
  }
  for (const facts::Fact& fact : facts_) {
    survey.add(std::string(key) + "@" + fact.key.label, fact.reading, fact.evidence);
  }
  survey.add(key, common(std::move(none)), seen(where_));
}

}  // namespace goldenv::probe
