#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/reading.h"
#include "facts/snapshot.h"
#include "probe/probe.h"

namespace goldenv::test {

/// What one probe finds on a machine.
inline facts::Snapshot scan(const host::Host& host, const probe::Probe& probe,
                            probe::Request request = {}) {
  probe::Survey survey(host, std::move(request));
  probe.run(survey);
  return std::move(survey).snapshot("@test");
}

/// A request for these keys and nothing else.
inline probe::Request only(const std::vector<std::string>& keys) {
  probe::Request request;
  for (const std::string& key : keys) {
    request.named.push_back(facts::FactKey::parse(key));
  }
  request.only_named = true;
  return request;
}

/// Adds these keys to a full scan.
inline probe::Request also(const std::vector<std::string>& keys) {
  probe::Request request = only(keys);
  request.only_named = false;
  return request;
}

/// A stored reading in words: "535.129.03", "absent (not loaded)", "unknown (denied)"; "not
/// recorded" where the snapshot has no such fact.
inline std::string told(const facts::Snapshot& snapshot, std::string_view key) {
  const facts::Fact* fact = snapshot.find(facts::FactKey::parse(key));
  if (fact == nullptr) {
    return "not recorded";
  }
  // The detail of an unknown is for people and not part of what tests hold fast here.
  if (const auto* unknown = std::get_if<facts::Unknown>(&fact->reading)) {
    return "unknown (" + std::string(facts::name(unknown->why)) +
           (unknown->needs.empty() ? "" : ", needs " + unknown->needs) + ")";
  }
  return facts::describe(fact->reading);
}

inline std::string told(const host::Host& host, const probe::Probe& probe, std::string_view key,
                        probe::Request request = {}) {
  return told(scan(host, probe, std::move(request)), key);
}

}  // namespace goldenv::test
