#include "probe/probe.h"

#include <algorithm>

#include "base/text.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

// Views are computed from a stored fact, so asking for the view means asking for that fact.
std::string stored_name(std::string_view name) {
  const facts::Entry* entry = facts::entry_of(name);
  return entry != nullptr && !entry->view.empty() ? std::string(entry->view) : std::string(name);
}

}  // namespace

Survey::Survey(const host::Host& host, Request request)
    : host_(host), request_(std::move(request)) {
  for (const facts::FactKey& key : request_.named) {
    wanted_.push_back(stored_name(key.name));
  }
  std::ranges::sort(wanted_);
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  home_ = host_.variable("HOME").value_or("");
}

bool Survey::takes(std::string_view name) const {
  return !request_.only_named &&
         (request_.selection.empty() || request_.selection.may_select_at(name));
}

bool Survey::wants(std::string_view name) const {
  return takes(name) || std::ranges::binary_search(wanted_, name) ||
         std::ranges::any_of(request_.families, [&](const std::string& family) {
           return name == family || facts::in_family(name, family);
         });
}

bool Survey::wants_below(std::string_view family) const {
  if (takes(family)) {
    return true;
  }
  const std::string start = std::string(family) + ".";
  const auto first = std::ranges::lower_bound(wanted_, start);
  return (first != wanted_.end() && first->starts_with(start)) ||
         std::ranges::any_of(request_.families, [&](const std::string& whole) {
           return whole == family || facts::in_family(family, whole) ||
                  facts::in_family(whole, family);
         });
}

std::vector<std::string> Survey::named_below(std::string_view family) const {
  const std::string start = std::string(family) + ".";
  std::vector<std::string> names;
  for (auto it = std::ranges::lower_bound(wanted_, start);
       it != wanted_.end() && it->starts_with(start); ++it) {
    names.push_back(it->substr(start.size()));
  }
  return names;
}

std::vector<std::string> Survey::labels_of(std::string_view name) const {
  std::vector<std::string> labels;
  for (const facts::FactKey& key : request_.named) {
    if (key.name == name && !key.label.empty()) {
      labels.push_back(key.label);
    }
  }
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

void Survey::add(std::string_view key, facts::Reading reading, facts::Evidence evidence) {
  facts::FactKey parsed = facts::FactKey::parse(key);
  if (!wants(parsed.name)) {
    return;
  }
  // The last gate: whatever a probe overlooked, a text that looks like a secret leaves no further.
  redact(reading);
  redact(evidence);
  facts_.push_back({std::move(parsed), std::move(reading), std::move(evidence)});
}

bool Survey::holds(std::string_view key) const {
  return std::ranges::find(facts_, facts::FactKey::parse(key), &facts::Fact::key) != facts_.end();
}

void Survey::listed(std::string_view family) { listed_.emplace_back(family); }

std::string Survey::tilde(std::string_view path) const {
  if (home_.size() > 1 && path.starts_with(home_) &&
      (path.size() == home_.size() || path[home_.size()] == '/')) {
    return "~" + std::string(path.substr(home_.size()));
  }
  return std::string(path);
}

std::string Survey::untilde(std::string_view label) const {
  if (!home_.empty() && (label == "~" || label.starts_with("~/"))) {
    return (home_ == "/" && label.size() > 1 ? "" : home_) + std::string(label.substr(1));
  }
  return std::string(label);
}

facts::Snapshot Survey::snapshot(std::string source) && {
  return facts::make_snapshot(std::move(source), std::move(listed_), std::move(facts_));
}

namespace {

/// Keys of the catalogue of which a selection may take something, views as what they are of.
std::vector<std::string_view> keys_taken(const facts::Selection& selection) {
  std::vector<std::string_view> keys;
  for (const facts::Entry& entry : facts::catalogue()) {
    if (selection.may_select(entry)) {
      keys.push_back(entry.view.empty() ? entry.key : entry.view);
    }
  }
  return keys;
}

}  // namespace

facts::Snapshot look(const host::Host& host, const Request& request, std::string source) {
  Survey survey(host, request);
  const bool selects = !request.only_named && !request.selection.empty();
  const std::vector<std::string_view> taken =
      selects ? keys_taken(request.selection) : std::vector<std::string_view>{};
  std::vector<std::string> named;
  for (const facts::FactKey& key : request.named) {
    named.push_back(stored_name(key.name));
  }
  for (const Probe* probe : probes()) {
    const auto gives = [&](std::string_view name) {
      return std::ranges::any_of(
          probe->keys, [&](std::string_view pattern) { return glob_matches(pattern, name); });
    };
    // A family is asked of every probe that has a pattern at or below it.
    const auto gives_some_of = [&](const std::string& family) {
      return gives(family) || std::ranges::any_of(probe->keys, [&](std::string_view pattern) {
               return facts::in_family(pattern, family) || glob_matches(pattern, family + ".x");
             });
    };
    const bool wanted = (!request.only_named && !selects) || std::ranges::any_of(taken, gives) ||
                        std::ranges::any_of(named, gives) ||
                        std::ranges::any_of(request.families, gives_some_of);
    if (wanted) {
      probe->run(survey);
    }
  }
  return std::move(survey).snapshot(std::move(source));
}

facts::Reading one_line(const host::Host& host, std::string_view path) {
  const Result<std::string> text = host.read_file(path, 4096);
  if (!text) {
    return facts::unread(text.error());
  }
  // The kernel ends each with a newline, also one that says nothing.
  if (text->empty()) {
    return facts::Unknown{facts::Why::unreadable, "it is empty, not even a line", ""};
  }
  return facts::Value::scalar(std::string(trim(*text)));
}

}  // namespace goldenv::probe
