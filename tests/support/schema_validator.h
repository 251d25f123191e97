#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "doc/node.h"

namespace goldenv::test {

/// Whether an expression (ECMA 262) is found in a text; std::regex takes long to make one.
inline bool found(const std::string& text, const std::string& expression) {
  static std::map<std::string, std::regex> known;
  auto at = known.find(expression);
  if (at == known.end()) {
    at = known.emplace(expression, std::regex(expression)).first;
  }
  return std::regex_search(text, at->second);
}

/// As much of a validator of JSON Schema as goldenv's own schemas need; what it does not know
/// fails.
class Validator {
 public:
  explicit Validator(const doc::Node& schema) : root_(schema) {}

  /// "" or what is wrong.
  std::string check(const doc::Node& value) { return check(root_, value, ""); }

 private:
  std::string check(const doc::Node& schema, const doc::Node& value, const std::string& path) {
    if (schema.is_scalar()) {
      return schema.text == "true" ? "" : path + " is not allowed";
    }
    std::string wrong;
    for (const doc::Node::Entry& keyword : schema.entries) {
      if (wrong.empty()) {
        wrong = check_keyword(schema, keyword, value, path);
      }
    }
    return wrong;
  }

  std::string check_keyword(const doc::Node& schema, const doc::Node::Entry& keyword,
                            const doc::Node& value, const std::string& path) {
    static const std::set<std::string> notes = {
        "$schema", "$defs", "title", "description", "examples", "patternProperties", "properties"};
    const doc::Node& rule = keyword.value;
    if (keyword.key == "$ref") {
      return check(*root_.find("$defs")->find(rule.text.substr(8)), value, path);
    }
    if (keyword.key == "anyOf") {
      std::string all;
      for (const doc::Node& alternative : rule.items) {
        const std::string wrong = check(alternative, value, path);
        if (wrong.empty()) {
          return "";
        }
        all += (all.empty() ? "" : ", ") + wrong;
      }
      return "none of: " + all;
    }
    if (keyword.key == "type") {
      const bool fits = rule.is_scalar()
                            ? has_type(value, rule.text)
                            : std::ranges::any_of(rule.items, [&value](const doc::Node& type) {
                                return has_type(value, type.text);
                              });
      return fits ? "" : path + " has another type";
    }
    if (keyword.key == "const") {
      return value.text == rule.text && value.quoted == rule.quoted ? "" : path + " is another";
    }
    if (keyword.key == "enum") {
      return std::ranges::any_of(rule.items,
                                 [&value](const doc::Node& one) {
                                   return one.text == value.text && value.is_scalar();
                                 })
                 ? ""
                 : path + " is none of the enum";
    }
    if (keyword.key == "pattern") {
      return found(value.text, rule.text) ? "" : path + " does not match";
    }
    if (keyword.key == "required") {
      for (const doc::Node& key : rule.items) {
        if (value.is_mapping() && value.find(key.text) == nullptr) {
          return path + " lacks " + key.text;
        }
      }
      return "";
    }
    if (keyword.key == "minItems") {
      return value.items.size() >= std::stoul(rule.text) ? "" : path + " is too short";
    }
    if (keyword.key == "items") {
      std::string wrong;
      for (const doc::Node& item : value.items) {
        wrong = wrong.empty() ? check(rule, item, path + "[]") : wrong;
      }
      return wrong;
    }
    if (keyword.key == "additionalProperties") {
      return check_members(schema, rule, value, path);
    }
    return notes.contains(keyword.key) ? "" : "the validator does not know " + keyword.key;
  }

  std::string check_members(const doc::Node& schema, const doc::Node& others,
                            const doc::Node& value, const std::string& path) {
    for (const doc::Node::Entry& entry : value.entries) {
      const std::string below = path + "/" + entry.key;
      bool known = false;
      std::string wrong;
      if (const doc::Node* properties = schema.find("properties")) {
        if (const doc::Node* property = properties->find(entry.key)) {
          known = true;
          wrong = check(*property, entry.value, below);
        }
      }
      if (const doc::Node* patterns = schema.find("patternProperties")) {
        for (const doc::Node::Entry& pattern : patterns->entries) {
          if (wrong.empty() && found(entry.key, pattern.key)) {
            known = true;
            wrong = check(pattern.value, entry.value, below);
          }
        }
      }
      if (!known) {
        wrong = check(others, entry.value, below);
      }
      if (!wrong.empty()) {
        return wrong;
      }
    }
    return "";
  }

  /// A plain scalar that looks like a number is one, as YAML readers have it.
  static bool has_type(const doc::Node& value, const std::string& type) {
    static const std::regex number("-?[0-9]+(\\.[0-9]+)?");
    const bool is_boolean =
        value.is_scalar() && !value.quoted && (value.text == "true" || value.text == "false");
    const bool is_number =
        value.is_scalar() && !value.quoted && std::regex_match(value.text, number);
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_mapping();
    if (type == "array") return value.is_sequence();
    if (type == "boolean") return is_boolean;
    if (type == "number") return is_number;
    if (type == "integer") return is_number && value.text.find('.') == std::string::npos;
    return type == "string" && value.is_scalar() && !is_boolean && !is_number;
  }

  const doc::Node& root_;
};

}  // namespace goldenv::test
