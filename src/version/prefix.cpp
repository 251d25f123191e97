// What can be said of a version of which only the leading parts are known.
#include <optional>
#include <string>
#include <vector>

#include "version/clause.h"
#include "version/debian.h"
#include "version/dotted.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/rpm.h"
#include "version/satisfiable.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

Truth negated_if(bool negated, Truth truth) { return negated ? !truth : truth; }

/// Where all of `prefix`'s completions lie, as dotted or Python versions: from `low` on and before
/// `high`.
struct Span {
  std::string low;
  std::string high;
};

Truth span_meets_wildcard(Scheme scheme, const Span& span, const Span& wildcard) {
  const auto order = [scheme](const std::string& a, const std::string& b) {
    return compare_in_clause(scheme, a, b);
  };
  if (order(span.low, wildcard.low) >= 0 && order(span.high, wildcard.high) <= 0) {
    return Truth::yes;
  }
  if (order(span.high, wildcard.low) <= 0 || order(span.low, wildcard.high) >= 0) return Truth::no;
  return Truth::unknown;
}

/// Span of all versions whose numbers begin with `prefix`. Python's begin at its first dev release.
Span span_of(Scheme scheme, std::string_view prefix) {
  const std::string suffix = scheme == Scheme::pep440 ? ".dev0" : "";
  return {std::string(prefix) + suffix, after_prefix(prefix) + suffix};
}

/// The clause against all versions of a span. `newer_release`: each of them is of a newer release
/// than the operand's, which Python's > asks for; in the dotted scheme order alone tells.
Truth span_meets(Scheme scheme, const Clause& clause, const Span& span, bool newer_release) {
  const std::string operand = clause.op == Op::lt ? upper_end(scheme, clause) : clause.text;
  const auto low = compare_in_clause(scheme, span.low, operand);
  const auto high = compare_in_clause(scheme, span.high, operand);
  switch (clause.op) {
    case Op::eq:
    case Op::ne:
      if (low > 0 || high <= 0) return truth(clause.op == Op::ne);
      return Truth::unknown;
    case Op::ge:
      return low >= 0 ? Truth::yes : (high <= 0 ? Truth::no : Truth::unknown);
    case Op::gt:
      return low > 0 && newer_release ? Truth::yes : (high <= 0 ? Truth::no : Truth::unknown);
    case Op::le:
      return high <= 0 ? Truth::yes : (low > 0 ? Truth::no : Truth::unknown);
    case Op::lt:
      return high <= 0 ? Truth::yes : (low >= 0 ? Truth::no : Truth::unknown);
    case Op::compatible: {
      const Span wildcard = span_of(scheme, compatible_prefix(scheme, clause.text));
      const Truth in_order = low >= 0 ? Truth::yes : (high <= 0 ? Truth::no : Truth::unknown);
      return in_order & span_meets_wildcard(scheme, span, wildcard);
    }
    case Op::wildcard:
    case Op::not_wildcard:
      return negated_if(clause.op == Op::not_wildcard,
                        span_meets_wildcard(scheme, span, span_of(scheme, clause.text)));
  }
  return Truth::unknown;
}

Truth pep440_prefix_meets(const Clause& clause, std::string_view prefix) {
  const auto known = pep440::parse(prefix);
  const auto operand = pep440::parse(clause.text);
  if (!known || !operand) return Truth::unknown;
  if (!known->local.empty()) {
    // Only more of the local label can follow.
    if (operand->local.empty()) return meets_clause(Scheme::pep440, clause, prefix);
    if (pep440::order_public(*known, *operand) != 0) return truth(clause.op == Op::ne);
    return Truth::unknown;
  }
  // Whatever follows, the release is one of those that begin with the known one. `>` leaves some of
  // an equal release out, which only a span of newer releases is safe from.
  std::string release;
  if (!known->epoch.empty()) release = std::string(known->epoch) + "!";
  for (std::size_t i = 0; i < known->release.size(); ++i) {
    if (i > 0) release += '.';
    release += known->release[i];
  }
  const Span span = span_of(Scheme::pep440, release);
  const bool newer_release = pep440::order_release(*known, *operand) > 0;
  return span_meets(Scheme::pep440, clause, span, newer_release);
}

/// Epoch and leading numbers: what the order of Debian, rpm and conda looks at first.
struct Numbers {
  std::string_view epoch;
  std::vector<std::string_view> numbers;
};

Numbers numbers_of(Scheme scheme, std::string_view text) {
  if (scheme == Scheme::debian) {
    const debian::Parts parts = debian::parts_of(text);
    return {parts.epoch, leading_numbers(parts.upstream)};
  }
  if (scheme == Scheme::rpm) {
    const rpm::Parts parts = rpm::parts_of(text);
    return {parts.epoch, leading_numbers(parts.version)};
  }
  const std::size_t bang = text.find('!');
  if (bang == std::string_view::npos) return {{}, leading_numbers(text)};
  return {text.substr(0, bang), leading_numbers(text.substr(bang + 1))};
}

