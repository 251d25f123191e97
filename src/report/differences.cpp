#include "report/differences.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "facts/want.h"
#include "report/data.h"

namespace goldenv::report {
namespace {

using diff::Difference;
using diff::Kind;
using diff::Undecided;
using doc::Node;
using facts::Value;

const Value* value_of(const facts::Reading& reading) { return std::get_if<Value>(&reading); }

bool is_collection(const Value& value) {
  return value.form == Value::Form::list || value.form == Value::Form::set ||
         value.form == Value::Form::map;
}

/// The members of a collection as texts, without identity words of a command line.
std::vector<std::string> members(const Difference& difference, const Value& value) {
  std::vector<std::string> texts = value.items;
  for (const auto& [name, amount] : value.entries) {
    texts.push_back(name + ": " + amount);
  }
  if (difference.key.name.ends_with("kernel.cmdline")) {
    std::erase_if(texts,
                  [](const std::string& word) { return facts::is_identity_parameter(word); });
  }
  return texts;
}

/// What `from` has more often than `other`, in its order.
std::vector<std::string> only_in(const std::vector<std::string>& from,
                                 std::vector<std::string> other) {
  std::vector<std::string> kept;
  for (const std::string& text : from) {
    const auto found = std::ranges::find(other, text);
    if (found == other.end()) {
      kept.push_back(printable(text));
    } else {
      other.erase(found);
    }
  }
  return kept;
}

std::string short_text(const facts::Reading& reading) {
  if (std::holds_alternative<facts::Absent>(reading)) {
    return "absent";
  }
  return printable(facts::describe(reading));
}

Ink ink_of(facts::Level level) {
  return level == facts::Level::must     ? Ink::red
         : level == facts::Level::should ? Ink::yellow
                                         : Ink::plain;
}

std::string line_tail(const Difference& difference) {
  const Sides both = sides(difference);
  return both.a + " -> " + both.b;
}

/// Rows told inside another's: "with it: KEY a -> b; KEY a -> b", wrapped.
std::string told_with(const Difference& difference, Colour colour) {
  std::vector<std::string> pieces;
  for (const Difference& inner : difference.with) {
    pieces.push_back(printable(inner.key.text()) + " " + line_tail(inner));
  }
  constexpr std::size_t kWidth = 78;
  std::string out;
  std::string line = "          with it: ";
  bool fresh = true;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = pieces[i] + (i + 1 < pieces.size() ? ";" : "");
    if (!fresh && width(line) + 1 + width(piece) > kWidth) {
      out += paint(colour, Ink::dim, line) + "\n";
      line = "            ";
      fresh = true;
    }
    line += (fresh ? "" : " ") + piece;
    fresh = false;
  }
  return out + paint(colour, Ink::dim, line) + "\n";
}

std::string rows_text(const std::vector<Difference>& differences, Colour colour) {
  std::vector<std::vector<std::string>> rows;
  for (const Difference& difference : differences) {
    rows.push_back({std::string(facts::name(difference.level)),
                    std::string(facts::name(difference.entry->layer)),
                    printable(difference.key.text()), line_tail(difference),
                    kind_text(difference)});
  }
  const std::string drawn = table(rows);
  const std::vector<std::string_view> lines = goldenv::lines(drawn);
  std::string out;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const Difference& difference = differences[i];
    const std::size_t level = facts::name(difference.level).size();
    out += paint(colour, ink_of(difference.level), lines[i].substr(0, level));
    out += std::string(lines[i].substr(level)) + "\n";
    for (const std::string& note : difference.evidence_b.notes) {
      if (note.starts_with(difference.key.name + "@")) {
        out += "          " + printable(note) + "\n";
      }
    }
    if (!difference.why.empty()) {
      out += "          why: " + printable(difference.why) + "\n";
    }
    if (!difference.with.empty()) {
      out += told_with(difference, colour);
    }
  }
  return out;
}

std::string needs_of(const facts::Reading& reading) {
  const auto* unknown = std::get_if<facts::Unknown>(&reading);
  if (unknown == nullptr) {
    return {};
  }
  return std::string(facts::name(unknown->why)) +
         (unknown->needs.empty() ? "" : ", needs " + unknown->needs) +
         (unknown->detail.empty() ? "" : ": " + printable(unknown->detail));
}

