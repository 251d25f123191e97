// Whether a reading is what is wanted of it, and whether two readings are the same.
#include <algorithm>
#include <array>
#include <optional>

#include "base/sha256.h"
#include "base/text.h"
#include "facts/quantity.h"
#include "facts/scalar.h"
#include "facts/want.h"

namespace goldenv::facts {
namespace {

using version::Clause;
using version::Op;

std::string without_identity(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  std::ranges::copy_if(words, std::back_inserter(kept),
                       [](const std::string& word) { return !is_identity_parameter(word); });
  return join(kept, "\n");
}

/// Whether two texts of one key are the same value by its type.
bool same_text(const Entry& entry, const std::string& a, const std::string& b) {
  if (a == b) {
    return true;
  }
  if (entry.type == Type::version) {
    const auto left = version::parse(entry.scheme, a);
    const auto right = version::parse(entry.scheme, b);
    return left && right && version::order(*left, *right) == std::strong_ordering::equal;
  }
  if (is_numeric(entry.type)) {
    const std::optional<double> left = to_quantity(a);
    const std::optional<double> right = to_quantity(b);
    constexpr std::string_view kTolerance = "numeric-tolerance:";
    return left && right &&
           within(*left, *right,
                  entry.compare.starts_with(kTolerance) ? entry.compare.substr(kTolerance.size())
                                                        : std::string_view("0"));
  }
  if (entry.type == Type::boolean) {
    return !canonical_boolean(a).empty() && canonical_boolean(a) == canonical_boolean(b);
  }
  return false;
}

bool agrees(std::string_view prefix, std::string_view text) {
  return version::is_prefix(prefix, text);
}

/// Whether a secret stands in a value, whose mask is all that is known of it.
bool is_masked(const Value& value) {
  const auto holds = [](std::string_view text) { return text.find(kMask) != text.npos; };
  return holds(value.text) ||
         std::ranges::any_of(value.items,
                             [&](const std::string& item) {
                               return holds(item) && !is_identity_parameter(item);
                             }) ||
         std::ranges::any_of(value.entries, [&](const auto& entry) {
           return holds(entry.first) || holds(entry.second);
         });
}

Truth same_shown(const Entry& entry, const Value& a, const Value& b) {
  using Form = Value::Form;
  if (a.form == Form::one_of || b.form == Form::one_of) {
    if (a.form == b.form && a.items == b.items) {
      // The same numbers led to the same releases; what they were read from is compared by itself.
      return Truth::yes;
    }
    const std::vector<std::string> left = a.form == Form::one_of ? a.items : std::vector{a.text};
    const std::vector<std::string> right = b.form == Form::one_of ? b.items : std::vector{b.text};
    const bool overlap = std::ranges::any_of(left, [&](const std::string& x) {
      return std::ranges::any_of(right, [&](const std::string& y) {
        return same_text(entry, x, y) || (a.form == Form::prefix && agrees(x, y)) ||
               (b.form == Form::prefix && agrees(y, x));
      });
    });
    return overlap ? Truth::unknown : Truth::no;
  }
  if (a.form == Form::prefix || b.form == Form::prefix) {
    const bool possible = a.form == b.form ? agrees(a.text, b.text) || agrees(b.text, a.text)
                          : a.form == Form::prefix ? agrees(a.text, b.text)
                                                   : agrees(b.text, a.text);
    return possible ? Truth::unknown : Truth::no;
  }
  if (a.form != b.form) {
    return Truth::no;
  }
  if (a.form == Form::scalar) {
    return truth(same_text(entry, a.text, b.text));
  }
  if (entry.key == "kernel.cmdline" || entry.key == "next_boot.kernel.cmdline") {
    return truth(without_identity(a.items) == without_identity(b.items));
  }
  return truth(a.items == b.items && a.entries == b.entries);
}

Truth same_value(const Entry& entry, const Value& a, const Value& b) {
  const Truth shown = same_shown(entry, a, b);
  return shown == Truth::yes && (is_masked(a) || is_masked(b)) ? Truth::unknown : shown;
}

constexpr std::string_view kDigest = "sha256:";

/// Whether a variable's value is known by its digest alone (probe::environment).
bool is_digested(const Entry& entry, const Value& value) {
  return entry.key == "env.<NAME>" && value.form == Value::Form::scalar &&
         value.text.starts_with(kDigest) &&
         Sha256::parse(std::string_view(value.text).substr(kDigest.size()));
}

/// Whether a variable has the wanted text, which may be its digest.
bool same_digested(const Value& wanted, const Value& found) {
  const std::string text = wanted.form == Value::Form::list ? join(wanted.items, ":") : wanted.text;
  return to_lower(text) == found.text ||
         std::string(kDigest) + Sha256::of(text).hex() == found.text;
}

Truth same_as_wanted(const Entry& entry, const Value& wanted, const Value& found) {
  return is_digested(entry, found) ? truth(same_digested(wanted, found))
                                   : same_value(entry, wanted, found);
}

bool excludes(const Clause& clause) { return clause.op == Op::ne || clause.op == Op::not_wildcard; }

/// What a want rules out, without what it asks for; nothing where it rules out nothing.
std::optional<Want> exclusions_of(const Want& want) {
  if (want.kind == Want::Kind::differs) {
    return want;
  }
  if (want.kind != Want::Kind::constraint) {
    return std::nullopt;
  }
  Want excluding = want;
  std::erase_if(excluding.constraint.clauses,
                [](const Clause& clause) { return !excludes(clause); });
  return excluding.constraint.clauses.empty() ? std::nullopt : std::optional(excluding);
}

bool only_excludes(const Want& want) {
  const std::optional<Want> exclusions = exclusions_of(want);
  return exclusions && *exclusions == want;
}

Truth meets_clauses(const version::Constraint& clauses, version::Scheme scheme,
                    const Value& value) {
  if (value.form == Value::Form::prefix) {
    return version::meets_prefix(clauses, value.text);
  }
  const auto version = version::parse(scheme, value.text);
  return version ? version::meets(clauses, *version) : Truth::unknown;
}

/// The upstream level as far as a release decides it (version::kernel_upstream).
std::optional<Value> level_of(const Value& release) {
  if (release.form == Value::Form::scalar) {
    const auto level = version::kernel_upstream(release.text, "", "");
    return !level         ? std::nullopt
           : level->exact ? std::optional(Value::scalar(level->text))
                          : std::optional(Value::prefix(level->text));
  }
  // Of a release that is known in part the third number may be a placeholder.
  const std::vector<std::string_view> parts = split(release.text, '.');
  if (parts.size() < 2 || !to_number(parts[0])) {
    return std::nullopt;
  }
  const std::string_view minor = parts[1].substr(0, parts[1].find_first_not_of("0123456789"));
  return minor.empty()
             ? std::nullopt
             : std::optional(Value::prefix(std::string(parts[0]) + "." + std::string(minor)));
}

Truth meets_kernel(const version::Constraint& constraint, const Value& value,
                   const Reading& upstream) {
  const auto* level = std::get_if<Value>(&upstream);
  std::optional<Value> own;
  if (level == nullptr && (own = level_of(value))) {
    level = &*own;
  }
  const auto release = version::parse(version::Scheme::kernel, value.text);
  if (level != nullptr && release && value.form == Value::Form::scalar) {
    return version::meets_kernel(constraint, *release,
                                 {level->text, level->form == Value::Form::scalar});
  }
  // Of the release or of its level less is known: what the other decides is decided.
  const version::Constraint ordered = version::ordered_clauses(constraint);
  const Truth by_level = ordered.clauses.empty() ? Truth::yes
                         : level == nullptr
                             ? Truth::unknown
                             : meets_clauses(ordered, version::Scheme::dotted, *level);
  return by_level &
         meets_clauses(version::exact_clauses(constraint), version::Scheme::kernel, value);
}

Truth meets_versions(const Entry& entry, const version::Constraint& constraint, const Value& value,
                     const Reading& upstream) {
  return entry.scheme == version::Scheme::kernel ? meets_kernel(constraint, value, upstream)
                                                 : meets_clauses(constraint, entry.scheme, value);
}

Truth meets_numbers(const version::Constraint& constraint, const Value& value) {
  const std::optional<double> found = to_quantity(value.text);
  if (!found || value.form != Value::Form::scalar) {
    return Truth::unknown;
  }
  return truth(std::ranges::all_of(constraint.clauses, [&](const Clause& clause) {
    return holds(clause.op, *found, to_quantity(clause.text).value_or(0));
  }));
}

Truth meets_value(const Entry& entry, const Want& want, const Value& value,
                  const Reading& upstream) {
  const bool counts = want.value.form == Value::Form::tally;
  if (value.form == Value::Form::one_of) {
    // Any of them may be the true one, and nothing says which: a pin on one of them is met.
    Truth any = Truth::no;
    for (const std::string& item : value.items) {
      any = any | meets_value(entry, want, Value::scalar(item), upstream);
    }
    // What it rules out must be none of them: nothing says that it is another.
    const std::optional<Want> exclusions = exclusions_of(want);
    const auto is_free = [&](const std::string& item) {
      return meets_value(entry, *exclusions, Value::scalar(item), upstream) == Truth::yes;
    };
    return any == Truth::yes && exclusions && !std::ranges::all_of(value.items, is_free)
               ? Truth::unknown
               : any;
  }
  if (value.form == Value::Form::tally && !counts) {
    Truth all = Truth::yes;
    for (const auto& [item, count] : value.entries) {
      all = all & meets_value(entry, want, Value::scalar(item), upstream);
    }
    return all;
  }
  if (counts && value.form == Value::Form::scalar) {
    // All instances have it; how many there are the value alone does not tell (see counted_for).
    const auto& entries = want.value.entries;
    return entries.size() == 1 && same_text(entry, entries.front().first, value.text)
               ? Truth::unknown
               : Truth::no;
  }
  switch (want.kind) {
    case Want::Kind::constraint:
      return entry.type == Type::version ? meets_versions(entry, want.constraint, value, upstream)
             : is_digested(entry, value) ? Truth::unknown
                                         : meets_numbers(want.constraint, value);
    case Want::Kind::differs:
      return !same_as_wanted(entry, want.value, value);
    default:
      return same_as_wanted(entry, want.value, value);
  }
}

}  // namespace

Truth meets(const Entry& entry, const Want& want, const Reading& reading, const Reading& upstream) {
  if (want.kind == Want::Kind::any) {
    return Truth::yes;
  }
  if (want.kind == Want::Kind::any_of) {
    Truth any = Truth::no;
    for (const Want& one : want.any) {
      any = any | meets(entry, one, reading, upstream);
    }
    return any;
  }
  if (std::holds_alternative<Unknown>(reading)) {
    return Truth::unknown;
  }
  if (std::holds_alternative<Absent>(reading)) {
    return truth(want.kind == Want::Kind::absent || only_excludes(want));
  }
  if (want.kind == Want::Kind::absent) {
    return Truth::no;
  }
  return meets_value(entry, want, std::get<Value>(reading), upstream);
}

namespace {

bool counts_instances(const Want& want) {
  return want.value.form == Value::Form::tally || std::ranges::any_of(want.any, counts_instances);
}

}  // namespace

Reading counted_for(const Want& want, const Snapshot& snapshot, const FactKey& key,
                    Reading reading) {
  if (!key.label.empty() || !counts_instances(want) || std::holds_alternative<Unknown>(reading)) {
    return reading;
  }
  const auto* value = std::get_if<Value>(&reading);
  if (value != nullptr && value->form != Value::Form::scalar && value->form != Value::Form::list) {
    return reading;
  }
  // One that was asked for by name and is not there stands among them as absent.
  const auto instances = snapshot.instances(key.name);
  const auto count = std::ranges::count_if(instances, [&](const Fact& fact) {
    return std::holds_alternative<Value>(fact.reading) == (value != nullptr);
  });
  if (count == 0) {
    return reading;
  }
  // As tallies spell what they count (probe::Instances).
  const std::string text = value == nullptr                     ? "absent"
                           : value->form == Value::Form::scalar ? value->text
                                                                : join(value->items, ",");
  return Value::tally({{text, std::to_string(count)}});
}

std::string why_undecided(const Entry& entry, const Want& want, const Reading& reading) {
  if (std::holds_alternative<Unknown>(reading)) {
    return "it is " + describe(reading);
  }
  if (want.kind == Want::Kind::any_of) {
    for (const Want& one : want.any) {
      if (std::string why = why_undecided(entry, one, reading); !why.empty()) {
        return why;
      }
    }
    return {};
  }
  const auto* value = std::get_if<Value>(&reading);
  if (value == nullptr) {
    return {};
  }
  if (is_masked(*value)) {
    return "a secret stands in it, which is not shown and was not compared";
  }
  if (value->form == Value::Form::one_of && exclusions_of(want)) {
    return "it is one of " + join(value->items, ", ") + ", and nothing says which";
  }
  if (value->form == Value::Form::prefix) {
    return "only the beginning of it is known, " + value->text;
  }
  if (want.kind != Want::Kind::constraint) {
    return {};
  }
  if (is_digested(entry, *value)) {
    return "of its value only the digest is known, which has no order; expected a value, ==VALUE "
           "or !=VALUE";
  }
  if (entry.type == Type::version && entry.scheme == version::Scheme::kernel) {
    const std::optional<Value> level = level_of(*value);
    if (level && level->form == Value::Form::prefix) {
      return "of its upstream level only the beginning is known, " + level->text;
    }
  }
  if (entry.type == Type::version) {
    return value->form == Value::Form::scalar && !version::parse(entry.scheme, value->text)
               ? "it is " + doc::quote_json(value->text) + ", which is no version"
               : std::string();
  }
  std::vector<std::string> texts = value->items;
  for (const auto& [item, count] : value->entries) {
    texts.push_back(item);
  }
  texts.push_back(value->text);
  const auto text = std::ranges::find_if(
      texts, [](const std::string& one) { return !one.empty() && !to_quantity(one); });
  return text == texts.end()
             ? std::string()
             : "it is the text " + doc::quote_json(*text) + ", and text has no order";
}

Truth same(const Entry& entry, const Reading& a, const Reading& b) {
  if (std::holds_alternative<Unknown>(a) || std::holds_alternative<Unknown>(b)) {
    return Truth::unknown;
  }
  if (std::holds_alternative<Absent>(a) || std::holds_alternative<Absent>(b)) {
    return truth(std::holds_alternative<Absent>(a) && std::holds_alternative<Absent>(b));
  }
  return same_value(entry, std::get<Value>(a), std::get<Value>(b));
}

bool is_identity_parameter(std::string_view word) {
  constexpr std::array<std::string_view, 8> kNames = {
      "root", "BOOT_IMAGE", "resume", "ip", "initrd", "nfsroot", "BOOTIF", "cryptdevice"};
  constexpr std::array<std::string_view, 4> kStarts = {"rd.luks.", "rd.lvm.", "rd.md.",
                                                       "systemd.machine_id"};
  const std::string_view name = word.substr(0, word.find('='));
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace goldenv::facts
