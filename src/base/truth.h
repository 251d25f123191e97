#pragma once

namespace goldenv {

/// Three-valued truth (Kleene): what is not known stays not known unless the other side decides.
enum class Truth { no, yes, unknown };

constexpr Truth truth(bool b) { return b ? Truth::yes : Truth::no; }
constexpr Truth operator!(Truth a) {
  return a == Truth::unknown ? a : (a == Truth::yes ? Truth::no : Truth::yes);
}
constexpr Truth operator&(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::unknown || b == Truth::unknown ? Truth::unknown : Truth::yes;
}
constexpr Truth operator|(Truth a, Truth b) {
  const Truth neither = (!a) & (!b);
  return !neither;
}

}  // namespace goldenv
