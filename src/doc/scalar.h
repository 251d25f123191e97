#pragma once

#include <string_view>

// What plain scalars may be taken for; other rooms include doc/node.h.
namespace goldenv::doc {

/// A number in JSON's grammar (RFC 8259 section 6).
bool is_json_number(std::string_view text);

/// A number that no reader refuses or rounds to infinity: a JSON number without exponent, of at
/// most 100 characters (a double holds 308 digits).
bool is_decimal(std::string_view text);

/// Whether some YAML reader would take the plain text for no string: null, boolean, number (octal,
/// hexadecimal, base 60, with '_', infinite), date, merge key or "=". Source: yaml.org/type (1.1),
/// YAML 1.2 section 10.3 (core schema).
bool is_typed_plain(std::string_view text);

}  // namespace goldenv::doc
