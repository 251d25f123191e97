#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "version/clause.h"
#include "version/dotted.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/satisfiable.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

// Far more than anyone writes; every two clauses are held against each other.
constexpr std::size_t kMaxConstraintBytes = 1024;
constexpr std::size_t kMaxClauses = 32;

constexpr std::string_view kWildcard = ".*";

/// Longest first, so that ">=" is not read as ">".
constexpr std::array<std::pair<std::string_view, Op>, 7> kOperators{{
    {"==", Op::eq},
    {"!=", Op::ne},
    {">=", Op::ge},
    {"<=", Op::le},
    {"~=", Op::compatible},
    {">", Op::gt},
    {"<", Op::lt},
}};

Error no_constraint(std::string_view text, const std::string& why) {
  return Error{Errc::malformed, quoted(text) + " is no constraint: " + why, {}};
}

std::string at_byte(std::size_t offset) { return " at byte " + std::to_string(offset + 1); }

/// One clause within the whole text of a constraint.
struct ClauseText {
  std::string_view text;  ///< without blanks around it
  std::size_t offset = 0;
};

/// The clauses between commas, each with its place.
std::vector<ClauseText> clause_texts(std::string_view text) {
  std::vector<ClauseText> clauses;
  std::size_t offset = 0;
  for (const std::string_view piece : split(text, ',')) {
    const std::string_view trimmed = trim(piece);
    const std::size_t blanks =
        trimmed.empty() ? 0 : static_cast<std::size_t>(trimmed.data() - piece.data());
    clauses.push_back({trimmed, offset + blanks});
    offset += piece.size() + 1;
  }
  return clauses;
}

/// What is wrong with an operand that is a version of the scheme; empty where nothing is.
std::string operand_fault(Scheme scheme, Op op, const std::string& text) {
  if (op == Op::compatible && !has_compatible(scheme)) {
    return "~= has no meaning for " + std::string(name(scheme)) + " versions";
  }
  if (op == Op::compatible && scheme == Scheme::conda &&
      !dotted::validate(text.substr(text.find('!') + 1))) {
    return "~= takes numbers and dots alone";
  }
  if (op == Op::compatible && compatible_prefix(scheme, text).empty()) {
    return "~= needs two numbers at least";
  }
  if (scheme != Scheme::pep440) return "";
  const auto parts = pep440::parse(text);
  if (!parts) return parts.error().message;
  if (is_ordered(op) && !parts->local.empty()) return "a local label (+...) has no order";
  const bool bare = !parts->is_prerelease() && !parts->post && parts->local.empty();
  if ((op == Op::wildcard || op == Op::not_wildcard) && !bare) {
    return ".* stands after release numbers only";
  }
  return "";
}

Result<Clause> parse_clause(Scheme scheme, std::string_view whole, const ClauseText& written) {
  std::string_view rest = written.text;
  Clause clause;
  bool has_operator = false;
  for (const auto& [text, op] : kOperators) {
    if (rest.substr(0, text.size()) != text) continue;
    clause.op = op;
    has_operator = true;
    rest = trim(rest.substr(text.size()));
    break;
  }
  const auto offset = [&](std::string_view part) {
    return written.offset + static_cast<std::size_t>(part.data() - written.text.data());
  };
  if (rest.empty()) {
    return no_constraint(whole, (has_operator ? "no version after " + quoted(written.text)
                                              : std::string("empty clause")) +
                                    at_byte(written.offset));
  }
  if (std::string_view("=!<>~").find(rest.front()) != std::string_view::npos) {
    return no_constraint(whole, "unknown operator" + at_byte(written.offset) +
                                    ", expected ==, !=, >=, >, <=, < or ~=");
  }
  const bool wildcard =
      rest.size() > kWildcard.size() && rest.substr(rest.size() - kWildcard.size()) == kWildcard;
  if (wildcard) {
    if (has_operator && clause.op != Op::eq && clause.op != Op::ne) {
      return no_constraint(whole, ".* goes with == and != only" + at_byte(offset(rest)));
    }
    clause.op = clause.op == Op::ne ? Op::not_wildcard : Op::wildcard;
    rest.remove_suffix(kWildcard.size());
  } else if (!has_operator) {
    return no_constraint(whole, "no operator before " + quoted(rest) + at_byte(offset(rest)) +
                                    ", expected ==, !=, >=, >, <=, < or ~=");
  }
  clause.text = std::string(rest);
  const bool is_level = scheme == Scheme::kernel && is_ordered(clause.op);
  const Result<Version> operand = parse(is_level ? Scheme::dotted : scheme, rest);
  if (!operand) {
    std::string why = operand.error().message + at_byte(offset(rest));
    if (is_level) why += "; the order of kernels is that of upstream levels, like 5.4 or 6.1.192";
    return no_constraint(whole, why);
  }
  const std::string fault = operand_fault(scheme, clause.op, clause.text);
  if (!fault.empty()) return no_constraint(whole, fault + at_byte(written.offset));
  return clause;
}

