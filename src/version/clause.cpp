#include "version/clause.h"

#include <vector>

#include "version/dotted.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/rpm.h"

namespace goldenv::version {
namespace {

bool compares_with(Op op, std::strong_ordering order) {
  switch (op) {
    case Op::eq:
      return order == 0;
    case Op::ne:
      return order != 0;
    case Op::ge:
    case Op::compatible:
      return order >= 0;
    case Op::gt:
      return order > 0;
    case Op::le:
      return order <= 0;
    case Op::lt:
      return order < 0;
    case Op::wildcard:
    case Op::not_wildcard:
      break;
  }
  return false;
}

struct WithEpoch {
  std::string_view epoch;
  std::string_view rest;
};

/// Dotted versions and kernel releases have no epoch.
WithEpoch split_epoch(Scheme scheme, std::string_view text) {
  if (scheme == Scheme::dotted || scheme == Scheme::kernel) return {{}, text};
  const std::size_t at = text.find(scheme == Scheme::conda ? '!' : ':');
  if (at == std::string_view::npos) return {{}, text};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// Whether `version` is one of "`operand`.*": by its numbers where the operand is numbers alone,
/// else by its text.
bool matches_wildcard(Scheme scheme, std::string_view version, std::string_view operand) {
  const WithEpoch found = split_epoch(scheme, version);
  const WithEpoch wanted = split_epoch(scheme, operand);
  if (compare_numbers(found.epoch, wanted.epoch) != 0) return false;
  const bool by_text = scheme == Scheme::debian || scheme == Scheme::rpm;
  if (by_text || !dotted::validate(wanted.rest)) return is_prefix(wanted.rest, found.rest);
  const auto numbers = leading_numbers(found.rest);
  const auto prefix = leading_numbers(wanted.rest);
  // A release that leaves out the third number does not say that it is 0: kernels are not padded.
  if (scheme == Scheme::kernel && numbers.size() < prefix.size()) return false;
  return begins_with(numbers, prefix);
}

/// PEP 440, Version specifiers. Two rules go beyond order: `<V` leaves out the pre-releases of V,
/// `>V` its post-releases and local builds, unless V is one itself.
bool meets_pep440(const Clause& clause, const pep440::Parts& version,
                  const pep440::Parts& operand) {
  const bool same_release = pep440::order_release(version, operand) == 0;
  const auto by_public = pep440::order_public(version, operand);
  switch (clause.op) {
    case Op::eq:
    case Op::ne: {
      const auto order = operand.local.empty() ? by_public : pep440::order(version, operand);
      return compares_with(clause.op, order);
    }
    case Op::ge:
    case Op::le:
      return compares_with(clause.op, by_public);
    case Op::lt:
      if (by_public >= 0) return false;
      return !same_release || operand.is_prerelease() || !version.is_prerelease();
    case Op::gt:
      if (by_public <= 0) return false;
      return !same_release || ((operand.post || !version.post) && version.local.empty());
    case Op::compatible: {
      std::vector<std::string_view> prefix = operand.release;
      prefix.pop_back();
      return by_public >= 0 && compare_numbers(version.epoch, operand.epoch) == 0 &&
             begins_with(version.release, prefix);
    }
    case Op::wildcard:
    case Op::not_wildcard: {
      const bool matches = compare_numbers(version.epoch, operand.epoch) == 0 &&
                           begins_with(version.release, operand.release);
      return matches == (clause.op == Op::wildcard);
    }
  }
  return false;
}

Truth meets_upstream(const Clause& clause, std::string_view release) {
  const Result<Upstream> upstream = kernel_upstream(release, {}, {});
  if (!upstream) return Truth::unknown;
  return upstream->exact ? meets_clause(Scheme::dotted, clause, upstream->text)
                         : prefix_meets_clause(Scheme::dotted, clause, upstream->text);
}

}  // namespace

std::strong_ordering compare_in_clause(Scheme scheme, std::string_view a, std::string_view b) {
  switch (scheme) {
    case Scheme::dotted:
      return compare_padded(leading_numbers(a), leading_numbers(b));
    case Scheme::kernel:  // == and != only: a pin on a release is on its very text
      return a.compare(b) <=> 0;
    case Scheme::rpm:
      return rpm::order_as_required(a, b);
    case Scheme::pep440: {
      const auto left = pep440::parse(a);
      const auto right = pep440::parse(b);
      if (left && right) return pep440::order_public(*left, *right);
      return left.has_value() <=> right.has_value();
    }
    case Scheme::debian:
    case Scheme::conda:
      break;
  }
  return order(Version{scheme, std::string(a)}, Version{scheme, std::string(b)});
}

Truth meets_clause(Scheme scheme, const Clause& clause, std::string_view version) {
  if (scheme == Scheme::pep440) {
    const auto parts = pep440::parse(version);
    const auto operand = pep440::parse(clause.text);
    if (!parts || !operand) return Truth::unknown;
    return truth(meets_pep440(clause, *parts, *operand));
  }
  if (scheme == Scheme::kernel && is_ordered(clause.op)) return meets_upstream(clause, version);
  if (clause.op == Op::wildcard || clause.op == Op::not_wildcard) {
    return truth(matches_wildcard(scheme, version, clause.text) == (clause.op == Op::wildcard));
  }
  const Truth in_order =
      truth(compares_with(clause.op, compare_in_clause(scheme, version, clause.text)));
  if (clause.op != Op::compatible) return in_order;
  return in_order &
         truth(matches_wildcard(scheme, version, compatible_prefix(scheme, clause.text)));
}

std::string compatible_prefix(Scheme scheme, std::string_view text) {
  std::string prefix;
  if (scheme == Scheme::pep440 || scheme == Scheme::conda) {
    if (text.substr(0, 1) == "v" || text.substr(0, 1) == "V") text.remove_prefix(1);
    const std::size_t bang = text.find('!');
    if (bang != std::string_view::npos) {
      prefix = text.substr(0, bang + 1);
      text.remove_prefix(bang + 1);
    }
  }
  const auto numbers = leading_numbers(text);
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    if (i > 0) prefix += '.';
    prefix += numbers[i];
  }
  return prefix;
}

std::string upper_end(Scheme scheme, const Clause& clause) {
  if (scheme != Scheme::pep440 || clause.op != Op::lt) return clause.text;
  const auto parts = pep440::parse(clause.text);
  const bool plain = parts && !parts->is_prerelease() && !parts->post;
  return plain ? clause.text + ".dev0" : clause.text;
}

std::string after_prefix(std::string_view prefix) {
  const std::size_t dot = prefix.find_last_of(".!vV");
  const std::size_t last = dot == std::string_view::npos ? 0 : dot + 1;
  return std::string(prefix.substr(0, last)) + next_number(prefix.substr(last));
}

bool is_prefix(std::string_view known_prefix, std::string_view full) {
  if (full.substr(0, known_prefix.size()) != known_prefix) return false;
  if (known_prefix.empty() || known_prefix.size() == full.size()) return true;
  const char last = known_prefix.back();
  const char next = full[known_prefix.size()];
  return !(is_digit(last) && is_digit(next)) && !(is_letter(last) && is_letter(next));
}

}  // namespace goldenv::version