Node difference_node(const Difference& difference, bool checked) {
  Node node = Node::mapping({});
  put(node, "key", difference.key.text());
  put(node, "level", facts::name(difference.level));
  put(node, "layer", facts::name(difference.entry->layer));
  if (checked) {
    put(node, "wanted", difference.wanted);
  } else {
    put(node, "a", reading_node({difference.key, difference.a, difference.evidence_a}));
  }
  put(node, checked ? "found" : "b",
      reading_node({difference.key, difference.b, difference.evidence_b}));
  put(node, "kind", diff::name(difference.kind));
  if (difference.kind == Kind::version) {
    put(node, "direction", version::name(difference.change.direction));
    put(node, "part", version::name(difference.change.part));
  }
  put(node, "why", difference.why);
  if (!difference.file.empty()) {
    put(node, "pin", difference.file + ":" + std::to_string(difference.mark.line));
  }
  if (!difference.with.empty()) {
    Node with = Node::sequence({});
    for (const Difference& inner : difference.with) {
      with.items.push_back(difference_node(inner, checked));
    }
    put(node, "with", std::move(with));
  }
  return node;
}

Node differences_node(const std::vector<Difference>& differences, bool checked) {
  Node list = Node::sequence({});
  for (const Difference& difference : differences) {
    list.items.push_back(difference_node(difference, checked));
  }
  return list;
}

Node machine_node(const Named& machine) {
  Node node = Node::mapping({});
  put(node, "name", machine.title);
  put(node, "source", machine.source);
  return node;
}

void put_comparison(Node& node, const diff::Comparison& comparison) {
  put(node, "count", diff::count(comparison.differences));
  put(node, "compared", comparison.compared);
  put(node, "differences", differences_node(comparison.differences, false));
  Node one_sided = Node::sequence({});
  for (const Undecided& undecided : comparison.one_sided) {
    Node entry = Node::mapping({});
    put(entry, "key", undecided.key.text());
    put(entry, "level", facts::name(undecided.level));
    put(entry, "a", reading_node({undecided.key, undecided.a, {}}));
    put(entry, "b", reading_node({undecided.key, undecided.b, {}}));
    one_sided.items.push_back(std::move(entry));
  }
  put(node, "not_comparable", std::move(one_sided));
  put(node, "unknown_on_both", comparison.unknown_on_both);
}

std::string name_of(const Named& machine) {
  return machine.title == machine.source
             ? printable(shortened(machine.title))
             : printable(shortened(machine.title)) + " (" + printable(machine.source) + ")";
}

/// "5 differences (5 more told with them)".
std::string differences_counted(const std::vector<Difference>& differences) {
  const std::size_t all = diff::count(differences);
  return counted(differences.size(), "difference") +
         (all > differences.size()
              ? " (" + std::to_string(all - differences.size()) + " more told with " +
                    (differences.size() == 1 ? "it)" : "them)")
              : "");
}

/// "38 pins", "36 pins, 2 more do not apply here".
std::string pins_counted(const diff::Check& check) {
  return counted(check.pins, "pin") +
         (check.not_applying == 0
              ? ""
              : ", " + std::to_string(check.not_applying) + " more " +
                    (check.not_applying == 1 ? "does" : "do") + " not apply here");
}

/// " (pinned: nccl, driver)".
std::string pinned_among(const diff::Comparison& comparison) {
  std::vector<std::string> keys;
  for (const Undecided& one : comparison.one_sided) {
    if (one.pinned) {
      keys.push_back(printable(one.key.text()));
    }
  }
  return keys.empty() ? "" : " (pinned: " + join(keys, ", ") + ")";
}

std::string closing(const diff::Comparison& comparison) {
  std::vector<std::string> parts;
  if (!comparison.one_sided.empty()) {
    parts.push_back("not comparable, known on one side or in part only: " +
                    std::to_string(comparison.one_sided.size()) + pinned_among(comparison));
  }
  if (comparison.unknown_on_both != 0) {
    parts.push_back("unknown on both: " + std::to_string(comparison.unknown_on_both));
  }
  return parts.empty() ? "" : join(parts, "; ") + "\n";
}

/// The command that tells more of a fact.
std::string next_line(const facts::FactKey& key, const Named& machine) {
  return "next: goldenv explain " + shell_word(key.text()) +
         (machine.source == "@live" ? "" : " " + shell_word(machine.source)) + "\n";
}

/// What was found and does not decide; behind a mask nothing can be compared.
std::string found_text(const facts::Reading& reading) {
  const std::string text = printable(facts::describe(reading));
  return text.find(facts::kMask) == std::string::npos ? text
                                                      : text + " (a secret in it is not compared)";
}

