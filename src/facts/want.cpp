#include "facts/want.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/quantity.h"

namespace goldenv::facts {
namespace {

using doc::Node;
using version::Clause;
using version::Op;

bool is_numeric(Type type) {
  return type == Type::integer || type == Type::number || type == Type::bytes;
}

// Variables that hold search paths are lists of folders.
bool is_path_list(std::string_view name) {
  return name.starts_with("env.") && name.ends_with("PATH");
}

bool is_list(const Resolved& key) {
  return key.entry->type == Type::list || is_path_list(key.name);
}

/// The operator at the start of a text and how long it is.
struct Written {
  Op op;
  std::size_t length;
};

std::optional<Written> operator_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Op>, 7> kOperators = {{{"==", Op::eq},
                                                                          {"!=", Op::ne},
                                                                          {">=", Op::ge},
                                                                          {"<=", Op::le},
                                                                          {"~=", Op::compatible},
                                                                          {">", Op::gt},
                                                                          {"<", Op::lt}}};
  for (const auto& [sign, op] : kOperators) {
    if (text.starts_with(sign)) {
      return Written{op, sign.size()};
    }
  }
  return std::nullopt;
}

std::string_view sign(Op op) {
  switch (op) {
    case Op::ne:
      return "!=";
    case Op::ge:
      return ">=";
    case Op::le:
      return "<=";
    case Op::gt:
      return ">";
    case Op::lt:
      return "<";
    case Op::compatible:
      return "~=";
    default:
      return "==";
  }
}

std::string canonical_boolean(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "true" || lower == "yes" || lower == "on" || lower == "1") return "true";
  if (lower == "false" || lower == "no" || lower == "off" || lower == "0") return "false";
  return {};
}

// Bytes are compared as numbers, so that 64MiB and 67108864 are one.
bool holds(Op op, double found, double wanted) {
  switch (op) {
    case Op::eq:
      return found == wanted;
    case Op::ne:
      return found != wanted;
    case Op::ge:
      return found >= wanted;
    case Op::le:
      return found <= wanted;
    case Op::gt:
      return found > wanted;
    case Op::lt:
      return found < wanted;
    default:
      return false;
  }
}

bool some_number_meets(const std::vector<Clause>& clauses) {
  // The clauses' own operands, the points between them and beyond are all that can matter.
  std::vector<double> points;
  for (const Clause& clause : clauses) {
    points.push_back(to_quantity(clause.text).value_or(0));
  }
  std::ranges::sort(points);
  std::vector<double> tries = {points.front() - 1, points.back() + 1};
  for (std::size_t i = 0; i < points.size(); ++i) {
    tries.push_back(points[i]);
    if (i + 1 < points.size()) {
      tries.push_back((points[i] + points[i + 1]) / 2);
    }
  }
  return std::ranges::any_of(tries, [&](double value) {
    return std::ranges::all_of(clauses, [&](const Clause& clause) {
      return holds(clause.op, value, to_quantity(clause.text).value_or(0));
    });
  });
}

/// Builds a Want from the text of a scalar.
class WantParser {
 public:
  WantParser(const Resolved& key, std::string_view file) : key_(key), file_(file) {}