Constraint clauses_where(const Constraint& constraint, bool ordered) {
  Constraint some{constraint.scheme, {}};
  for (const Clause& clause : constraint.clauses) {
    if (is_ordered(clause.op) == ordered) some.clauses.push_back(clause);
  }
  return some;
}

}  // namespace

bool looks_like_constraint(std::string_view text) {
  text = trim(text);
  if (text.empty()) return false;
  return std::string_view("=!<>~").find(text.front()) != std::string_view::npos ||
         text.find(',') != std::string_view::npos ||
         (text.size() >= kWildcard.size() &&
          text.substr(text.size() - kWildcard.size()) == kWildcard);
}

Result<Constraint> parse_constraint(Scheme scheme, std::string_view text) {
  if (text.size() > kMaxConstraintBytes) {
    return no_constraint(text, "it has " + std::to_string(text.size()) + " bytes, more than " +
                                   std::to_string(kMaxConstraintBytes));
  }
  Constraint constraint{scheme, {}};
  for (const ClauseText& written : clause_texts(text)) {
    GOLDENV_TRY(Clause clause, parse_clause(scheme, text, written));
    constraint.clauses.push_back(std::move(clause));
    if (constraint.clauses.size() > kMaxClauses) {
      return no_constraint(text, "it has more than " + std::to_string(kMaxClauses) + " clauses");
    }
  }
  if (const auto why = conflict(constraint)) {
    return Error{Errc::malformed, "no version can meet " + quoted(text) + ": " + *why, {}};
  }
  return constraint;
}

std::string render(const Constraint& constraint) {
  std::string text;
  for (const Clause& clause : constraint.clauses) {
    if (!text.empty()) text += ',';
    if (clause.op == Op::not_wildcard) text += "!=";
    for (const auto& [sign, op] : kOperators) {
      if (op == clause.op) text += sign;
    }
    text += clause.text;
    if (clause.op == Op::wildcard || clause.op == Op::not_wildcard) text += kWildcard;
  }
  return text;
}

Constraint ordered_clauses(const Constraint& constraint) { return clauses_where(constraint, true); }

Constraint exact_clauses(const Constraint& constraint) { return clauses_where(constraint, false); }

Truth meets(const Constraint& constraint, const Version& version) {
  const bool is_level = constraint.scheme == Scheme::kernel && version.scheme == Scheme::dotted;
  if (version.scheme != constraint.scheme && !parse(constraint.scheme, version.text)) {
    return Truth::unknown;
  }
  Truth all = Truth::yes;
  for (const Clause& clause : constraint.clauses) {
    const Scheme scheme = is_level && is_ordered(clause.op) ? Scheme::dotted : constraint.scheme;
    all = all & meets_clause(scheme, clause, version.text);
  }
  return all;
}

Truth meets_kernel(const Constraint& constraint, const Version& release, const Upstream& upstream) {
  const Constraint ordered = ordered_clauses(constraint);
  const Truth level = upstream.exact ? meets(ordered, Version{Scheme::dotted, upstream.text})
                                     : meets_prefix(ordered, upstream.text);
  return level & meets(exact_clauses(constraint), release);
}

}  // namespace goldenv::version
