#include "report/evidence.h"

#include "report/text.h"

namespace goldenv::report {

std::vector<std::string> evidence_lines(const facts::Evidence& evidence) {
  std::vector<std::string> lines;
  std::string first = printable(evidence.from);
  if (evidence.line != 0) {
    first += ":" + std::to_string(evidence.line);
  }
  if (!evidence.basis.empty()) {
    first += (first.empty() ? "" : "  ") + ("(" + printable(evidence.basis) + ")");
  }
  if (!first.empty()) {
    lines.push_back(std::move(first));
  }
  if (!evidence.build_id.empty()) {
    lines.push_back("build-id " + printable(evidence.build_id));
  }
  for (const std::string& note : evidence.notes) {
    lines.push_back(printable(note));
  }
  return lines;
}

}  // namespace goldenv::report
