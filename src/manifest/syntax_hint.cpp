#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

/// The line that an error "FILE:LINE:COLUMN: ..." speaks of.
std::optional<std::size_t> line_of(std::string_view message, std::string_view file) {
  if (!message.starts_with(file) || !message.substr(file.size()).starts_with(':')) {
    return std::nullopt;
  }
  const std::string_view rest = message.substr(file.size() + 1);
  std::size_t line = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
  return failure == std::errc() && line != 0 ? std::optional(line) : std::nullopt;
}

/// A constraint with '>' that begins a value of the line, or "".
std::string_view bare_constraint(std::string_view line) {
  for (std::size_t at = line.find('>'); at != std::string_view::npos; at = line.find('>', at + 1)) {
    const std::string_view before = trim(line.substr(0, at));
    const bool begins = before.ends_with(':') || before.ends_with('[') || before.ends_with(',') ||
                        before.ends_with('-') || before.ends_with('{');
    const std::string_view behind = line.substr(at + 1);
    const std::string_view operand = trim(behind.starts_with('=') ? behind.substr(1) : behind);
    if (begins && !operand.empty() && operand.front() >= '0' && operand.front() <= '9') {
      const std::string_view whole = line.substr(at);
      return trim(whole.substr(0, whole.find_first_of("]},#")));
    }
  }
  return {};
}

}  // namespace

Error explain_syntax(Error error, std::string_view text, std::string_view file) {
  const std::optional<std::size_t> number = line_of(error.message, file);
  const std::vector<std::string_view> all = lines(text);
  if (error.code != Errc::malformed || !number || *number > all.size()) {
    return error;
  }
  // A block that begins here may be noticed on the line below.
  for (const std::size_t at : {*number, *number - 1}) {
    const std::string_view found = at == 0 ? std::string_view() : bare_constraint(all[at - 1]);
    if (!found.empty()) {
      error.message += "; put the constraint in quotes: \"" + std::string(found) + "\"";
      return error;
    }
  }
  return error;
}

}  // namespace goldenv::manifest
