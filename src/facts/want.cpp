#include "facts/want.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"
#include "facts/quantity.h"
#include "facts/scalar.h"
#include "facts/value_form.h"

namespace goldenv::facts {
namespace {

using doc::Node;
using version::Clause;
using version::Op;

/// Whether a value could be a number at all: a text can (a sysctl, a variable), a path cannot.
bool may_be_number(const Resolved& key) {
  return !is_list(key) && (is_numeric(key.entry->type) || key.entry->type == Type::text);
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
    if (const std::optional<std::string> literal = literal_text(key_, node.text)) {
      Want want;
      want.value = Value::scalar(*literal);
      return want;
    }
    if (key_.entry->type == Type::version) {
      return version(node, text);
    }
    const std::optional<WrittenOperator> written = operator_of(text);
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
    if (const std::string meant = meant_by_code(text); !meant.empty()) {
      return wrong(node, std::string(text) + " is a code for " + meant + "; expected " + meant);
    }
    if (const auto version = version::parse(scheme, text); !version) {
      constexpr auto kNothing = std::to_array<std::string_view>(
          {"none", "null", "nil", "no", "missing", "not installed", "-", "false", "n/a"});
      const bool nothing = std::ranges::find(kNothing, to_lower(text)) != kNothing.end();
      return wrong(node, version.error().message +
                             (nothing ? "; what must not be there is written absent" : ""));
    }
    want.value = Value::scalar(std::string(text));
    return want;
  }

  /// The version that one of the libraries' integer codes stands for, in the headers of which it is
  /// found: 21903 for 2.19.3 of NCCL. Empty where the text is none.
  [[nodiscard]] std::string meant_by_code(std::string_view text) const {
    constexpr std::uint64_t kLeastCode = 1000;  // no release is numbered so
    const auto number = to_number(text);
    const std::string_view name = key_.name;
    if (!number || *number < kLeastCode) {
      return {};
    }
    const auto of = [&](version::Code code) {
      return version::from_code(code, *number).value_or(std::string());
    };
    return name.starts_with("nccl")    ? of(version::Code::nccl)
           : name.starts_with("cudnn") ? of(version::Code::cudnn)
           : name.starts_with("cuda")  ? of(version::Code::cuda)
                                       : std::string();
  }

  Result<Want> exact(const Node& node, std::string_view text, Want::Kind kind) const {
    Want want;
    want.kind = kind;
    const Entry& entry = *key_.entry;
    if (is_list(key_)) {
      std::vector<std::string> items;
      if (key_.entry->type != Type::list) {  // a variable that holds a search path
        for (const std::string_view item : split(text, ':')) items.emplace_back(item);
      } else {
        for (const std::string_view item : words(text)) items.emplace_back(item);
      }
      want.value = Value::list(std::move(items));
      return want;
    }
    switch (entry.type) {
      case Type::choice:
        if (const std::string why = wrong_choice(key_, text); !why.empty()) {
          return wrong(node, why);
        }
        break;
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
          return wrong(node, "\"" + std::string(text) + "\" is no number; expected " +
                                 (entry.type == Type::bytes ? "bytes, such as 4096, 512MiB or 16G"
                                                            : "one such as 8 or 0.5"));
        }
        break;
      default:
        break;
    }
    want.value = Value::scalar(std::string(text));
    return want;
  }

  Result<Want> numbers(const Node& node, std::string_view text) const {
    if (!may_be_number(key_)) {
      return wrong(node, key_.name + " has no order: it is " + kind_of(key_) +
                             "; expected a value, ==VALUE or !=VALUE and not \"" +
                             std::string(text) + "\"");
    }
    Want want;
    want.kind = Want::Kind::constraint;
    for (const std::string_view piece : split(text, ',')) {
      const std::string_view clause = trim(piece);
      const std::optional<WrittenOperator> written = operator_of(clause);
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
      std::string name = entry.key;
      if (counts && key_.entry->type == Type::choice && name != "absent") {
        if (name.starts_with(kLiteral)) {
          name.erase(0, kLiteral.size());
        } else if (const std::string why = wrong_choice(key_, name); !why.empty()) {
          return doc::error_at(file_, entry.mark, why);
        }
      }
      if (!entry.value.is_scalar() || (counts && !to_number(entry.value.text))) {
        return wrong(entry.value, counts ? "expected a count here" : "expected a text here");
      }
      entries.emplace_back(std::move(name), entry.value.text);
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

}  // namespace

Result<Want> parse_want(const Resolved& key, const doc::Node& node, std::string_view file) {
  return WantParser(key, file).parse(node);
}

}  // namespace goldenv::facts
