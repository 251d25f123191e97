#include "facts/value_form.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "doc/node.h"
#include "facts/quantity.h"
#include "facts/scalar.h"

namespace goldenv::facts {
namespace {

/// Variables that hold search paths are lists of folders.
bool is_path_list(std::string_view name) {
  return name.starts_with("env.") && name.ends_with("PATH");
}

/// Choices whose words are those of the kernel, of a processor or of a driver, or where a library
/// lies: others than the listed ones occur.
bool is_open(std::string_view name) {
  constexpr auto kOpen = std::to_array<std::string_view>(
      {"cpu.arch", "cpu.vendor", "gpu.bound_to", "nic.state", "rdma.link_layer", "rdma.state"});
  return std::ranges::find(kOpen, name) != kOpen.end() || name.ends_with(".origin") ||
         in_family(name, "library.origin");
}

/// The listed value that a mistyped one stands for ("AMD": AuthenticAMD), or "".
std::string_view nearest_value(const std::vector<std::string_view>& values, std::string_view text) {
  const std::string written = to_lower(text);
  constexpr std::size_t kLeastBytes = 3;  // what is shorter stands within anything
  std::string_view best;
  std::size_t distance = 3;
  for (const std::string_view value : values) {
    const std::string known = to_lower(value);
    const std::size_t length = std::min(known.size(), written.size());
    const bool within = length >= kLeastBytes && (known.find(written) != std::string::npos ||
                                                  written.find(known) != std::string::npos);
    const std::size_t here = known == written ? 0 : within ? 1 : edit_distance(known, written);
    if (here < distance && here < known.size()) {
      distance = here;
      best = value;
    }
  }
  return best;
}

/// Whether values of a type have a form that a text may lack.
bool has_form(Type type) {
  return type == Type::version || type == Type::boolean || type == Type::choice || is_numeric(type);
}

/// Whether a text is a value of the form that the key's values have.
bool has_its_form(const Resolved& key, std::string_view text) {
  const Entry& entry = *key.entry;
  switch (entry.type) {
    case Type::version:
      return version::parse(entry.scheme, text).has_value();
    case Type::boolean:
      return !canonical_boolean(text).empty();
    case Type::choice:
      return wrong_choice(key, text).empty();
    default:
      return !is_numeric(entry.type) || to_quantity(text).has_value();
  }
}

/// Whether a text may be meant as one of several constraints, or as a wildcard.
bool may_be_constraint(const Resolved& key, std::string_view text) {
  const auto operators = operator_of(text);
  return text.find_first_of(",<>=", operators ? operators->length : 0) != std::string_view::npos ||
         (key.entry->type == Type::version && text.ends_with(".*"));
}

}  // namespace

bool is_list(const Resolved& key) {
  return key.entry->type == Type::list || is_path_list(key.name);
}

std::string kind_of(const Resolved& key) {
  switch (is_list(key) ? Type::list : key.entry->type) {
    case Type::choice:
      return "one of a few words";
    case Type::boolean:
      return "true or false";
    default:
      return "a " + std::string(name(is_list(key) ? Type::list : key.entry->type));
  }
}

std::string wrong_choice(const Resolved& key, std::string_view text) {
  const std::vector<std::string_view> values = split(key.entry->values, '|');
  if (std::ranges::find(values, text) != values.end()) {
    return {};
  }
  // Since Linux 6.6 smt/control gives the number of threads where only some are on.
  if (key.name == "cpu.smt" && to_number(text)) {
    return {};
  }
  const std::string_view near = nearest_value(values, text);
  // YAML's own words for yes and no are never the kernel's.
  if (is_open(key.name) && near.empty() && (to_number(text) || canonical_boolean(text).empty())) {
    return {};
  }
  std::vector<std::string> known(values.begin(), values.end());
  return key.name + (is_open(key.name) ? " is hardly " : " cannot be ") +
         doc::quote_json(std::string(text)) +
         (near.empty() ? std::string() : ", did you mean " + std::string(near) + "?") +
         "; expected one of " + join(known, ", ");
}

std::optional<std::string> literal_text(const Resolved& key, std::string_view written) {
  if (!has_form(key.entry->type)) {
    return std::nullopt;
  }
  if (written.starts_with(kVerbatim)) {
    return std::string(written.substr(kVerbatim.size()));
  }
  std::string_view text = trim(written);
  if (!text.starts_with(kLiteral)) {
    return std::nullopt;
  }
  text = trim(text.substr(kLiteral.size()));
  if (text.empty() || has_its_form(key, text) || may_be_constraint(key, text)) {
    return std::nullopt;
  }
  return std::string(text);
}

std::string literal_form(const Resolved& key, std::string_view text) {
  const bool odd =
      text == "absent" || text == "any" || operator_of(text).has_value() || trim(text) != text;
  const bool formed = has_form(key.entry->type);
  const bool clear = has_its_form(key, text) && !may_be_constraint(key, text) &&
                     !(key.entry->type == Type::version && version::looks_like_constraint(text));
  const bool bare = !odd && (!formed || clear);
  if (bare) {
    return std::string(text);
  }
  std::string literal = std::string(kLiteral) + std::string(text);
  if (!formed || literal_text(key, literal) == text) {
    return literal;
  }
  return std::string(kVerbatim) + std::string(text);
}

}  // namespace goldenv::facts
