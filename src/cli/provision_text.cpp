#include "cli/provision_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>

#include "report/text.h"

namespace goldenv::cli {
namespace {

using report::printable;

doc::Node text(std::string_view value) { return doc::Node::scalar(std::string(value), true); }
doc::Node number(std::uint64_t value) { return doc::Node::scalar(std::to_string(value)); }
doc::Node flag(bool value) { return doc::Node::scalar(value ? "true" : "false"); }

void put(doc::Node& mapping, std::string_view key, doc::Node value) {
  mapping.kind = doc::Node::Kind::mapping;
  mapping.entries.push_back({std::string(key), {}, std::move(value)});
}

/// "fetch", "unpack" or "in store".
std::string_view action_of(const provision::Step& step) {
  return step.present ? "in store" : step.fetched ? "unpack" : "fetch";
}

/// `rows` in columns, each but the last padded to the widest of its column.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] - row[i].size() + 2, ' ');
      }
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string left_text(const std::vector<provision::Left>& left, std::string_view title) {
  std::string out;
  for (const provision::Left& one : left) {
    out += std::string(title) + printable(one.key) +
           (one.want.empty() ? "" : " " + printable(one.want)) +
           (one.why.empty() ? "" : ": " + printable(one.why)) + "\n";
  }
  return out;
}

doc::Node left_data(const std::vector<provision::Left>& left) {
  std::vector<doc::Node> items;
  for (const provision::Left& one : left) {
    doc::Node node;
    put(node, "key", text(one.key));
    put(node, "want", text(one.want));
    put(node, "why", text(one.why));
    items.push_back(std::move(node));
  }
  return doc::Node::sequence(std::move(items));
}

std::string forecast(const provision::Plan& plan) {
  if (plan.is_present()) {
    return "nothing to fetch: all of it is in the store";
  }
  std::string out = "to fetch: " + bytes_text(plan.fetch_bytes);
  if (plan.unsized > 0) {
    out += " and " + std::to_string(plan.unsized) + (plan.unsized == 1 ? " file" : " files") +
           " whose size is not told";
  }
  return out;
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) {
    return std::to_string(bytes) + " bytes";
  }
  constexpr std::array<std::string_view, 4> kUnits = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ", value);
  return text.data() + std::string(kUnits[unit]);
}

std::string plan_text(const provision::Plan& plan) {
  std::string out = "python  " + printable(plan.interpreter.version) + "  " +
                    printable(plan.interpreter.base) + "  (" + printable(plan.interpreter.why) +
                    ")\n";
  std::vector<std::vector<std::string>> rows;
  for (const provision::Step& step : plan.steps) {
    rows.push_back({std::string(action_of(step)), printable(step.key), printable(step.version),
                    printable(step.request.file),
                    step.present || step.fetched ? ""
                    : step.request.size_bytes    ? bytes_text(*step.request.size_bytes)
                                                 : "size not told"});
  }
  out += columns(rows);
  for (const provision::Step& step : plan.steps) {
    for (const std::string& remark : step.remarks) {
      out += "note: " + printable(remark) + "\n";
    }
  }
  for (const provision::Fault& fault : plan.faults) {
    out += "cannot be had: " + printable(fault.key) + " " + printable(fault.version) + ": " +
           printable(fault.error.message) + "\n";
  }
  out += left_text(plan.wanted.open, "open: ");
  out += left_text(plan.wanted.host, "of the machine: ");
  for (const compat::Answer& answer : plan.impossible) {
    out += "cannot work: " + printable(answer.reason) + " (" + printable(answer.source) + ", " +
           printable(answer.as_of) + ", " + std::string(compat::name(answer.confidence)) + ")\n";
  }
  if (plan.faults.empty() && !plan.steps.empty()) {
    out += forecast(plan) + "\n";
    std::set<std::string_view> keys;  // a component may have several parts
    for (const provision::Step& step : plan.steps) {
      keys.insert(step.key);
    }
    out += "environment " + plan.digest.substr(0, 16) + " of " + std::to_string(keys.size()) +
           (keys.size() == 1 ? " component" : " components") +
           (plan.composed ? " is there" : " will be composed by links") + "\n";
  }
  return out;
}

doc::Node plan_data(const provision::Plan& plan) {
  doc::Node node;
  put(node, "schema_version", number(0));
  doc::Node python;
  put(python, "version", text(plan.interpreter.version));
  put(python, "path", text(plan.interpreter.base));
  put(python, "why", text(plan.interpreter.why));
  put(node, "python", std::move(python));
  std::vector<doc::Node> steps;
  for (const provision::Step& step : plan.steps) {
    doc::Node one;
    put(one, "key", text(step.key));
    put(one, "version", text(step.version));
    put(one, "source", text(step.source));
    put(one, "file", text(step.request.file));
    put(one, "sha256", text(step.request.sha256));
    if (step.request.size_bytes) {
      put(one, "size_bytes", number(*step.request.size_bytes));
    }
    put(one, "object", text(step.object));
    put(one, "place", text(step.request.copy ? "copy" : "link"));
    put(one, "in_store", flag(step.present));
    steps.push_back(std::move(one));
  }
  put(node, "steps", doc::Node::sequence(std::move(steps)));
  std::vector<doc::Node> faults;
  for (const provision::Fault& fault : plan.faults) {
    doc::Node one;
    put(one, "key", text(fault.key));
    put(one, "version", text(fault.version));
    put(one, "why", text(fault.error.message));
    faults.push_back(std::move(one));
  }
  put(node, "cannot_be_had", doc::Node::sequence(std::move(faults)));
  put(node, "open", left_data(plan.wanted.open));
  put(node, "of_the_machine", left_data(plan.wanted.host));
  std::vector<doc::Node> impossible;
  for (const compat::Answer& answer : plan.impossible) {
    doc::Node one;
    put(one, "rule", text(answer.rule));
    put(one, "reason", text(answer.reason));
    put(one, "source", text(answer.source));
    put(one, "as_of", text(answer.as_of));
    put(one, "confidence", text(compat::name(answer.confidence)));
    impossible.push_back(std::move(one));
  }
  put(node, "cannot_work", doc::Node::sequence(std::move(impossible)));
  put(node, "fetch_bytes", number(plan.fetch_bytes));
  put(node, "sizes_not_told", number(plan.unsized));
  put(node, "environment", text(plan.digest));
  put(node, "composed", flag(plan.composed));
  return node;
}

std::string unmet_text(const std::vector<provision::Unmet>& unmet) {
  std::string out;
  for (const provision::Unmet& one : unmet) {
    out += one.by + " requires " + one.wants +
           (one.wants.starts_with("Python ") ? ""
            : one.has.empty()                ? ", which nothing pins"
                                             : "; " + one.has + " is pinned, and taken") +
           (one.certain ? "" : " (perhaps: that hangs on what is not known of the machine)") + "\n";
  }
  return out;
}

}  // namespace goldenv::cli
