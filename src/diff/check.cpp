#include "diff/check.h"

#include <algorithm>

#include "base/text.h"
#include "diff/compare.h"
#include "facts/want.h"

namespace goldenv::diff {
namespace {

using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Value;
using facts::Want;
using manifest::Pin;

const FactKey kUpstream{"kernel.upstream", ""};

/// The reading that a wanted value would be, so that a difference has two sides.
Reading wanted_reading(const Want& want) {
  switch (want.kind) {
    case Want::Kind::absent:
      return facts::Absent{};
    case Want::Kind::exact:
      return want.value;
    default:
      return facts::Unknown{facts::Why::not_stated, "", ""};
  }
}

void classify_pin(Difference& difference, const Want& want, bool headline_same) {
  if (want.kind == Want::Kind::exact || want.kind == Want::Kind::absent) {
    classify(difference, headline_same);
  } else if (std::holds_alternative<facts::Absent>(difference.b)) {
    difference.kind = Kind::missing;
  } else {
    difference.kind = Kind::unmet;
  }
}

/// Whether an instance has a value that the wanted count does not name.
bool is_uncounted(const Value& wanted, const Reading& found) {
  const auto* value = std::get_if<Value>(&found);
  return value != nullptr && std::ranges::none_of(wanted.entries, [&](const auto& entry) {
           return entry.first == value->text;
         });
}

/// Instances of a key that is pinned for all of them, where they disagree: the odd ones are the
/// evidence.
std::vector<std::string> odd_instances(const facts::Snapshot& snapshot, const Pin& pin,
                                       const facts::Entry& entry, const Reading& found,
                                       const Reading& upstream) {
  std::vector<std::string> odd;
  const auto* value = std::get_if<Value>(&found);
  if (value == nullptr || value->form != Value::Form::tally || !pin.key.label.empty()) {
    return odd;
  }
  const FactKey first{pin.key.name, std::string(1, '\0')};
  for (auto it = std::ranges::lower_bound(snapshot.facts, first, {}, &Fact::key);
       it != snapshot.facts.end() && it->key.name == pin.key.name; ++it) {
    const bool is_odd = pin.want.value.form == Value::Form::tally
                            ? is_uncounted(pin.want.value, it->reading)
                            : facts::meets(entry, pin.want, it->reading, upstream) == Truth::no;
    if (is_odd) {
      odd.push_back(it->key.text() + " is " + facts::describe(it->reading));
    }
  }
  return odd;
}

/// Whether the version that a build belongs to is as the manifest pins it.
bool is_headline_met(const manifest::Manifest& manifest, const facts::Entry& entry,
                     const FactKey& key, const facts::Snapshot& snapshot, const Reading& upstream) {
  const std::string name = facts::headline_of(entry, key.name);
  const Pin* headline = name.empty() ? nullptr : manifest.find({name, key.label});
  const facts::Entry* of = headline == nullptr ? nullptr : facts::entry_of(name);
  return of != nullptr && facts::meets(*of, headline->want, snapshot.read(headline->key).reading,
                                       upstream) == Truth::yes;
}

void check_pin(Check& result, const Pin& pin, const manifest::Manifest& manifest,
               const facts::Snapshot& snapshot, const Reading& upstream) {
  const facts::Entry* entry = facts::entry_of(pin.key.name);
  if (entry == nullptr) {
    return;
  }
  const Truth applies = pin.when ? pin.when->holds(snapshot) : Truth::yes;
  if (applies == Truth::no) {
    ++result.not_applying;
    return;
  }
  ++result.pins;
  result.must_pins += pin.level == facts::Level::must ? 1 : 0;
  Fact fact = snapshot.read(pin.key);
  fact.reading = facts::counted_for(pin.want, snapshot, pin.key, std::move(fact.reading));
  const Truth met = facts::meets(*entry, pin.want, fact.reading, upstream);
  if (applies == Truth::unknown || met == Truth::unknown) {
    Undecided undecided{pin.key, entry, pin.level, {}, fact.reading, facts::describe(pin.want)};
    if (std::holds_alternative<Value>(fact.reading)) {
      undecided.why = facts::why_undecided(*entry, pin.want, fact.reading);
    }
    if (applies == Truth::unknown) {
      undecided.why.clear();
      const std::string why = pin.when->why_unknown(snapshot);
      undecided.b = facts::Unknown{
          facts::Why::not_probed,
          "its condition is not known: " + pin.when->text() + (why.empty() ? "" : " (" + why + ")"),
          ""};
    }
    result.undecided.push_back(std::move(undecided));
    return;
  }
  if (met == Truth::yes) {
    return;
  }
  Difference difference;
  difference.key = pin.key;
  difference.entry = entry;
  difference.level = pin.level;
  difference.a = wanted_reading(pin.want);
  difference.b = fact.reading;
  difference.evidence_b = fact.evidence;
  difference.wanted = facts::describe(pin.want);
  difference.why = pin.why;
  difference.file = pin.file;
  difference.mark = pin.mark;
  for (std::string& odd : odd_instances(snapshot, pin, *entry, fact.reading, upstream)) {
    difference.evidence_b.notes.push_back(std::move(odd));
  }
  classify_pin(difference, pin.want,
               is_headline_met(manifest, *entry, pin.key, snapshot, upstream));
  result.differences.push_back(std::move(difference));
}

/// Whether the fact is pinned, or tells more of one that is: who allows a package allows where it
/// came from.
bool is_pinned(const manifest::Manifest& manifest, const facts::Entry& entry, const FactKey& key) {
  return manifest.find(key) != nullptr ||
         (key.name.starts_with("python.package.") &&
          manifest.find({facts::headline_of(entry, key.name), key.label}) != nullptr);
}

/// The family that a pattern speaks of: what stands before its first wildcard, up to a dot.
std::string fixed_part(const std::string& pattern) {
  const std::size_t wild = pattern.find_first_of("*?");
  if (wild == std::string::npos) {
    return pattern;
  }
  const std::size_t dot = pattern.substr(0, wild).rfind('.');
  return dot == std::string::npos ? "" : pattern.substr(0, dot);
}

bool is_closed(const std::string& pattern, const std::string& name) {
  return glob_matches(pattern, name) || glob_matches(pattern + ".**", name);
}

void check_closed(Check& result, const manifest::Manifest& manifest,
                  const facts::Snapshot& snapshot) {
  for (const std::string& pattern : manifest.closed) {
    // One fact of a family does not say that all of it was looked at; only the list does.
    const std::string base = fixed_part(pattern);
    const bool seen = std::ranges::any_of(snapshot.listed, [&](const std::string& family) {
      return !base.empty() && (family == base || facts::in_family(base, family));
    });
    for (const Fact& fact : snapshot.facts) {
      const facts::Entry* entry = facts::entry_of(fact.key.name);
      if (entry == nullptr || !is_closed(pattern, fact.key.name)) {
        continue;
      }
      if (!takes_part(*entry, fact.key) || is_pinned(manifest, *entry, fact.key) ||
          std::holds_alternative<facts::Absent>(fact.reading)) {
        continue;
      }
      if (std::holds_alternative<facts::Unknown>(fact.reading)) {
        result.undecided.push_back({fact.key,
                                    entry,
                                    manifest.closed_level,
                                    {},
                                    fact.reading,
                                    "nothing unpinned (closed: " + pattern + ")"});
        continue;
      }
      Difference difference;
      difference.key = fact.key;
      difference.entry = entry;
      difference.level = manifest.closed_level;
      difference.kind = Kind::extra;
      difference.a = facts::Absent{"closed: " + pattern};
      difference.b = fact.reading;
      difference.evidence_b = fact.evidence;
      difference.wanted = "nothing unpinned (closed: " + pattern + ")";
      result.differences.push_back(std::move(difference));
    }
    if (!seen) {
      const FactKey key{pattern, ""};
      static constexpr facts::Entry kFamily{};
      result.undecided.push_back(
          {key,
           &kFamily,
           manifest.closed_level,
           {},
           facts::Unknown{facts::Why::not_probed, "the family was not listed", ""},
           "nothing unpinned"});
    }
  }
}

}  // namespace

Check check(const manifest::Manifest& manifest, const facts::Snapshot& snapshot) {
  Check result;
  const Reading upstream = snapshot.read(kUpstream).reading;
  for (const Pin& pin : manifest.pins) {
    check_pin(result, pin, manifest, snapshot, upstream);
  }
  check_closed(result, manifest, snapshot);
  sort(result.differences);
  result.differences = fold(std::move(result.differences));
  sort(result.undecided);
  return result;
}

std::vector<FactKey> keys_of(const manifest::Manifest& manifest) {
  std::vector<FactKey> keys = {{"host.name", ""}};
  for (const Pin& pin : manifest.pins) {
    keys.push_back(pin.key);
    if (pin.when) {
      for (FactKey& key : pin.when->keys()) {
        keys.push_back(std::move(key));
      }
    }
  }
  if (std::ranges::any_of(keys, [](const FactKey& key) { return key.name == "kernel"; })) {
    keys.push_back(kUpstream);
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<std::string> families_of(const manifest::Manifest& manifest) {
  std::vector<std::string> families;
  for (const std::string& pattern : manifest.closed) {
    families.push_back(fixed_part(pattern));
  }
  return families;
}

bool differs_at(const Check& check, facts::Level level) {
  const auto weighs = [&](const Difference& difference) { return difference.level <= level; };
  return std::ranges::any_of(check.differences, [&](const Difference& difference) {
    return weighs(difference) || std::ranges::any_of(difference.with, weighs);
  });
}

bool undecided_at(const Check& check, facts::Level level) {
  return std::ranges::any_of(check.undecided,
                             [&](const Undecided& undecided) { return undecided.level <= level; });
}

}  // namespace goldenv::diff