/// One line a pin; of many that one reason hides, one line for all.
std::string undecided_text(const std::vector<Undecided>& all) {
  constexpr std::size_t kTogether = 4;
  const auto reason = [](const Undecided& one) {
    return std::string(facts::name(one.level)) + " " + needs_of(one.b);
  };
  std::map<std::string, std::vector<const Undecided*>> by_reason;
  for (const Undecided& one : all) {
    by_reason[reason(one)].push_back(&one);
  }
  std::string out;
  for (const Undecided& one : all) {
    const std::string why = needs_of(one.b);
    const auto& alike = by_reason[reason(one)];
    if (!why.empty() && alike.size() >= kTogether) {
      if (alike.front() == &one) {
        std::vector<std::string> keys;
        for (const Undecided* other : alike) {
          keys.push_back(printable(other->key.text()));
        }
        out += "unknown (" + std::string(facts::name(one.level)) + "), " +
               std::to_string(alike.size()) + " pins: " + why + ": " + join(keys, ", ") + "\n";
      }
      continue;
    }
    out += "unknown (" + std::string(facts::name(one.level)) + ") " + printable(one.key.text()) +
           ", wanted " + printable(one.wanted) + ": " +
           (why.empty() ? "found " + found_text(one.b) : why) +
           (one.why.empty() ? "" : " (" + printable(one.why) + ")") + "\n";
  }
  return out;
}

}  // namespace

std::string unreached_text(std::size_t unreached, std::size_t sources) {
  return unreached == 0 ? ""
                        : std::to_string(unreached) + " of " + counted(sources, "source") +
                              " could not be reached\n";
}

std::string agreement_text(const diff::Check& check, const std::string& manifest, Colour colour) {
  const auto musts = std::ranges::count_if(
      check.undecided, [](const Undecided& one) { return one.level == facts::Level::must; });
  if (musts != 0) {
    return paint(colour, Ink::yellow, "cannot be told to match ") + manifest + ": " +
           std::to_string(musts) + " must of " + pins_counted(check) + " unknown\n";
  }
  return (check.undecided.empty() ? paint(colour, Ink::green, "matches ")
                                  : "matches, as far as is known, ") +
         manifest + " (" + pins_counted(check) + ")\n";
}

Sides sides(const Difference& difference) {
  const Value* a = value_of(difference.a);
  const Value* b = value_of(difference.b);
  if (a != nullptr && b != nullptr && is_collection(*a) && is_collection(*b)) {
    const std::vector<std::string> left = members(difference, *a);
    const std::vector<std::string> right = members(difference, *b);
    const std::vector<std::string> gone = only_in(left, right);
    const std::vector<std::string> come = only_in(right, left);
    if (gone.empty() && come.empty()) {
      return {printable(join(left, " ")), printable(join(right, " ")) + " (other order)"};
    }
    const std::size_t equal = left.size() - gone.size();
    return {gone.empty() ? "(nothing more)" : join(gone, ", "),
            (come.empty() ? "(nothing more)" : join(come, ", ")) +
                (equal == 0 ? "" : " (" + std::to_string(equal) + " equal not shown)")};
  }
  const std::string wanted =
      difference.wanted.empty() ? short_text(difference.a) : printable(difference.wanted);
  return {wanted, short_text(difference.b)};
}

std::string kind_text(const Difference& difference) {
  switch (difference.kind) {
    case Kind::version:
      if (difference.change.direction == version::Direction::same) {
        return "same version, written otherwise";
      }
      return std::string(version::name(difference.change.part)) + ", " +
             std::string(version::name(difference.change.direction));
    case Kind::rebuilt:
      return "same version, another build";
    case Kind::unmet:
      return "does not meet it";
    default:
      return std::string(diff::name(difference.kind));
  }
}

std::string comparison_text(const diff::Comparison& comparison, const Named& a, const Named& b,
                            Colour colour) {
  std::string out = name_of(a) + " -> " + name_of(b) + ": ";
  if (comparison.differences.empty()) {
    out += paint(colour, Ink::green, "no differences") + " in " +
           counted(comparison.compared, "fact") + "\n";
    return out + closing(comparison);
  }
  out += paint(colour, Ink::bold, differences_counted(comparison.differences)) + "\n";
  out += rows_text(comparison.differences, colour) + closing(comparison);
  return out + next_line(comparison.differences.front().key, b);
}

doc::Node comparison_node(const diff::Comparison& comparison, const Named& a, const Named& b) {
  Node node = new_document();
  put(node, "a", machine_node(a));
  put(node, "b", machine_node(b));
  put_comparison(node, comparison);
  return node;
}

