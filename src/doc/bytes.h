#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "doc/node.h"
#include "doc/unicode.h"

// File names and variables are bytes, YAML and JSON are characters. A byte 0x80 to 0xFF that is
// part of no UTF-8 is written as the private character U+10FE80 to U+10FEFF (U+10FE00 + the byte),
// always as an escape: visible, valid for every reader, and read back as the byte. A true character
// of that range, which nobody uses, is written as its four bytes, so that no two texts are written
// alike. Lone surrogates (Python's way) are refused by most readers; a backslash in the text itself
// would have to be doubled in every text.
namespace goldenv::doc {

/// What is written for the text at `offset`, which is within it: a character, or one that stands
/// for a byte; and how many bytes of the text that covers.
Character written_at(std::string_view text, std::size_t offset);

/// Whether a text in YAML or JSON may hold characters that stand for bytes, raw or as escapes.
/// Never false where it does.
bool may_hold_bytes(std::string_view document);

/// Puts the bytes into all texts and keys of a tree that was read. Errors: malformed, where such
/// characters spell UTF-8 after all: two ways to write one text would make two keys of one.
Result<void> restore_bytes(Node& root, std::string_view name);

}  // namespace goldenv::doc
