#include "version/satisfiable.h"

#include <string_view>
#include <vector>

#include "version/clause.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/rpm.h"

namespace goldenv::version {
namespace {

/// One end of what a clause lets through.
struct Bound {
  std::string text;
  bool inclusive = false;
  const Clause* clause = nullptr;  ///< for the message
};

struct Bounds {
  std::vector<Bound> lows;
  std::vector<Bound> highs;
};

std::string render_clause(Scheme scheme, const Clause& clause) {
  return render(Constraint{scheme, {clause}});
}

std::string exclude_each_other(Scheme scheme, const Clause& a, const Clause& b) {
  return quoted(render_clause(scheme, a)) + " and " + quoted(render_clause(scheme, b)) +
         " exclude each other";
}

bool has_numeric_wildcards(Scheme scheme) {
  return scheme == Scheme::dotted || scheme == Scheme::pep440;
}

/// First version that "`prefix`.*" lets through, and first after all of them.
std::string first_of_wildcard(Scheme scheme, const std::string& prefix) {
  return scheme == Scheme::pep440 ? prefix + ".dev0" : prefix;
}

Bounds bounds_of(const Constraint& constraint) {
  Bounds bounds;
  for (const Clause& clause : constraint.clauses) {
    switch (clause.op) {
      case Op::ge:
      case Op::gt:
      case Op::compatible:
        bounds.lows.push_back({clause.text, clause.op != Op::gt, &clause});
        break;
      case Op::le:
      case Op::lt:
        bounds.highs.push_back(
            {upper_end(constraint.scheme, clause), clause.op == Op::le, &clause});
        break;
      case Op::wildcard:
        if (has_numeric_wildcards(constraint.scheme)) {
          bounds.lows.push_back({first_of_wildcard(constraint.scheme, clause.text), true, &clause});
        }
        break;
      default:
        break;
    }
    if (has_numeric_wildcards(constraint.scheme) &&
        (clause.op == Op::wildcard || clause.op == Op::compatible)) {
      const std::string prefix = clause.op == Op::wildcard
                                     ? clause.text
                                     : compatible_prefix(constraint.scheme, clause.text);
      bounds.highs.push_back(
          {first_of_wildcard(constraint.scheme, after_prefix(prefix)), false, &clause});
    }
  }
  return bounds;
}

bool has_release(std::string_view rpm_version) { return rpm::parts_of(rpm_version).has_release; }

/// Whether an open end at a version shuts out everything that compares equal to it. In rpm a bound
/// with a release compares equal to one without, which has more behind it.
bool shuts_out(Scheme scheme, const Bound& end, const Bound& other) {
  return !end.inclusive &&
         (scheme != Scheme::rpm || !has_release(end.text) || has_release(other.text));
}

bool nothing_between(Scheme scheme, const Bound& low, const Bound& high) {
  const auto order = compare_in_clause(scheme, low.text, high.text);
  if (order != 0) return order > 0;
  return shuts_out(scheme, low, high) || shuts_out(scheme, high, low);
}

std::optional<std::string> bounds_conflict(const Constraint& constraint) {
  const Bounds bounds = bounds_of(constraint);
  for (const Bound& low : bounds.lows) {
    for (const Bound& high : bounds.highs) {
      if (low.clause != high.clause && nothing_between(constraint.scheme, low, high)) {
        return exclude_each_other(constraint.scheme, *low.clause, *high.clause);
      }
    }
  }
  return std::nullopt;
}

/// The lower end raised past each "!=...*" that it stands in, as far as they go.
Bound raised_past_wildcards(const Constraint& constraint, Bound low) {
  bool raised = true;
  while (raised) {
    raised = false;
    for (const Clause& clause : constraint.clauses) {
      if (clause.op != Op::not_wildcard) continue;
      const std::string end = first_of_wildcard(constraint.scheme, after_prefix(clause.text));
      const std::string start = first_of_wildcard(constraint.scheme, clause.text);
      if (compare_in_clause(constraint.scheme, low.text, start) >= 0 &&
          compare_in_clause(constraint.scheme, low.text, end) < 0) {
        low = {end, true, &clause};
        raised = true;
      }
    }
  }
  return low;
}

/// The stretch between the highest lower and the lowest upper end, where != leaves nothing of it.
std::optional<std::string> stretch_conflict(const Constraint& constraint) {
  const Scheme scheme = constraint.scheme;
  const Bounds bounds = bounds_of(constraint);
  // Ends that compare equal in rpm may be apart: there is no stretch to speak of.
  if (scheme == Scheme::rpm || bounds.lows.empty()) return std::nullopt;
  Bound low = bounds.lows.front();
  for (const Bound& other : bounds.lows) {
    const auto order = compare_in_clause(scheme, other.text, low.text);
    if (order > 0 || (order == 0 && !other.inclusive)) low = other;
  }
  if (has_numeric_wildcards(scheme)) low = raised_past_wildcards(constraint, low);
  for (const Bound& high : bounds.highs) {
    if (nothing_between(scheme, low, high)) return "its clauses leave nothing between them";
    if (compare_in_clause(scheme, low.text, high.text) != 0) continue;
    // One version is left, for Python with all its local builds.
    for (const Clause& clause : constraint.clauses) {
      if (clause.op == Op::ne && meets_clause(scheme, clause, low.text) == Truth::no) {
        return "its clauses leave only " + quoted(low.text) + ", which " +
               quoted(render_clause(scheme, clause)) + " excludes";
      }
    }
  }
  return std::nullopt;
}

/// Whether == on `text` lets through only what every other clause treats alike: not so without a
/// local label or an rpm release, which the version may have all the same.
bool is_point(Scheme scheme, std::string_view text) {
  if (scheme == Scheme::rpm) return has_release(text);
  if (scheme != Scheme::pep440) return true;
  const auto parts = pep440::parse(text);
  return parts && !parts->local.empty();
}

/// The == clause that says most: one with a local label or an rpm release, if there is one.
const Clause* most_specific(const Constraint& constraint) {
  const Clause* found = nullptr;
  for (const Clause& clause : constraint.clauses) {
    if (clause.op != Op::eq) continue;
    if (!found ||
        (!is_point(constraint.scheme, found->text) && is_point(constraint.scheme, clause.text))) {
      found = &clause;
    }
  }
  return found;
}

/// == leaves its own version, which every other clause must let through.
std::optional<std::string> equal_conflict(const Constraint& constraint) {
  const Scheme scheme = constraint.scheme;
  const Clause* equal = most_specific(constraint);
  if (!equal) return std::nullopt;
  for (const Clause& clause : constraint.clauses) {
    const bool wildcard = clause.op == Op::wildcard || clause.op == Op::not_wildcard;
    // These match wildcards by text, of which == leaves several (1.02 and 1.2).
    if (wildcard &&
        (scheme == Scheme::debian || scheme == Scheme::rpm || scheme == Scheme::conda)) {
      continue;
    }
    // A release in one clause alone says nothing of the other's.
    if (scheme == Scheme::rpm && !has_release(equal->text) && has_release(clause.text) &&
        compare_in_clause(scheme, equal->text, clause.text) == 0) {
      continue;
    }
    if (meets_clause(scheme, clause, equal->text) == Truth::no) {
      return exclude_each_other(scheme, *equal, clause);
    }
  }
  return std::nullopt;
}

/// What a wildcard lets through begins with its text, which may settle another clause.
std::optional<std::string> wildcard_conflict(const Constraint& constraint) {
  for (const Clause& wildcard : constraint.clauses) {
    if (wildcard.op != Op::wildcard) continue;
    for (const Clause& clause : constraint.clauses) {
      if (prefix_meets_clause(constraint.scheme, clause, wildcard.text) == Truth::no) {
        return exclude_each_other(constraint.scheme, wildcard, clause);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> conflict(const Constraint& constraint) {
  if (auto found = equal_conflict(constraint)) return found;
  if (auto found = wildcard_conflict(constraint)) return found;
  // Ordered clauses on a kernel are about its upstream level.
  const Constraint ordered = constraint.scheme == Scheme::kernel
                                 ? Constraint{Scheme::dotted, ordered_clauses(constraint).clauses}
                                 : constraint;
  if (auto found = bounds_conflict(ordered)) return found;
  return stretch_conflict(ordered);
}

}  // namespace goldenv::version
