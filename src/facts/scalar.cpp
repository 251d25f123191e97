#include "facts/scalar.h"

#include <array>
#include <utility>

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

std::optional<WrittenOperator> operator_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Op>, 7> kOperators = {{{"==", Op::eq},
                                                                          {"!=", Op::ne},
                                                                          {">=", Op::ge},
                                                                          {"<=", Op::le},
                                                                          {"~=", Op::compatible},
                                                                          {">", Op::gt},
                                                                          {"<", Op::lt}}};
  for (const auto& [sign, op] : kOperators) {
    if (text.starts_with(sign)) {
      return WrittenOperator{op, sign.size()};
    }
  }
  return std::nullopt;
}

std::string_view sign(Op op) {
  switch (op) {
    case Op::ne:
      return "!=";
    case Op::ge:
      return ">=";
    case Op::le:
      return "<=";
    case Op::gt:
      return ">";
    case Op::lt:
      return "<";
    case Op::compatible:
      return "~=";
    default:
      return "==";
  }
}

}  // namespace goldenv::facts
