#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/snapshot.h"
#include "host/host.h"
#include "recipe/recipe.h"
#include "version/version.h"

// Which versions of a component there are, and where: in goldenv's tables, among what the
// distribution offers, on the machine. Each place gives offers of one form, so that another one (an
// index, a store) is one more function that gives such.
//
// apt's lists are read as they lie in /var/lib/apt/lists, in place of asking apt: on a tree there
// is no apt to ask, and a list tells the same.
namespace goldenv::offer {

/// One version at one place.
struct Offer {
  std::string version;
  std::string origin;  ///< "table", "distribution", "installed", "store", "index"
  std::string detail;  ///< which package, key, file; "" where the origin says it all
  std::string date;    ///< of the release, "2024-02-26"; "" where it is not known
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// What one place offers, and what of it could not be read: then more may be there.
struct Offers {
  std::vector<Offer> offers;
  std::vector<std::string> unread;
  friend bool operator==(const Offers&, const Offers&) = default;
};

/// From tables/releases.h, by the component's key.
Offers from_tables(std::string_view component);

/// What apt's lists name: the packages of the recipe's `deb` sources, at each version. Nothing
/// where the recipe has none, or the machine no apt.
Offers from_distribution(const host::Host& host, const recipe::Recipe& recipe);

/// What is known to be on a machine: values under these keys, their instances and copies, and of
/// the kernel the installed ones.
Offers from_snapshot(const facts::Snapshot& snapshot, std::span<const std::string> keys);
/// The keys that it looks at, to be probed.
std::vector<std::string> keys_to_look_at(std::span<const std::string> keys);

/// One version with all places that have it.
struct Version {
  std::string text;
  std::vector<Offer> offers;
  friend bool operator==(const Version&, const Version&) = default;
};

/// An interval of versions, both ends in it; an empty end is open.
struct Interval {
  std::optional<version::Version> from;
  std::optional<version::Version> to;
};
/// "2.18..2.20.5", "2.18..", "..2.20.5". Errors: usage (no "..", malformed versions, turned round).
Result<Interval> parse_interval(std::string_view text, version::Scheme scheme);

/// Newest first in the order of the scheme; equal texts are one. What is no version of the scheme
/// stands last, and is in no interval.
std::vector<Version> merge(std::vector<Offer> offers, version::Scheme scheme,
                           const Interval& interval = {});

}  // namespace goldenv::offer
