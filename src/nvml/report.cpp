#include "nvml/report.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "base/text.h"

namespace goldenv::nvml {
namespace {

constexpr std::string_view kHead = "nvml 1";
constexpr std::size_t kTextBytes = 512;
constexpr std::size_t kAnswers = 100'000;  // 64 GPUs ask 64 * 30, their pairs 2 * 2016

int parse_code(std::string_view text) {
  int code = kUnknown;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  return error == std::errc() && end == text.data() + text.size() ? code : kUnknown;
}

void add_line(std::string& out, std::initializer_list<std::string_view> fields) {
  bool is_first = true;
  for (const std::string_view field : fields) {
    out += is_first ? "" : "\t";
    out += field;
    is_first = false;
  }
  out += '\n';
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out = to_utf8(trim(text.substr(0, kTextBytes)));
  std::ranges::replace_if(
      out, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, '?');
  return out;
}

const Answer* Report::find(std::string_view where, std::string_view name) const {
  const auto found = std::ranges::find_if(
      answers, [&](const Answer& answer) { return answer.where == where && answer.name == name; });
  return found == answers.end() ? nullptr : &*found;
}

std::string encode(const Report& report) {
  std::string out;
  add_line(out, {kHead});
  add_line(out, {"end", std::to_string(static_cast<int>(report.end)), report.doing});
  add_line(out, {"code", std::to_string(report.code), report.problem});
  for (const Answer& answer : report.answers) {
    add_line(out, {"answer", answer.where, answer.name, std::to_string(answer.code), answer.text});
  }
  return out;
}

Result<Report> decode(const std::string& text) {
  const Error torn{Errc::unreadable, "NVML: no answer in goldenv's form", {}};
  const auto rows = lines(text);
  if (rows.empty() || rows.front() != kHead || rows.size() > kAnswers) {
    return torn;
  }
  Report report;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto fields = split(rows[i], '\t');
    if (fields.size() == 3 && fields[0] == "end") {
      const int end = parse_code(fields[1]);
      if (end < 0 || end > static_cast<int>(Report::End::not_started)) {
        return torn;
      }
      report.end = static_cast<Report::End>(end);
      report.doing = clean(fields[2]);
    } else if (fields.size() == 3 && fields[0] == "code") {
      report.code = parse_code(fields[1]);
      report.problem = clean(fields[2]);
    } else if (fields.size() == 5 && fields[0] == "answer") {
      report.answers.push_back(
          {clean(fields[1]), clean(fields[2]), parse_code(fields[3]), clean(fields[4])});
    } else {
      return torn;
    }
  }
  return report;
}

}  // namespace goldenv::nvml
