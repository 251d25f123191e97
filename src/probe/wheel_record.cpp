#include "probe/wheel_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

/// The next field of a CSV line, quotes undone; moves `line` behind its comma.
std::string field(std::string_view& line) {
  std::string text;
  if (line.starts_with('"')) {
    std::size_t at = 1;
    while (at < line.size()) {
      if (line[at] == '"') {
        if (at + 1 < line.size() && line[at + 1] == '"') {
          ++at;
        } else {
          break;
        }
      }
      text += line[at++];
    }
    line.remove_prefix(std::min(at + 1, line.size()));
    line.remove_prefix(line.starts_with(',') ? 1 : 0);
    return text;
  }
  const std::size_t comma = std::min(line.find(','), line.size());
  text = line.substr(0, comma);
  line.remove_prefix(std::min(comma + 1, line.size()));
  return text;
}

bool is_library(std::string_view line) {
  for (std::size_t at = line.find(".so"); at != std::string_view::npos;
       at = line.find(".so", at + 1)) {
    if (at + 3 == line.size() || std::string_view(".,\"").find(line[at + 3]) != line.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Sha256> parse_url_digest(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  Sha256 digest;
  if (text.size() != 43) {
    return std::nullopt;
  }
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t out = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      digest.bytes[out++] = static_cast<std::uint8_t>(bits >> count);
    }
  }
  return (bits & 3u) == 0 ? std::optional(digest) : std::nullopt;  // 43 digits hold two bits more
}

std::vector<RecordedFile> parse_record(std::string_view text, bool only_libraries) {
  std::vector<RecordedFile> files;
  // By hand and not by lines(): torch's has twelve thousand.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.empty() || (only_libraries && !is_library(line))) {
      continue;
    }
    RecordedFile file;
    file.path = field(line);
    const std::string digest = field(line);
    file.size_bytes = to_number(line);
    constexpr std::string_view kKind = "sha256=";
    if (digest.starts_with(kKind)) {
      file.digest = parse_url_digest(std::string_view(digest).substr(kKind.size()));
    }
    if (!file.path.empty() && file.path.find('\0') == std::string::npos) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace goldenv::probe