/// The order of all completions against the operand, where epoch or a number that both have decides
/// it. The words after the numbers are left out: what follows them can turn their order.
std::optional<std::strong_ordering> settled_order(const Numbers& known, const Numbers& operand) {
  const auto epochs = compare_numbers(known.epoch, operand.epoch);
  if (epochs != 0) return epochs;
  for (std::size_t i = 0; i < known.numbers.size() && i < operand.numbers.size(); ++i) {
    const auto order = compare_numbers(known.numbers[i], operand.numbers[i]);
    if (order != 0) return order;
  }
  return std::nullopt;
}

/// Wildcards that are met by text: longer, shorter or beside the prefix.
Truth text_meets_wildcard(std::string_view prefix, std::string_view operand) {
  if (is_prefix(operand, prefix)) return Truth::yes;
  // A prefix that ends inside a run of the operand is told apart by the boundary at its end.
  return is_prefix(prefix, operand) ? Truth::unknown : Truth::no;
}

Truth kernel_prefix_meets(const Clause& clause, std::string_view prefix) {
  if (is_ordered(clause.op)) {
    // Release and upstream level share their first two numbers and no more.
    const auto numbers = leading_numbers(prefix);
    if (numbers.size() < 2) return Truth::unknown;
    const std::string level = std::string(numbers[0]) + "." + std::string(numbers[1]);
    return prefix_meets_clause(Scheme::dotted, clause, level);
  }
  if (clause.op == Op::eq || clause.op == Op::ne) {
    if (is_prefix(prefix, clause.text)) return Truth::unknown;
    return truth(clause.op == Op::ne);
  }
  Truth matches = text_meets_wildcard(prefix, clause.text);
  if (dotted::validate(clause.text)) {
    const auto order =
        settled_order({{}, leading_numbers(prefix)}, {{}, leading_numbers(clause.text)});
    const bool covers = leading_numbers(prefix).size() >= leading_numbers(clause.text).size();
    matches = order ? Truth::no : (covers ? Truth::yes : Truth::unknown);
  }
  return negated_if(clause.op == Op::not_wildcard, matches);
}

Truth other_prefix_meets(Scheme scheme, const Clause& clause, std::string_view prefix) {
  const Numbers known = numbers_of(scheme, prefix);
  const Numbers operand = numbers_of(scheme, clause.text);
  const auto order = settled_order(known, operand);
  if (clause.op == Op::wildcard || clause.op == Op::not_wildcard) {
    Truth matches = Truth::unknown;
    if (order) {
      matches = Truth::no;
    } else if (meets_clause(scheme, {Op::wildcard, clause.text}, prefix) == Truth::yes &&
               known.numbers.size() >= operand.numbers.size()) {
      matches = Truth::yes;
    }
    return negated_if(clause.op == Op::not_wildcard, matches);
  }
  if (!order) return Truth::unknown;
  switch (clause.op) {
    case Op::ge:
    case Op::gt:
      return truth(*order > 0);
    case Op::le:
    case Op::lt:
      return truth(*order < 0);
    case Op::ne:
      return Truth::yes;
    case Op::eq:
      return Truth::no;
    default:
      break;
  }
  if (*order < 0) return Truth::no;
  return prefix_meets_clause(scheme, {Op::wildcard, compatible_prefix(scheme, clause.text)},
                             prefix);
}

}  // namespace

Truth prefix_meets_clause(Scheme scheme, const Clause& clause, std::string_view prefix) {
  switch (scheme) {
    case Scheme::dotted:
      return dotted::validate(prefix) ? span_meets(scheme, clause, span_of(scheme, prefix), true)
                                      : Truth::unknown;
    case Scheme::pep440:
      return pep440_prefix_meets(clause, prefix);
    case Scheme::kernel:
      return kernel_prefix_meets(clause, prefix);
    case Scheme::debian:
    case Scheme::rpm:
    case Scheme::conda:
      return other_prefix_meets(scheme, clause, prefix);
  }
  return Truth::unknown;
}

Truth meets_prefix(const Constraint& constraint, std::string_view known_prefix) {
  // Operands of ordered clauses on a kernel are upstream levels, and so is a known part of one.
  const bool is_level = constraint.scheme == Scheme::kernel && dotted::validate(known_prefix);
  Truth all = Truth::yes;
  Constraint together{is_level ? Scheme::dotted : constraint.scheme, {}};
  for (const Clause& clause : constraint.clauses) {
    const Scheme scheme = is_level && is_ordered(clause.op) ? Scheme::dotted : constraint.scheme;
    all = all & prefix_meets_clause(scheme, clause, known_prefix);
    if (scheme == together.scheme) together.clauses.push_back(clause);
  }
  if (all != Truth::unknown || !parse(together.scheme, known_prefix)) return all;
  // Each clause alone may leave some completions where all together leave none.
  if (together.scheme != Scheme::dotted && together.scheme != Scheme::pep440) return all;
  const auto known = leading_numbers(known_prefix);
  if (!dotted::validate(known_prefix) || known.empty()) return all;
  together.clauses.push_back({Op::wildcard, std::string(known_prefix)});
  return conflict(together) ? Truth::no : all;
}

}  // namespace goldenv::version
