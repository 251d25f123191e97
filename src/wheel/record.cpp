#include "wheel/record.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "version/number.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxLines = 1'000'000;
constexpr std::size_t kDigestLetters = 43;
constexpr std::string_view kKind = "sha256=";
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

Error at_line(std::size_t line, const std::string& what) {
  return Error{Errc::malformed, "RECORD line " + std::to_string(line) + ": " + what, {}};
}

/// The fields of a CSV line; none where a quote is not closed or does not stand at the ends.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    std::string field;
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      for (;;) {
        const std::size_t quote = line.find('"');
        if (quote == std::string_view::npos) return std::nullopt;
        field += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) break;
        field += '"';
        line.remove_prefix(1);
      }
      if (!line.empty() && line.front() != ',') return std::nullopt;
    } else {
      const std::size_t comma = std::min(line.find(','), line.size());
      field = std::string(line.substr(0, comma));
      if (field.find('"') != std::string::npos) return std::nullopt;
      line.remove_prefix(comma);
    }
    fields.push_back(std::move(field));
    if (line.empty()) return fields;
    line.remove_prefix(1);
  }
}

std::string quoted_field(const std::string& field) {
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

/// What is wrong with a digest's field; empty where nothing is.
std::string take_digest(const std::string& field, RecordEntry& entry) {
  if (!field.starts_with(kKind)) {
    return "its digest is " + version::quoted(field.substr(0, field.find('='))) +
           ", and only sha256 is checked";
  }
  entry.sha256 = from_url_base64(std::string_view(field).substr(kKind.size()));
  return entry.sha256 ? "" : version::quoted(field) + " is no digest in base64 for URLs";
}

}  // namespace

std::string path_fault(std::string_view path) {
  if (path.empty()) return "it is empty";
  if (path.size() > 4096) return "it is longer than 4096 bytes";
  if (!is_utf8(path)) return "it is no UTF-8";
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return "it has a control character";
    if (c == '\\') return "it has a backslash";
  }
  if (path.front() == '/') return "it is absolute";
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return "it has the part " + version::quoted(part);
    }
  }
  return "";
}

std::string url_base64(const Sha256& digest) {
  std::string out;
  unsigned bits = 0;
  std::uint32_t held = 0;
  for (const std::uint8_t byte : digest.bytes) {
    held = (held << 8U) | byte;
    for (bits += 8; bits >= 6; bits -= 6) out += kAlphabet[(held >> (bits - 6)) & 0x3FU];
  }
  out += kAlphabet[(held << (6 - bits)) & 0x3FU];
  return out;
}

std::optional<Sha256> from_url_base64(std::string_view text) {
  if (text.size() != kDigestLetters) return std::nullopt;
  Sha256 digest;
  unsigned bits = 0;
  std::uint32_t held = 0;
  std::size_t count = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    held = (held << 6U) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    digest.bytes[count++] = static_cast<std::uint8_t>((held >> bits) & 0xFFU);
  }
  // The two bits left over are zero, so that one digest has one text.
  if ((held & ((1U << bits) - 1)) != 0) return std::nullopt;
  return digest;
}

Result<std::vector<RecordEntry>> parse_installed_record(std::string_view text) {
  std::vector<RecordEntry> entries;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    if (++number > kMaxLines) {
      return Error{Errc::too_large, "RECORD has more than 1000000 lines", {}};
    }
    if (line.empty()) continue;
    const auto fields = fields_of(line);
    if (!fields || fields->size() != 3 || fields->front().empty()) {
      return at_line(number, "no three fields: path, digest, size");
    }
    RecordEntry entry;
    entry.path = (*fields)[0];
    if (!take_digest((*fields)[1], entry).empty()) {
      entry.sha256.reset();
    }
    entry.size_bytes = to_number((*fields)[2]);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<RecordEntry>> parse_record(std::string_view text, std::string_view own) {
  std::vector<RecordEntry> entries;
  std::unordered_set<std::string> seen;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    if (++number > kMaxLines) {
      return Error{Errc::too_large, "RECORD has more than 1000000 lines", {}};
    }
    if (line.empty()) continue;
    const auto fields = fields_of(line);
    if (!fields) return at_line(number, "a quote that is not closed or in the middle of a field");
    if (fields->size() != 3) {
      return at_line(
          number, std::to_string(fields->size()) + " fields, expected three: path, digest, size");
    }
    RecordEntry entry;
    entry.path = (*fields)[0];
    const std::string shown = version::quoted(entry.path);
    if (const std::string why = path_fault(entry.path); !why.empty()) {
      return at_line(number, shown + " is no path inside a wheel: " + why);
    }
    if (!seen.insert(entry.path).second) return at_line(number, shown + " stands there twice");
    const std::string& digest = (*fields)[1];
    const std::string& size = (*fields)[2];
    const bool is_own = entry.path == own;
    const bool is_signature =
        entry.path == std::string(own) + ".jws" || entry.path == std::string(own) + ".p7s";
    if (is_own && !digest.empty()) return at_line(number, "RECORD cannot have a digest of itself");
    if (digest.empty() && !is_own && !is_signature)
      return at_line(number, shown + " has no digest");
    if (!digest.empty()) {
      if (const std::string why = take_digest(digest, entry); !why.empty()) {
        return at_line(number, shown + ": " + why);
      }
    }
    if (!size.empty()) {
      entry.size_bytes = to_number(size);
      if (!entry.size_bytes) {
        return at_line(number, shown + ": " + version::quoted(size) + " is no size");
      }
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string render_record(const std::vector<RecordEntry>& entries) {
  std::string out;
  for (const RecordEntry& entry : entries) {
    out += quoted_field(entry.path) + ",";
    if (entry.sha256) out += std::string(kKind) + url_base64(*entry.sha256);
    out += ",";
    if (entry.size_bytes) out += std::to_string(*entry.size_bytes);
    out += "\n";
  }
  return out;
}

}  // namespace goldenv::wheel
