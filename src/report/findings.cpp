#include "report/findings.h"

#include <algorithm>

#include "base/text.h"
#include "report/data.h"

namespace goldenv::report {

std::string findings_text(const std::vector<findings::Finding>& found,
                          const facts::Snapshot& snapshot, Colour colour) {
  std::string out;
  for (const findings::Finding& finding : found) {
    const Ink ink = finding.level == facts::Level::must ? Ink::red : Ink::yellow;
    out += paint(colour, ink, "contradiction") + " (" + std::string(facts::name(finding.level)) +
           "): " + printable(finding.summary) + "\n";
    out += "  means  " + std::string(finding.means) + "\n";
    out += "  do     " + std::string(finding.remedy) + "\n";
    std::vector<std::string> seen;
    for (const facts::FactKey& key : finding.facts) {
      const facts::Fact* fact = snapshot.find(key);
      const std::string from = fact == nullptr ? "" : printable(fact->evidence.from);
      const std::string line = fact != nullptr && fact->evidence.line != 0 && !from.empty()
                                   ? ":" + std::to_string(fact->evidence.line)
                                   : "";
      seen.push_back(printable(key.text()) + (from.empty() ? "" : " (" + from + line + ")"));
    }
    out += "  seen   " + join(seen, ", ") + "\n";
  }
  return out;
}

std::string findings_line(const std::vector<findings::Finding>& found, Colour colour) {
  if (found.empty()) {
    return {};
  }
  constexpr std::size_t kNamed = 2;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(found.size(), kNamed); ++i) {
    named.push_back(printable(found[i].summary));
  }
  return paint(colour, any_must(found) ? Ink::red : Ink::yellow,
               counted(found.size(), "contradiction")) +
         ": " + join(named, "; ") + (found.size() > kNamed ? "; ..." : "") +
         "   (goldenv scan --all)\n";
}

doc::Node findings_node(const std::vector<findings::Finding>& found) {
  std::vector<doc::Node> list;
  for (const findings::Finding& finding : found) {
    doc::Node node = doc::Node::mapping({});
    put(node, "rule", finding.rule);
    put(node, "level", facts::name(finding.level));
    put(node, "summary", std::string_view(finding.summary));
    put(node, "means", finding.means);
    put(node, "remedy", finding.remedy);
    std::vector<doc::Node> keys;
    for (const facts::FactKey& key : finding.facts) {
      keys.push_back(doc::Node::scalar(key.text(), true));
    }
    put(node, "facts", doc::Node::sequence(std::move(keys)));
    list.push_back(std::move(node));
  }
  return doc::Node::sequence(std::move(list));
}

bool any_must(const std::vector<findings::Finding>& found) {
  return std::ranges::any_of(
      found, [](const findings::Finding& finding) { return finding.level == facts::Level::must; });
}

}  // namespace goldenv::report
