#include "facts/scalar.h"

#include "base/text.h"

namespace goldenv::facts {

using version::Op;

bool is_numeric(Type type) {
  return type == Type::integer || type == Type::number || type == Type::bytes;
}

std::string canonical_boolean(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "true" || lower == "yes" || lower == "on" || lower == "1") return "true";
  if (lower == "false" || lower == "no" || lower == "off" || lower == "0") return "false";
  return {};
}

bool holds(Op op, double found, double wanted) {
  switch (op) {
    case Op::eq:
      return found == wanted;
    case Op::ne:
      return found != wanted;
    case Op::ge:
      return found >= wanted;
    case Op::le:
      return found <= wanted;
    case Op::gt:
      return found > wanted;
    case Op::lt:
      return found < wanted;
    default:
      return false;
  }
}

}  // namespace goldenv::facts