std::string check_text(const diff::Check& check, const Named& machine,
                       std::string_view manifest_file, std::string_view manifest_name,
                       Colour colour) {
  std::array<std::size_t, 4> counts{};
  const auto count = [&counts](const Difference& difference) {
    if (difference.kind != Kind::extra || !difference.file.empty()) {
      ++counts.at(static_cast<std::size_t>(difference.level));
    }
  };
  for (const Difference& difference : check.differences) {
    count(difference);
    std::ranges::for_each(difference.with, count);
  }
  const std::string manifest =
      printable(manifest_file) +
      (manifest_name.empty() ? "" : " (" + printable(shortened(manifest_name)) + ")");
  std::string out = printable(shortened(machine.title));
  const auto unpinned = static_cast<std::size_t>(
      std::ranges::count_if(check.differences, [](const Difference& difference) {
        return difference.kind == Kind::extra && difference.file.empty();
      }));
  if (check.differences.empty()) {
    out += " " + agreement_text(check, manifest, colour);
  } else {
    std::vector<std::string> parts;
    for (std::size_t level = 0; level < 3; ++level) {
      if (counts.at(level) != 0) {
        parts.push_back(std::to_string(counts.at(level)) + " " +
                        std::string(facts::name(static_cast<facts::Level>(level))));
      }
    }
    std::string verdict = parts.empty() ? "" : join(parts, ", ") + " of " + pins_counted(check);
    if (unpinned != 0) {
      verdict += (verdict.empty() ? "" : ", ") + std::to_string(unpinned) + " not pinned where " +
                 "the manifest is closed";
    }
    out += paint(colour, Ink::bold, " does not match ") + manifest + ": " + verdict +
           " (wanted -> found)\n";
    out += rows_text(check.differences, colour);
  }
  out += undecided_text(check.undecided);
  if (!check.differences.empty()) {
    out += next_line(check.differences.front().key, machine);
  } else if (!check.undecided.empty()) {
    out += next_line(check.undecided.front().key, machine);
  }
  return out;
}

doc::Node check_node(const diff::Check& check, const Named& machine, std::string_view manifest_file,
                     std::string_view manifest_name) {
  Node node = new_document();
  Node manifest = Node::mapping({});
  put(manifest, "file", manifest_file);
  put(manifest, "name", manifest_name);
  put(node, "manifest", std::move(manifest));
  put(node, "machine", machine_node(machine));
  put(node, "matches",
      Node::scalar(check.differences.empty() && check.undecided.empty() ? "true" : "false"));
  put(node, "pins", check.pins);
  put(node, "not_applying", check.not_applying);
  put(node, "differences", differences_node(check.differences, true));
  Node undecided = Node::sequence({});
  for (const Undecided& one : check.undecided) {
    Node entry = Node::mapping({});
    put(entry, "key", one.key.text());
    put(entry, "level", facts::name(one.level));
    put(entry, "wanted", one.wanted);
    put(entry, "found", reading_node({one.key, one.b, {}}));
    if (!one.why.empty()) {
      put(entry, "why", one.why);
    }
    undecided.items.push_back(std::move(entry));
  }
  put(node, "unknown", std::move(undecided));
  return node;
}

std::string groups_text(const std::vector<fleet::Group>& groups, const std::vector<Named>& machines,
                        Colour colour) {
  std::string out;
  if (groups.size() == 1) {
    out =
        paint(colour, Ink::green, "all alike") + ": " + counted(machines.size(), "machine") + "\n";
  } else {
    out = paint(colour, Ink::bold, counted(groups.size(), "group")) + " among " +
          counted(machines.size(), "machine") + "\n";
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> names;
    constexpr std::size_t kNamed = 8;
    const std::vector<std::size_t>& members = groups[i].members;
    for (std::size_t m = 0; m < std::min(members.size(), kNamed); ++m) {
      const Named& machine = machines[members[m]];
      const bool unique = std::ranges::count(machines, machine.title, &Named::title) == 1;
      names.push_back(unique ? printable(shortened(machine.title)) : name_of(machine));
    }
    if (members.size() > kNamed) {
      names.push_back("and " + std::to_string(members.size() - kNamed) + " more");
    }
    out += "group " + std::to_string(i + 1) + ", " + counted(members.size(), "machine") + ": " +
           join(names, ", ") + "\n";
    if (i == 0) {
      continue;
    }
    const diff::Comparison& comparison = groups[i].against_largest;
    out += "  group 1 -> group " + std::to_string(i + 1) + ": " +
           differences_counted(comparison.differences) + "\n" +
           rows_text(comparison.differences, colour) + closing(comparison);
  }
  return out;
}

doc::Node groups_node(const std::vector<fleet::Group>& groups, const std::vector<Named>& machines) {
  Node node = new_document();
  Node list = Node::sequence({});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Node entry = Node::mapping({});
    Node members = Node::sequence({});
    for (const std::size_t member : groups[i].members) {
      members.items.push_back(machine_node(machines[member]));
    }
    put(entry, "machines", std::move(members));
    if (i > 0) {
      put_comparison(entry, groups[i].against_largest);
    }
    list.items.push_back(std::move(entry));
  }
  put(node, "groups", std::move(list));
  return node;
}

}  // namespace goldenv::report
