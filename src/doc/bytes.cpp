#include "doc/bytes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace goldenv::doc {
namespace {

constexpr std::uint32_t kBase = 0x10FE00;

bool stands_for_byte(std::uint32_t code) { return code >= kBase + 0x80 && code <= kBase + 0xFF; }

bool begins_with_letters(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char wanted, char c) {
           return wanted == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

/// The text with its bytes; none where it has none. Errors: where they spell UTF-8.
Result<std::optional<std::string>> restored(std::string_view text, std::string_view name,
                                            Mark mark) {
  if (text.find('\xF4') == std::string_view::npos) {
    return std::optional<std::string>();
  }
  std::string out;
  bool any = false;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    if (stands_for_byte(character.code)) {
      out += static_cast<char>(character.code - kBase);
      any = true;
    } else {
      out += text.substr(i, bytes);
    }
    i += bytes;
  }
  if (!any) {
    return std::optional<std::string>();
  }
  std::string again;
  for (std::size_t i = 0; i < out.size();) {
    const Character character = written_at(out, i);
    append_code(character.code, again);
    i += character.bytes;
  }
  if (again != text) {
    return error_at(name, mark,
                    "characters that stand for bytes (U+10FE80 to U+10FEFF) spell UTF-8 here; "
                    "expected the text itself");
  }
  return std::optional(std::move(out));
}

}  // namespace

Character written_at(std::string_view text, std::size_t offset) {
  const Character character = character_at(text, offset);
  if (character.bytes != 0 && !stands_for_byte(character.code)) {
    return character;
  }
  return {kBase + static_cast<unsigned char>(text[offset]), 1};
}

bool may_hold_bytes(std::string_view document) {
  // Raw: U+10FE80 to U+10FEFF are F4 8F BA 80 to F4 8F BB BF.
  for (std::size_t at = document.find('\xF4'); at != std::string_view::npos;
       at = document.find('\xF4', at + 1)) {
    if (document.substr(at + 1).starts_with("\x8F\xBA") ||
        document.substr(at + 1).starts_with("\x8F\xBB")) {
      return true;
    }
  }
  // As escapes: \U0010FExx in YAML, \uDBFF\uDExx in JSON.
  for (std::size_t at = document.find('\\'); at != std::string_view::npos;
       at = document.find('\\', at + 1)) {
    const std::string_view rest = document.substr(at + 1);
    if (begins_with_letters(rest, "u0010fe") || begins_with_letters(rest, "udbff")) {
      return true;
    }
  }
  return false;
}

Result<void> restore_bytes(Node& root, std::string_view name) {
  GOLDENV_TRY(std::optional<std::string> text, restored(root.text, name, root.mark));
  if (text) {
    root.text = *std::move(text);
  }
  for (Node& item : root.items) {
    if (Result<void> done = restore_bytes(item, name); !done) {
      return done;
    }
  }
  for (Node::Entry& entry : root.entries) {
    GOLDENV_TRY(std::optional<std::string> key, restored(entry.key, name, entry.mark));
    if (key) {
      entry.key = *std::move(key);
    }
    if (Result<void> done = restore_bytes(entry.value, name); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace goldenv::doc
