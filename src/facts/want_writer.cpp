// What is wanted, as manifests and people have it.
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "facts/scalar.h"
#include "facts/value_form.h"
#include "facts/want.h"

namespace goldenv::facts {
namespace {

using doc::Node;
using version::Clause;
using version::Op;

/// The name of a counted value: of a choice, what the catalogue does not list is marked as meant.
std::string tally_name(const Resolved& key, const std::string& name) {
  const bool odd = key.entry->type == Type::choice && name != "absent" &&
                   (name.starts_with(kLiteral) || !wrong_choice(key, name).empty());
  return odd ? std::string(kLiteral) + name : name;
}

}  // namespace

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
        node.entries.push_back({value.form == Value::Form::tally ? tally_name(key, name) : name,
                                {},
                                Node::scalar(amount, value.form == Value::Form::map)});
      }
      return node;
    }
    default:
      break;
  }
  if (want.kind == Want::Kind::differs) {
    return Node::scalar("!=" + value.text, true);
  }
  std::string text = literal_form(key, value.text);
  const bool bare =
      text == value.text && (is_numeric(key.entry->type) || key.entry->type == Type::boolean);
  return Node::scalar(std::move(text), !bare);
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

}  // namespace goldenv::facts
