#include "facts/reading.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace goldenv::facts {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Value with_items(Value::Form form, std::vector<std::string> items, bool sorted) {
  if (sorted) {
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
  }
  Value value;
  value.form = form;
  value.items = std::move(items);
  return value;
}

Value with_entries(Value::Form form, Pairs entries) {
  std::ranges::stable_sort(entries, {}, &Pairs::value_type::first);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  entries.erase(std::unique(entries.begin(), entries.end(), same_name), entries.end());
  Value value;
  value.form = form;
  value.entries = std::move(entries);
  return value;
}

constexpr std::array<std::string_view, 9> kWhy = {"denied",        "unreadable", "timed-out",
                                                  "not-collected", "not-stated", "ambiguous",
                                                  "not-live",      "not-probed", "unsupported"};

std::string describe(const Value& value) {
  switch (value.form) {
    case Value::Form::scalar:
      // A text that reads like a state is told from one.
      return value.text == "absent" || value.text == "any" || value.text.starts_with("unknown")
                 ? "\"" + value.text + "\""
                 : value.text;
    case Value::Form::prefix:
      return value.text + "...";
    case Value::Form::one_of:
      return join(value.items, " or ");
    case Value::Form::list:
      return value.items.empty() ? "(empty list)" : join(value.items, " ");
    case Value::Form::set:
      return value.items.empty() ? "(none)" : join(value.items, ", ");
    case Value::Form::map:
    case Value::Form::tally: {
      std::vector<std::string> pieces;
      for (const auto& [name, amount] : value.entries) {
        pieces.push_back(value.form == Value::Form::tally ? name + " x " + amount
                                                          : name + ": " + amount);
      }
      return pieces.empty() ? "(none)" : join(pieces, ", ");
    }
  }
  return {};
}

}  // namespace

Value Value::scalar(std::string text) {
  Value value;
  value.text = std::move(text);
  return value;
}

Value Value::prefix(std::string text) {
  Value value = scalar(std::move(text));
  value.form = Form::prefix;
  return value;
}

Value Value::one_of(std::vector<std::string> items) {
  return with_items(Form::one_of, std::move(items), true);
}

Value Value::list(std::vector<std::string> items) {
  return with_items(Form::list, std::move(items), false);
}

Value Value::set(std::vector<std::string> items) {
  return with_items(Form::set, std::move(items), true);
}

Value Value::map(Pairs entries) { return with_entries(Form::map, std::move(entries)); }

Value Value::tally(Pairs entries) { return with_entries(Form::tally, std::move(entries)); }

Value Value::number(std::uint64_t number) { return scalar(std::to_string(number)); }

Value Value::boolean(bool on) { return scalar(on ? "true" : "false"); }

Unknown Unknown::from(const Error& error) {
  Unknown unknown;
  unknown.detail = error.message;
  switch (error.code) {
    case Errc::denied:
      unknown.why = Why::denied;
      break;
    case Errc::timed_out:
      unknown.why = Why::timed_out;
      break;
    case Errc::not_live:
      unknown.why = Why::not_live;
      break;
    case Errc::not_collected:
      unknown.why = Why::not_collected;
      break;
    default:
      unknown.why = Why::unreadable;
  }
  return unknown;
}

Reading unread(const Error& error) {
  if (error.code == Errc::absent) {
    return Absent{};
  }
  return Unknown::from(error);
}

std::string_view name(Why why) { return kWhy.at(static_cast<std::size_t>(why)); }

Result<Why> parse_why(std::string_view name) {
  const auto found = std::ranges::find(kWhy, name);
  if (found == kWhy.end()) {
    return Error{Errc::malformed, "\"" + std::string(name) + "\" is no reason for an unknown", {}};
  }
  return static_cast<Why>(found - kWhy.begin());
}

FactKey FactKey::parse(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return {std::string(text), {}};
  }
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

std::string FactKey::text() const { return label.empty() ? name : name + "@" + label; }

std::string describe(const Reading& reading) {
  if (const auto* value = std::get_if<Value>(&reading)) {
    return describe(*value);
  }
  if (const auto* absent = std::get_if<Absent>(&reading)) {
    return absent->reason.empty() ? "absent" : "absent (" + absent->reason + ")";
  }
  const auto& unknown = std::get<Unknown>(reading);
  std::string text = "unknown (" + std::string(name(unknown.why));
  if (!unknown.needs.empty()) {
    text += ", needs " + unknown.needs;
  }
  if (!unknown.detail.empty()) {
    text += ": " + unknown.detail;
  }
  return text + ")";
}

}  // namespace goldenv::facts
