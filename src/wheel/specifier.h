#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "version/version.h"

namespace goldenv::wheel {

/// One clause of a set of specifiers (PEP 440).
struct Specifier {
  bool arbitrary = false;          ///< ===TEXT, which compares texts
  std::string text;                ///< the operand of ===
  version::Constraint constraint;  ///< of one clause; empty where arbitrary

  friend bool operator==(const Specifier&, const Specifier&) = default;
};

/// Clauses that all must hold. Unlike version::Constraint, one that nothing can meet is no error:
/// others wrote it, and no version is then what they asked for.
struct Specifiers {
  std::vector<Specifier> clauses;

  [[nodiscard]] bool empty() const { return clauses.empty(); }
  friend bool operator==(const Specifiers&, const Specifiers&) = default;
};

/// ">=3.8,!=3.9.7"; the empty text allows everything. Errors: malformed, as the scheme says it.
Result<Specifiers> parse_specifiers(std::string_view text);

/// Whether a version is within; pre-releases are not left out. A text that is no version meets
/// === alone. As packaging.specifiers with prereleases=True.
bool contains(const Specifiers& specifiers, std::string_view version);

/// "==2.1" and "===2.1": the one version it asks for, as written; empty where it leaves a choice.
std::string exact_version(const Specifiers& specifiers);

/// The clauses with "," between them, in order.
std::string render(const Specifiers& specifiers);

}  // namespace goldenv::wheel
