#include "report/origin.h"

#include <chrono>

#include "report/data.h"
#include "report/text.h"

namespace goldenv::report {
namespace {

using doc::Node;

std::string two(unsigned number) { return (number < 10 ? "0" : "") + std::to_string(number); }

/// "2026-11-24 10:17" of a time since 1970 in UTC.
std::string minute_of(std::int64_t ns) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(ns)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const auto minutes = static_cast<unsigned>(floor<std::chrono::minutes>(time - day).count());
  return std::to_string(int(date.year())) + "-" + two(unsigned(date.month())) + "-" +
         two(unsigned(date.day())) + " " + two(minutes / 60) + ":" + two(minutes % 60);
}

std::string place(const facts::OriginLine& line) {
  return printable(line.file) + (line.line == 0 ? "" : ":" + std::to_string(line.line));
}

std::string line_text(const facts::OriginLine& line) {
  return place(line) + (line.text.empty() ? "" : "   " + printable(line.text));
}

/// Some installations name hundreds of packages; the data form has them all.
std::string cut_short(std::string text) {
  constexpr std::size_t kLimit = 120;  // bytes, one long line of a terminal
  if (text.size() > kLimit) {
    const std::size_t blank = text.rfind(' ', kLimit);
    text = text.substr(0, blank == std::string::npos ? kLimit : blank) + " ...";
  }
  return text;
}

/// What is known of a file, each a line.
std::vector<std::string> file_lines(const facts::OriginFile& file) {
  std::string first;
  if (file.changed_ns) {
    first = "changed " + minute_of(*file.changed_ns) + " UTC, ";
  }
  first += file.package.empty() ? printable(file.unowned) : "of package " + printable(file.package);
  std::vector<std::string> lines{std::move(first)};
  if (!file.real_path.empty()) {
    lines.push_back("is " + printable(file.real_path));
  }
  if (!file.touched.empty()) {
    lines.push_back("touched " + printable(file.touched));
  }
  if (!file.touched_by.empty()) {
    lines.push_back("asked for by " + printable(cut_short(file.touched_by)));
  }
  return lines;
}

Node line_node(const facts::OriginLine& line) {
  Node node = Node::mapping({});
  put(node, "file", line.file);
  if (line.line != 0) {
    put(node, "line", line.line);
  }
  put(node, "text", line.text);
  return node;
}

Node file_node(const facts::OriginFile& file) {
  Node node = Node::mapping({});
  put(node, "path", file.path);
  put(node, "real_path", file.real_path);
  if (file.changed_ns) {
    put(node, "changed", minute_of(*file.changed_ns) + " UTC");
  }
  put(node, "package", file.package);
  put(node, "unowned", file.unowned);
  put(node, "touched", file.touched);
  put(node, "touched_by", file.touched_by);
  return node;
}

void put_lines(Node& node, std::string_view key, const std::vector<facts::OriginLine>& lines) {
  if (lines.empty()) {
    return;
  }
  Node all = Node::sequence({});
  for (const facts::OriginLine& line : lines) {
    all.items.push_back(line_node(line));
  }
  put(node, key, std::move(all));
}

}  // namespace

std::vector<std::vector<std::string>> origin_rows(const facts::Origin& origin,
                                                  const facts::Fact& fact) {
  std::vector<std::string> told;
  std::vector<bool> shown(origin.files.size(), false);
  for (const facts::OriginLine& line : origin.set_by) {
    told.push_back(line_text(line));
    for (std::size_t i = 0; i < origin.files.size(); ++i) {
      if (origin.files[i].path == line.file && !shown[i]) {
        shown[i] = true;
        for (std::string& one : file_lines(origin.files[i])) {
          told.push_back(std::move(one));
        }
      }
    }
  }
  for (const facts::OriginLine& line : origin.over) {
    told.push_back("over " + line_text(line));
  }
  for (const std::string& note : origin.notes) {
    told.push_back(printable(note));
  }
  for (std::size_t i = 0; i < origin.files.size(); ++i) {
    if (!shown[i]) {
      told.push_back(printable(origin.files[i].path));
      for (std::string& one : file_lines(origin.files[i])) {
        told.push_back(std::move(one));
      }
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (std::string& line : told) {
    rows.push_back({rows.empty() ? "set by" : "", std::move(line)});
  }
  if (origin.next_boot) {
    const facts::Fact& next = *origin.next_boot;
    std::string text = printable(facts::describe(next.reading));
    const facts::OriginLine from{next.evidence.from, next.evidence.line, ""};
    if (!from.file.empty()) {
      const bool same = !origin.set_by.empty() && origin.set_by.back().file == from.file &&
                        origin.set_by.back().line == from.line;
      text += same ? "  (same line)" : "  (" + place(from) + ")";
    }
    if (std::holds_alternative<facts::Absent>(next.reading) &&
        std::holds_alternative<facts::Value>(fact.reading)) {
      text += ": what the kernel then has by default";
    }
    rows.push_back({"next boot", std::move(text)});
  }
  return rows;
}

Node origin_node(const facts::Origin& origin) {
  Node node = Node::mapping({});
  put_lines(node, "set_by", origin.set_by);
  put_lines(node, "over", origin.over);
  if (!origin.files.empty()) {
    Node files = Node::sequence({});
    for (const facts::OriginFile& file : origin.files) {
      files.items.push_back(file_node(file));
    }
    put(node, "files", std::move(files));
  }
  if (!origin.notes.empty()) {
    Node notes = Node::sequence({});
    for (const std::string& note : origin.notes) {
      notes.items.push_back(Node::scalar(note));
    }
    put(node, "notes", std::move(notes));
  }
  if (origin.next_boot) {
    put(node, "next_boot", reading_node(*origin.next_boot));
  }
  return node;
}

}  // namespace goldenv::report
