// What a fact may show.
#include <string>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "facts/variable_names.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kDigest = "sha256:";

bool is_digest(std::string_view text) {
  return text.starts_with(kDigest) && Sha256::parse(text.substr(kDigest.size()));
}

void hide_variable(facts::Fact& fact) {
  constexpr std::string_view kFamily = "env.";
  auto* value = std::get_if<facts::Value>(&fact.reading);
  if (value == nullptr || !fact.key.name.starts_with(kFamily) ||
      facts::is_listed_variable(std::string_view(fact.key.name).substr(kFamily.size()))) {
    return;
  }
  if (value->form == facts::Value::Form::scalar && !is_digest(value->text)) {
    fact.reading = facts::Value::scalar(std::string(kDigest) + Sha256::of(value->text).hex());
  } else if (value->form != facts::Value::Form::scalar) {
    fact.reading = facts::Unknown{facts::Why::not_stated, "the value itself is not shown", ""};
  }
}

}  // namespace

void redact(facts::Reading& reading) {
  if (auto* value = std::get_if<facts::Value>(&reading)) {
    redact_in_place(value->text);
    for (std::string& item : value->items) {
      redact_in_place(item);
    }
    for (auto& [name, amount] : value->entries) {
      redact_in_place(name);
      redact_in_place(amount);
    }
  } else if (auto* absent = std::get_if<facts::Absent>(&reading)) {
    redact_in_place(absent->reason);
  } else if (auto* unknown = std::get_if<facts::Unknown>(&reading)) {
    redact_in_place(unknown->detail);
  }
}

void redact(facts::Evidence& evidence) {
  redact_in_place(evidence.from);
  for (std::string& note : evidence.notes) {
    redact_in_place(note);
  }
}

void redact(facts::Snapshot& snapshot) {
  // Hundreds of facts come from one file.
  std::string_view seen;
  for (facts::Fact& fact : snapshot.facts) {
    hide_variable(fact);
    if (auto* value = std::get_if<facts::Value>(&fact.reading);
        value != nullptr && fact.key.name.ends_with("kernel.cmdline")) {
      value->items = redact_cmdline(std::move(value->items));
    }
    redact(fact.reading);
    if (!fact.evidence.notes.empty() || fact.evidence.from != seen) {
      redact(fact.evidence);
      seen = fact.evidence.from;
    }
  }
}

}  // namespace goldenv::probe
