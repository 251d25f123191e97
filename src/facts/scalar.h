#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "facts/catalogue.h"
#include "version/version.h"

namespace goldenv::facts {

/// Whether values of a type are numbers: integer, number, bytes.
bool is_numeric(Type type);

/// "true" or "false" of any spelling of it (yes, on, 1, ...; case does not count), else "".
std::string canonical_boolean(std::string_view text);

/// Whether two numbers stand so to each other; never for operators that numbers do not have (~=).
/// Bytes are compared as numbers, so that 64MiB and 67108864 are one.
bool holds(version::Op op, double found, double wanted);

/// The operator at the start of a text and how many bytes it takes.
struct WrittenOperator {
  version::Op op;
  std::size_t length;
};
std::optional<WrittenOperator> operator_of(std::string_view text);

/// How an operator is written; wildcards, which have none, as "==".
std::string_view sign(version::Op op);

}  // namespace goldenv::facts
