// The source's own environment variables (of a process: those that it began with), by an
// allow-list; of any other at most a digest, and only where it was asked for by name.
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "facts/variable_names.h"
#include "probe/instances.h"
#include "probe/mapped_library.h"
#include "probe/probe.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Value;

constexpr std::string_view kFrom = "environment";

/// Folders of *PATH, empty ones kept (the loader takes them for the current folder).
Value value_of(std::string_view name, const std::string& text) {
  if (!name.ends_with("PATH")) {
    return Value::scalar(text);
  }
  std::vector<std::string> folders;
  if (!text.empty()) {
    // Before it is split: the parts of a URL no longer show that one of them is a password.
    const std::string safe = redact(text);
    for (const std::string_view folder : split(safe, ':')) {
      folders.emplace_back(folder);
    }
  }
  return Value::list(std::move(folders));
}

void add_variable(Survey& survey, const std::string& name) {
  const Result<std::string> text = survey.host().variable(name);
  const host::Process* process = survey.host().process();
  facts::Evidence evidence =
      process == nullptr ? seen(kFrom) : seen("/proc/" + std::to_string(process->pid) + "/environ");
  if (process != nullptr) {
    evidence.notes = process->notes;
    if (process->pid == 0) {
      evidence.from = process->name;
    }
  }
  Reading reading = Absent{"not set"};
  if (text && facts::is_listed_variable(name)) {
    reading = value_of(name, *text);
  } else if (text) {
    reading = Value::scalar("sha256:" + Sha256::of(*text).hex());
    evidence.notes.emplace_back("the value itself is not shown");
  } else if (text.error().code != Errc::absent) {
    reading = unseen_of_process(survey, text.error());
  }
  survey.add("env." + name, std::move(reading), std::move(evidence));
}

void run(Survey& survey) {
  if (!survey.wants_below("env")) {
    return;
  }
  const auto named = survey.named_below("env");
  std::set<std::string> names(named.begin(), named.end());
  if (survey.wants("env")) {  // the whole family
    const auto set = survey.host().variables();
    if (set) {
      for (const std::string& name : *set) {
        if (facts::is_listed_variable(name)) {
          names.insert(name);
        }
      }
      survey.listed("env");
    } else if (survey.host().process() != nullptr) {
      // What steers libraries most, so that it is said why nothing is known of any.
      names.insert({"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH"});
    }
  }
  for (const std::string& name : names) {
    add_variable(survey, name);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"env.**"});

}  // namespace

extern const Probe environment{.name = "environment", .keys = kKeys, .run = run};

}  // namespace goldenv::probe
