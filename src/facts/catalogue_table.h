#pragma once

#include <array>
#include <span>
#include <string_view>

#include "facts/catalogue.h"

// How the catalogue's own files look into the table. Other rooms use catalogue.h.
namespace goldenv::facts {

/// A key with placeholders, ready to be matched.
struct Family {
  const Entry* entry = nullptr;
  std::string_view prefix;  ///< what stands before the first placeholder: "module."
  bool dots = false;        ///< the last placeholder may hold dots
  bool alone = false;       ///< every name that begins with the prefix and goes on is a member
};

/// All keys with placeholders, by the first character of the key; of those that begin alike the
/// more telling ones first.
std::span<const Family> families();

/// Of these, the ones whose members can be called so: with the same first character.
std::span<const Family> families_of(std::string_view name);

/// The entry of a key without placeholders, or nullptr.
const Entry* exact_entry(std::string_view key);

/// What fills the placeholders of a family's key, in order. No key has more than two.
struct Captures {
  std::array<std::string_view, 2> texts;
  std::size_t count = 0;
};

/// Whether `name` is a member of the family, and what fills its placeholders.
bool match(const Family& family, std::string_view name, Captures& captures);

/// The same for an entry's key; true without captures where the entry is `name` itself.
bool match(const Entry& entry, std::string_view name, Captures& captures);

/// `key` with its placeholders filled in, in order.
std::string fill(std::string_view key, const Captures& captures);

}  // namespace goldenv::facts