  Result<Want> parse(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::null:
        return doc::error_at(file_, node.mark,
                             "nothing is wanted of " + key_.name +
                                 ": write a value, or absent for \"must not be there\"");
      case Node::Kind::scalar:
        return scalar(node);
      case Node::Kind::sequence:
        return sequence(node);
      case Node::Kind::mapping:
        return mapping(node);
    }
    return Want{};
  }

 private:
  Result<Want> scalar(const Node& node) const {
    const std::string_view text = trim(node.text);
    if (text == "absent" || text == "any") {
      Want want;
      want.kind = text == "any" ? Want::Kind::any : Want::Kind::absent;
      return want;
    }
    if (key_.entry->type == Type::version) {
      return version(node, text);
    }
    const std::optional<Written> written = operator_of(text);
    const bool numeric = is_numeric(key_.entry->type);
    if (!written && !(numeric && text.find(',') != std::string_view::npos)) {
      return exact(node, numeric ? text : std::string_view(node.text), Want::Kind::exact);
    }
    if (written && (written->op == Op::eq || written->op == Op::ne)) {
      const Want::Kind kind = written->op == Op::eq ? Want::Kind::exact : Want::Kind::differs;
      if (!numeric && node.text.starts_with(sign(written->op))) {
        // What stands behind the operator is the literal text, blanks and commas too.
        return exact(node, std::string_view(node.text).substr(written->length), kind);
      }
      if (text.find(',') == std::string_view::npos) {
        return exact(node, trim(text.substr(written->length)), kind);
      }
    }
    return numbers(node, text);
  }

  Result<Want> version(const Node& node, std::string_view text) const {
    Want want;
    const version::Scheme scheme = key_.entry->scheme;
    if (version::looks_like_constraint(text)) {
      Result<version::Constraint> constraint = version::parse_constraint(scheme, text);
      if (!constraint) {
        return wrong(node, constraint.error().message);
      }
      want.kind = Want::Kind::constraint;
      want.constraint = *std::move(constraint);
      return want;
    }
    if (const auto version = version::parse(scheme, text); !version) {
      return wrong(node, version.error().message);
    }
    want.value = Value::scalar(std::string(text));
    return want;
  }

  Result<Want> exact(const Node& node, std::string_view text, Want::Kind kind) const {
    Want want;
    want.kind = kind;
    const Entry& entry = *key_.entry;
    if (is_list(key_)) {
      std::vector<std::string> items;
      if (is_path_list(key_.name)) {
        for (const std::string_view item : split(text, ':')) items.emplace_back(item);
      } else {
        for (const std::string_view item : words(text)) items.emplace_back(item);
      }
      want.value = Value::list(std::move(items));
      return want;
    }
    switch (entry.type) {
      case Type::set:
        want.value = Value::set({std::string(text)});
        return want;
      case Type::map:
        return wrong(node, key_.name + " is a map: write {name: value}");
      case Type::boolean: {
        const std::string word = canonical_boolean(text);
        if (word.empty()) {
          return wrong(node, "\"" + std::string(text) + "\" is neither true nor false");
        }
        want.value = Value::scalar(word);
        return want;
      }
      case Type::integer:
      case Type::number:
      case Type::bytes:
        if (!to_quantity(text)) {
          return wrong(node, "\"" + std::string(text) + "\" is no number");
        }
        break;
      default:
        break;
    }
    want.value = Value::scalar(std::string(text));
    return want;
  }

  Result<Want> numbers(const Node& node, std::string_view text) const {
    Want want;
    want.kind = Want::Kind::constraint;
    for (const std::string_view piece : split(text, ',')) {
      const std::string_view clause = trim(piece);
      const std::optional<Written> written = operator_of(clause);
      const std::string_view operand = trim(clause.substr(written ? written->length : 0));
      if (!written || written->op == Op::compatible || !to_quantity(operand)) {
        return wrong(node, key_.name + " has no order but that of numbers: \"" +
                               std::string(clause) +
                               "\" is no comparison with a number (a literal text is written ==" +
                               std::string(clause) + ")");
      }
      want.constraint.clauses.push_back({written->op, std::string(operand)});
    }
    if (!some_number_meets(want.constraint.clauses)) {
      return wrong(node, "no number can meet \"" + std::string(text) + "\"");
    }
    return want;
  }

  Result<Want> sequence(const Node& node) const {
    Want want;
    if (is_list(key_) || key_.entry->type == Type::set) {
      std::vector<std::string> items;
      for (const Node& item : node.items) {
        if (!item.is_scalar()) {
          return wrong(item, "expected a text here");
        }
        items.push_back(item.text);
      }
      want.value = key_.entry->type == Type::set ? Value::set(std::move(items))
                                                 : Value::list(std::move(items));
      return want;
    }
    if (node.items.empty()) {
      return wrong(node, "an empty list: nothing could meet it");
    }
    want.kind = Want::Kind::any_of;
    for (const Node& item : node.items) {
      if (!item.is_scalar()) {
        return wrong(item, "expected one of several values here");
      }
      GOLDENV_TRY(Want one, scalar(item));
      if (one.kind == Want::Kind::any) {
        return wrong(item, "\"any\" has no place in a list");
      }
      want.any.push_back(std::move(one));
    }
    return want;
  }

  Result<Want> mapping(const Node& node) const {
    const bool counts = key_.entry->type != Type::map;
    if (counts && key_.entry->many != Many::all) {
      return wrong(node, key_.name + " is no map: write a value, a list, or {want: ...}");
    }
    std::vector<std::pair<std::string, std::string>> entries;
    for (const Node::Entry& entry : node.entries) {
      if (!entry.value.is_scalar() || (counts && !to_number(entry.value.text))) {
        return wrong(entry.value, counts ? "expected a count here" : "expected a text here");
      }
      entries.emplace_back(entry.key, entry.value.text);
    }
    Want want;
    want.value = counts ? Value::tally(std::move(entries)) : Value::map(std::move(entries));
    return want;
  }

  [[nodiscard]] Error wrong(const Node& node, std::string_view what) const {
    return doc::error_at(file_, node.mark, what);
  }

  const Resolved& key_;
  std::string_view file_;
};

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

