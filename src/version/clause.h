#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/truth.h"
#include "version/version.h"

namespace goldenv::version {

/// Order as ordered clauses and == use it, where it is not the scheme's own: dotted versions are
/// padded with zeros, Python's local labels and a missing rpm release do not count.
std::strong_ordering compare_in_clause(Scheme scheme, std::string_view a, std::string_view b);

/// Whether a version of the scheme meets one clause. For ordered clauses on a kernel release that
/// is its upstream level, unknown where the release does not decide it.
Truth meets_clause(Scheme scheme, const Clause& clause, std::string_view version);

/// Whether every version that begins with `prefix` meets the clause (yes), none does (no), or some
/// do or that cannot be told (unknown).
Truth prefix_meets_clause(Scheme scheme, const Clause& clause, std::string_view prefix);

/// What stands before ".*" in the wildcard that ~= implies: "2.2" for "~=2.2.1".
std::string compatible_prefix(Scheme scheme, std::string_view text);

/// Whether ~= has a meaning for the scheme's versions.
constexpr bool has_compatible(Scheme scheme) {
  return scheme == Scheme::dotted || scheme == Scheme::kernel || scheme == Scheme::pep440 ||
         scheme == Scheme::conda;
}

/// The version that what meets a `<` or `<=` clause stands before. PEP 440's <V leaves out V's own
/// pre-releases where V is a plain release: there it is V.dev0.
std::string upper_end(Scheme scheme, const Clause& clause);

/// The smallest version after all that begin with the numbers of `prefix`: "12.2" for "12.1".
std::string after_prefix(std::string_view prefix);

}  // namespace goldenv::version
