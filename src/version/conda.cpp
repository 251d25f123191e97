#include "version/conda.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "version/number.h"

namespace goldenv::version::conda {
namespace {

/// One run of a part, from oldest to newest kind.
struct Run {
  enum class Kind { dev, letters, number, post };
  Kind kind = Kind::number;
  std::string text;  ///< of letters and numbers; no digits are 0
};

using Part = std::vector<Run>;

struct Parts {
  std::string epoch;
  std::vector<Part> version;
  std::vector<Part> local;
};

Run run_of(std::string_view text) {
  if (is_digit(text.front())) return {Run::Kind::number, std::string(text)};
  if (text == "dev") return {Run::Kind::dev, {}};
  if (text == "post") return {Run::Kind::post, {}};
  return {Run::Kind::letters, std::string(text)};
}

/// A part that starts with letters gets a 0 before them, so that "1.1.a1" equals "1.1.0a1".
Part part_of(std::string_view text) {
  Part part;
  if (!text.empty() && !is_digit(text.front())) part.emplace_back();
  while (!text.empty()) {
    std::size_t end = leading_digits(text).size();
    if (end == 0) end = std::min(text.find_first_of("0123456789"), text.size());
    part.push_back(run_of(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return part;
}

/// In lower case, with "." between all parts.
std::string normal_local(std::string_view text) {
  std::string normal = to_lower(text);
  std::ranges::replace(normal, '-', '.');
  std::ranges::replace(normal, '_', '.');
  return normal;
}

/// The same, but an underscore at the very end belongs to the last part: openssl's "1.0.1_" stands
/// before "1.0.1a".
std::string normal_version(std::string_view text) {
  std::string normal = normal_local(text);
  const bool marked = !text.empty() && (text.back() == '_' || text.back() == '-');
  if (marked) normal.back() = '_';
  return normal;
}

std::vector<Part> split_parts(std::string_view normal) {
  std::vector<Part> parts;
  for (const std::string_view piece : split(normal, '.')) parts.push_back(part_of(piece));
  return parts;
}

Parts parts_of(std::string_view text) {
  Parts parts;
  const std::size_t bang = text.find('!');
  if (bang != std::string_view::npos) {
    parts.epoch = text.substr(0, bang);
    text.remove_prefix(bang + 1);
  }
  const std::size_t plus = text.find('+');
  parts.version = split_parts(normal_version(text.substr(0, plus)));
  if (plus != std::string_view::npos)
    parts.local = split_parts(normal_local(text.substr(plus + 1)));
  return parts;
}

std::strong_ordering compare_run(const Run& a, const Run& b) {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  return a.kind == Run::Kind::number ? compare_numbers(a.text, b.text)
                                     : std::strong_ordering(a.text <=> b.text);
}

std::strong_ordering compare_parts(const std::vector<Part>& a, const std::vector<Part>& b) {
  const Run zero;
  const Part none;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const Part& left = i < a.size() ? a[i] : none;
    const Part& right = i < b.size() ? b[i] : none;
    for (std::size_t j = 0; j < std::max(left.size(), right.size()); ++j) {
      const auto order =
          compare_run(j < left.size() ? left[j] : zero, j < right.size() ? right[j] : zero);
      if (order != 0) return order;
    }
  }
  return std::strong_ordering::equal;
}

/// Errors where a part of `normal`, which stands at `start` of the text, is empty.
Result<void> validate_parts(std::string_view text, std::size_t start, std::string_view normal) {
  std::size_t at = start;
  for (const std::string_view piece : split(normal, '.')) {
    if (piece.empty()) {
      return no_version(text, at == 0 ? "empty part at its start"
                                      : "empty part after " + quoted(text.substr(0, at)));
    }
    at += piece.size() + 1;
  }
  return {};
}

}  // namespace

Result<void> validate(std::string_view text) {
  const bool has_underscore = text.find('_') != std::string_view::npos;
  std::size_t bang = std::string_view::npos;
  std::size_t plus = std::string_view::npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool hyphen = c == '-' && !has_underscore;
    if (c == '!' && bang == std::string_view::npos && plus == std::string_view::npos) {
      bang = at;
    } else if (c == '+' && plus == std::string_view::npos) {
      plus = at;
    } else if (!is_digit(c) && !is_letter(c) && c != '.' && c != '_' && !hyphen) {
      return no_version(text, character_at(text, at));
    }
  }
  std::size_t start = 0;
  if (bang != std::string_view::npos) {
    if (bang == 0 || leading_digits(text).size() != bang) {
      return no_version(text, "its epoch, before \"!\", is no number");
    }
    start = bang + 1;
  }
  const std::size_t end = std::min(plus, text.size());
  Result<void> valid = validate_parts(text, start, normal_version(text.substr(start, end - start)));
  if (valid && end < text.size()) {
    valid = validate_parts(text, end + 1, normal_local(text.substr(end + 1)));
  }
  return valid;
}

std::strong_ordering order(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  auto order = compare_numbers(left.epoch, right.epoch);
  if (order == 0) order = compare_parts(left.version, right.version);
  if (order == 0) order = compare_parts(left.local, right.local);
  return order;
}

}  // namespace goldenv::version::conda
