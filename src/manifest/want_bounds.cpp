#include "manifest/want_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "facts/quantity.h"
#include "facts/scalar.h"

namespace goldenv::manifest {
namespace {

using facts::Type;
using facts::Want;
using version::Clause;
using version::Op;

/// The numbers that a key may have.
struct Domain {
  bool negative = false;
  bool broken = false;  ///< not only whole ones
};

Domain domain_of(const facts::Resolved& key) {
  // -1 is the kernel's word for "none" there, and a temperature may be below zero.
  constexpr auto kNegative =
      std::to_array<std::string_view>({"gpu.numa_node", "nic.speed", "gpu.temperature"});
  // What is equal within a tolerance may be written rounded: 503.5GiB.
  return {std::ranges::find(kNegative, key.name) != kNegative.end(),
          key.entry->type == Type::number || !key.entry->compare.empty()};
}

bool is_in(const Domain& domain, double number) {
  return (domain.negative || !std::signbit(number)) &&
         (domain.broken || std::isinf(number) || std::floor(number) == number);
}

std::string expected(const Domain& domain) {
  return std::string("; expected a ") + (domain.broken ? "number" : "whole number") +
         (domain.negative ? "" : ", 0 or more");
}

/// Whether some number of the domain meets all clauses. Where one does, one does that is 0 or
/// stands at an operand, beside it or between two.
bool some_meets(const Domain& domain, const std::vector<Clause>& clauses) {
  std::vector<double> operands;
  for (const Clause& clause : clauses) {
    operands.push_back(facts::to_quantity(clause.text).value_or(0));
  }
  std::ranges::sort(operands);
  std::vector<double> tries = {0, std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const double here = operands[i] + 0.0;  // of -0 makes 0
    const double below = std::floor(here);
    const double before = i == 0 ? 0 : operands[i - 1];
    tries.insert(tries.end(), {below - 1, below, here, below + 1, (before + here) / 2});
  }
  return std::ranges::any_of(tries, [&](double number) {
    return is_in(domain, number) && std::ranges::all_of(clauses, [&](const Clause& clause) {
             return facts::holds(clause.op, number, facts::to_quantity(clause.text).value_or(0));
           });
  });
}

std::string impossible_number(const facts::Resolved& key, const Want& want) {
  const Domain domain = domain_of(key);
  if (want.kind == Want::Kind::constraint) {
    return some_meets(domain, want.constraint.clauses)
               ? std::string()
               : key.name + " can never meet " + facts::describe(want) + expected(domain);
  }
  if (want.kind != Want::Kind::exact || want.value.form != facts::Value::Form::scalar) {
    return {};
  }
  const std::optional<double> number = facts::to_quantity(want.value.text);
  return !number || is_in(domain, *number)
             ? std::string()
             : key.name + " can never be " + want.value.text + expected(domain);
}

bool is_zero(std::string_view version) {
  return !version.empty() && version.find_first_not_of("0.") == std::string_view::npos;
}

/// Of numbers and dots 0 is the least version, also of a kernel's level; other schemes have words
/// that come before it (0~rc1, 0.dev1).
std::string impossible_version(const facts::Resolved& key, const Want& want) {
  const bool dotted = key.entry->scheme == version::Scheme::dotted;
  if (want.kind != Want::Kind::constraint ||
      (!dotted && key.entry->scheme != version::Scheme::kernel)) {
    return {};
  }
  bool below = false;
  bool at_most = false;
  bool not_zero = false;
  for (const Clause& clause : want.constraint.clauses) {
    const bool zero = is_zero(clause.text);
    below = below || (zero && clause.op == Op::lt);
    at_most = at_most || (zero && clause.op == Op::le);
    not_zero = not_zero || (zero && clause.op == Op::ne && dotted);
  }
  return below || (at_most && not_zero)
             ? "no version of " + key.name + " can meet " + facts::describe(want) +
                   ", none is below 0; expected one that can be, or absent"
             : std::string();
}

}  // namespace

std::string impossible(const facts::Resolved& key, const Want& want) {
  if (want.kind == Want::Kind::any_of) {
    for (const Want& one : want.any) {
      if (std::string why = impossible(key, one); !why.empty()) {
        return why;
      }
    }
    return {};
  }
  if (facts::is_numeric(key.entry->type)) {
    return impossible_number(key, want);
  }
  return key.entry->type == Type::version ? impossible_version(key, want) : std::string();
}

}  // namespace goldenv::manifest