Truth same_value(const Entry& entry, const Value& a, const Value& b) {
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

bool only_excludes(const Want& want) {
  return want.kind == Want::Kind::differs ||
         (want.kind == Want::Kind::constraint &&
          std::ranges::all_of(want.constraint.clauses, [](const Clause& clause) {
            return clause.op == Op::ne || clause.op == Op::not_wildcard;
          }));
}

Truth meets_clause(const version::Constraint& clause, version::Scheme scheme, const Value& value) {
  if (value.form == Value::Form::prefix) {
    return version::meets_prefix(clause, value.text);
  }
  const auto version = version::parse(scheme, value.text);
  return version ? version::meets(clause, *version) : Truth::unknown;
}

Truth meets_versions(const Entry& entry, const version::Constraint& constraint, const Value& value,
                     const Reading& upstream) {
  if (entry.scheme != version::Scheme::kernel) {
    return meets_clause(constraint, entry.scheme, value);
  }
  // Order among kernels is that of their upstream levels; the release's own numbers are
  // placeholders.
  Truth all = Truth::yes;
  for (const Clause& clause : constraint.clauses) {
    const version::Constraint one{constraint.scheme, {clause}};
    if (!version::is_ordered(clause.op)) {
      all = all & meets_clause(one, entry.scheme, value);
      continue;
    }
    const auto* level = std::get_if<Value>(&upstream);
    all = all &
          (level == nullptr ? Truth::unknown : meets_clause(one, version::Scheme::dotted, *level));
  }
  return all;
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
    return any;
  }
  if (value.form == Value::Form::tally && !counts) {
    Truth all = Truth::yes;
    for (const auto& [item, count] : value.entries) {
      all = all & meets_value(entry, want, Value::scalar(item), upstream);
    }
    return all;
  }
  switch (want.kind) {
    case Want::Kind::constraint:
      return entry.type == Type::version ? meets_versions(entry, want.constraint, value, upstream)
                                         : meets_numbers(want.constraint, value);
    case Want::Kind::differs:
      return !same_value(entry, want.value, value);
    default:
      return same_value(entry, want.value, value);
  }
}

}  // namespace

Result<Want> parse_want(const Resolved& key, const doc::Node& node, std::string_view file) {
  return WantParser(key, file).parse(node);
}

doc::Node to_node(const Resolved& key, const Want& want) {
  const auto items = [](const std::vector<std::string>& texts) {
    std::vector<Node> nodes;
    for (const std::string& text : texts) nodes.push_back(Node::scalar(text, true));
    return Node::sequence(std::move(nodes));
  };
  switch (want.kind) {
    case Want::Kind::absent:
      return Node::scalar("absent");
    case Want::Kind::any:
      return Node::scalar("any");
    case Want::Kind::constraint: {
      if (key.entry->type == Type::version) {
        return Node::scalar(version::render(want.constraint), true);
      }
      std::vector<std::string> clauses;
      for (const Clause& clause : want.constraint.clauses) {
        clauses.push_back(std::string(sign(clause.op)) + clause.text);
      }
      return Node::scalar(join(clauses, ","), true);
    }
    case Want::Kind::any_of: {
      std::vector<Node> nodes;
      for (const Want& one : want.any) nodes.push_back(to_node(key, one));
      return Node::sequence(std::move(nodes));
    }
    case Want::Kind::exact:
    case Want::Kind::differs:
      break;
  }
  const Value& value = want.value;
  switch (value.form) {
    case Value::Form::list:
    case Value::Form::set:
      return items(value.items);
    case Value::Form::map:
    case Value::Form::tally: {
      Node node = Node::mapping({});
      for (const auto& [name, amount] : value.entries) {
        node.entries.push_back({name, {}, Node::scalar(amount, value.form == Value::Form::map)});
      }
      return node;
    }
    default:
      break;
  }
  const std::string_view text = value.text;
  const bool literal =
      want.kind == Want::Kind::exact && key.entry->type != Type::version &&
      (text == "absent" || text == "any" || operator_of(text).has_value() || trim(text) != text);
  const bool bare = is_numeric(key.entry->type) || key.entry->type == Type::boolean;
  return Node::scalar((want.kind == Want::Kind::differs ? "!="
                       : literal                        ? "=="
                                                        : "") +
                          value.text,
                      !bare);
}

std::string describe(const Want& want) {
  switch (want.kind) {
    case Want::Kind::absent:
      return "absent";
    case Want::Kind::any:
      return "any";
    case Want::Kind::constraint: {
      std::vector<std::string> clauses;
      for (const Clause& clause : want.constraint.clauses) {
        const bool wildcard = clause.op == Op::wildcard || clause.op == Op::not_wildcard;
        clauses.push_back((clause.op == Op::wildcard       ? ""
                           : clause.op == Op::not_wildcard ? "!="
                                                           : std::string(sign(clause.op))) +
                          clause.text + (wildcard ? ".*" : ""));
      }
      return join(clauses, ",");
    }
    case Want::Kind::any_of: {
      std::vector<std::string> texts;
      for (const Want& one : want.any) texts.push_back(describe(one));
      return join(texts, " or ");
    }
    case Want::Kind::differs:
      return "!=" + describe(Reading(want.value));
    case Want::Kind::exact:
      return describe(Reading(want.value));
  }
  return {};
}

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
