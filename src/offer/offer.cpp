#include "offer/offer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/text.h"
#include "facts/catalogue.h"
#include "tables/releases.h"

namespace goldenv::offer {
namespace {

using facts::Value;

constexpr std::string_view kInstalledKernels = "kernel.installed";

/// The versions that a value holds: itself, or those that instances or copies have.
std::vector<std::string> versions_in(const Value& value) {
  std::vector<std::string> all;
  switch (value.form) {
    case Value::Form::scalar:
      all.push_back(value.text);
      break;
    case Value::Form::set:
    case Value::Form::list:
      all = value.items;
      break;
    case Value::Form::map:
    case Value::Form::tally:
      for (const auto& [version, count] : value.entries) {
        all.push_back(version);
      }
      break;
    case Value::Form::prefix:
    case Value::Form::one_of:
      break;  // no version is certain
  }
  return all;
}

/// Keys beside a component's own that tell more of it.
std::vector<std::string> beside(const std::string& key) {
  std::vector<std::string> all;
  if (facts::entry_of(key + ".copies") != nullptr) {
    all.push_back(key + ".copies");
  }
  if (key == "kernel") {
    all.emplace_back(kInstalledKernels);
  }
  return all;
}

Result<std::optional<version::Version>> end_of(std::string_view text, version::Scheme scheme) {
  text = trim(text);
  if (text.empty()) {
    return std::optional<version::Version>{};
  }
  auto version = version::parse(scheme, text);
  if (!version) {
    return Error{Errc::usage, "--between: " + version.error().message, {}};
  }
  return std::optional<version::Version>(*std::move(version));
}

}  // namespace

Offers from_tables(std::string_view component) {
  Offers offers;
  for (const tables::Release& release : tables::releases_of(component).releases) {
    offers.offers.push_back({release.version, "table", release.note, release.date});
  }
  return offers;
}

std::vector<std::string> keys_to_look_at(std::span<const std::string> keys) {
  std::vector<std::string> all;
  for (const std::string& key : keys) {
    all.push_back(key);
    for (std::string& more : beside(key)) {
      all.push_back(std::move(more));
    }
  }
  return all;
}

Offers from_snapshot(const facts::Snapshot& snapshot, std::span<const std::string> keys) {
  Offers offers;
  const std::vector<std::string> all = keys_to_look_at(keys);
  for (const facts::Fact& fact : snapshot.facts) {
    if (std::ranges::find(all, fact.key.name) == all.end()) {
      continue;
    }
    if (const auto* value = std::get_if<Value>(&fact.reading)) {
      for (std::string& version : versions_in(*value)) {
        offers.offers.push_back({std::move(version), "installed", fact.key.text(), ""});
      }
    } else if (const auto* unknown = std::get_if<facts::Unknown>(&fact.reading);
               unknown != nullptr && unknown->why != facts::Why::not_stated) {
      // Where nothing states it nothing was kept from being read.
      offers.unread.push_back(fact.key.text() + ": " + facts::describe(*unknown));
    }
  }
  return offers;
}

Result<Interval> parse_interval(std::string_view text, version::Scheme scheme) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return Error{Errc::usage,
                 "--between \"" + shortened(text) + "\" is no interval; expected A..B, A.. or ..B",
                 {}};
  }
  Interval interval;
  GOLDENV_TRY(interval.from, end_of(text.substr(0, dots), scheme));
  GOLDENV_TRY(interval.to, end_of(text.substr(dots + 2), scheme));
  if (interval.from && interval.to &&
      version::order(*interval.to, *interval.from) == std::strong_ordering::less) {
    return Error{Errc::usage,
                 "--between: " + interval.from->text + " is newer than " + interval.to->text +
                     "; expected the older one first",
                 {}};
  }
  return interval;
}

std::vector<Version> merge(std::vector<Offer> offers, version::Scheme scheme,
                           const Interval& interval) {
  std::map<std::string, std::vector<Offer>> by_text;
  for (Offer& offer : offers) {
    std::vector<Offer>& same = by_text[offer.version];
    if (std::ranges::find(same, offer) == same.end()) {
      same.push_back(std::move(offer));
    }
  }
  struct Row {
    std::optional<version::Version> version;
    Version out;
  };
  std::vector<Row> rows;
  const bool bounded = interval.from || interval.to;
  for (auto& [text, same] : by_text) {
    Row row;
    if (auto version = version::parse(scheme, text)) {
      row.version = *std::move(version);
    }
    const auto less = std::strong_ordering::less;
    if (bounded &&
        (!row.version || (interval.from && version::order(*row.version, *interval.from) == less) ||
         (interval.to && version::order(*interval.to, *row.version) == less))) {
      continue;
    }
    row.out = {text, std::move(same)};
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    if (!a.version || !b.version) {
      return a.version && !b.version;
    }
    return version::order(*b.version, *a.version) == std::strong_ordering::less;
  });
  std::vector<Version> versions;
  versions.reserve(rows.size());
  for (Row& row : rows) {
    versions.push_back(std::move(row.out));
  }
  return versions;
}

}  // namespace goldenv::offer
