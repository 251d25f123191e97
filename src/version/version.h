#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"

namespace goldenv::version {

/// How versions of one kind are written and ordered. A version alone has no order: order belongs
/// to a scheme.
enum class Scheme {
  dotted,  ///< numbers and dots (535.129.03, 12.1.1, 8.9.2.26): compared number by number
  kernel,  ///< uname release (5.4.0-149-generic, 6.1-arch1)
  debian,  ///< [epoch:]upstream[-revision], deb-version(7)
  rpm,     ///< [epoch:]version[-release], rpmvercmp
  pep440,  ///< Python: epoch, pre, post, dev, +local
  conda,   ///< conda's own order
};

/// "dotted", "kernel", ...; parse_scheme is its inverse. Errors: malformed.
std::string_view name(Scheme scheme);
Result<Scheme> parse_scheme(std::string_view name);

/// A version as written, with what its scheme's order needs beside it. The text names downloads,
/// so it is kept to the letter: "535.129.03" keeps its zero. Two versions of one order may differ
/// in text (12.1 and 12.1.0 in PEP 440).
struct Version {
  Scheme scheme = Scheme::dotted;
  std::string text;

  friend bool operator==(const Version&, const Version&) = default;
};

/// Without blanks around it, at most 256 bytes. Errors: malformed; the message says what is wrong
/// and where: `"535..03" is no version: empty part after "535."`.
Result<Version> parse(Scheme scheme, std::string_view text);

/// Order of two versions of one scheme (asserted). `equal` is equality in the scheme's order: for
/// dotted 12.1 < 12.1.0 (a shorter one is less only if all else is equal), for pep440 1.0 == 1.0.0,
/// for kernel the number runs then the words, rpmvercmp-like.
std::strong_ordering order(const Version& a, const Version& b);

/// The leftmost part in which two versions differ.
enum class Part { none, epoch, major, minor, patch, build };
enum class Direction { same, newer, older };  ///< of b, seen from a

struct Change {
  Direction direction = Direction::same;
  Part part = Part::none;
  friend bool operator==(const Change&, const Change&) = default;
};

/// How b differs from a. Numbers 1, 2, 3 of the release are major, minor, patch; whatever comes
/// after (fourth number, distribution revision, local label, pre/post/dev, words) is build.
/// 535.129.01 -> 535.129.03 is {newer, patch}; 2.2.1+cu118 -> 2.2.1+cu121 {newer, build};
/// 5.4.0-149-generic -> 5.4.0-150-generic {newer, build}; texts of equal order are {same, none}
/// if the same text and {same, build} if not.
Change change(const Version& a, const Version& b);

std::string_view name(Part part);            ///< "major", ...
std::string_view name(Direction direction);  ///< "same", "newer", "older"

/// One comparison of a constraint.
enum class Op { eq, ne, ge, gt, le, lt, compatible, wildcard, not_wildcard };

struct Clause {
  Op op = Op::eq;
  std::string text;  ///< the version, or for wildcards what stands before ".*"
  friend bool operator==(const Clause&, const Clause&) = default;
};

/// A conjunction of clauses: ">=12.1,<13", "12.1.*", "~=2.2", "!=2.31".
struct Constraint {
  Scheme scheme = Scheme::dotted;
  std::vector<Clause> clauses;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

/// Whether a text begins like a constraint (an operator, a comma or a final ".*") and is not just
/// a version.
bool looks_like_constraint(std::string_view text);

/// Whether an operator asks for an order: >=, >, <=, <, ~=.
constexpr bool is_ordered(Op op) {
  return op != Op::eq && op != Op::ne && op != Op::wildcard && op != Op::not_wildcard;
}

/// Clauses with blanks around operators and commas allowed. Errors: malformed (what is wrong and at
/// which byte of the text, from 1), also where no version at all can meet it (">=2,<1", "==1,==2").
/// For the kernel scheme the operands of ordered clauses are upstream levels (dotted). Python's
/// ordered operands have no local label, as PEP 440 rules. ~= has no meaning for Debian and rpm.
Result<Constraint> parse_constraint(Scheme scheme, std::string_view text);
std::string render(const Constraint& constraint);

/// Upstream level under a kernel release.
struct Upstream {
  std::string text;    ///< "6.1.192", or "5.4" where exact is false
  bool exact = false;  ///< false: only these leading parts are certain
  friend bool operator==(const Upstream&, const Upstream&) = default;
};

/// Whether a version meets the constraint. PEP 440's rules where the scheme is pep440 (== without
/// local ignores the local label of the candidate; ~=; wildcards; pre-releases are NOT excluded).
/// Dotted versions are padded with zeros (12.1 meets ==12.1.0 and <=12.1.0). An rpm operand without
/// a release is met by any release. On a kernel ==, != and wildcards are about the release text,
/// ordered clauses about the upstream level: that of a kernel version as far as its release decides
/// it, and a dotted version is one. Debian and rpm wildcards go by text ("535.129.*" is met by
/// 535.129.03-1). A version of another scheme is read anew in the constraint's, and unknown if it
/// cannot be.
Truth meets(const Constraint& constraint, const Version& version);

/// Whether a kernel meets a constraint of the kernel scheme: its release text the clauses that are
/// not ordered, its upstream level those that are.
Truth meets_kernel(const Constraint& constraint, const Version& release, const Upstream& upstream);

/// The clauses of a constraint that are ordered (on a kernel: about the upstream level), and the
/// others (about the release text).
Constraint ordered_clauses(const Constraint& constraint);
Constraint exact_clauses(const Constraint& constraint);

/// Whether a version meets it of which only the first parts are known ("570.124" of 570.124.06):
/// unknown unless every completion answers the same. The prefix itself is one, more text begins a
/// new part, and an epoch, if there is one, is part of the prefix. For ordered clauses of a kernel
/// constraint a dotted prefix is that of the upstream level.
Truth meets_prefix(const Constraint& constraint, std::string_view known_prefix);

/// Whether `known_prefix` ends at a part boundary of `full` and agrees with it: "570.124" with
/// "570.124.06" is yes, "570.12" no. A boundary is anywhere but inside a run of digits or of
/// letters.
bool is_prefix(std::string_view known_prefix, std::string_view full);

/// From uname's release and version, and Ubuntu's /proc/version_signature (empty where there is
/// none). Debian's and Ubuntu's third number is a placeholder (6.1.0-57 is 6.1.192), so there only
/// the build text decides the patch level. Sample build texts:
/// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3 (2026-..)", signature
/// "Ubuntu 5.4.0-169.187-generic 5.4.257". Errors: malformed.
Result<Upstream> kernel_upstream(std::string_view release, std::string_view build,
                                 std::string_view signature);

/// Integer version codes of NVIDIA's libraries.
enum class Code { nccl, cudnn, cuda };
/// nccl: 2708 -> 2.7.8, 21903 -> 2.19.3; cudnn: 8902 -> 8.9.2, 90100 -> 9.1.0; cuda: 12010 -> 12.1.
/// Errors: malformed for codes that no release can have (0, negative forms).
Result<std::string> from_code(Code code, std::uint64_t value);
/// Inverse of from_code for a dotted text of two (cuda) or three parts.
Result<std::uint64_t> to_code(Code code, std::string_view text);

}  // namespace goldenv::version
