#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "diff/compare.h"
#include "fleet/group.h"
#include "report/differences.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 4> kOptions = {{
    {"--only", "GLOB", "only these keys (driver, sysctl.**, layer:cuda, '**@*')", true, ""},
    {"--all", "", "also identity (serials, addresses), volatile facts and instances", false, ""},
    {"--strict", "", "status 3 where a fact is known on one side alone", false, ""},
    {"--python", "P", "the Python that is meant, on machines", false, ""},
}};

/// Machines are asked for everything that a text beside them states, so that a snapshot made with
/// --all is compared in full.
void ask_for(probe::Request& request, const facts::Snapshot& snapshot) {
  for (const facts::Fact& fact : snapshot.facts) {
    request.named.push_back(fact.key);
  }
}

Result<std::vector<facts::Snapshot>> look_at(const std::vector<source::Source>& sources,
                                             probe::Request request, bool& unreached) {
  std::vector<facts::Snapshot> snapshots(sources.size());
  std::vector<bool> there(sources.size(), false);
  for (const bool machines : {false, true}) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].is_machine() != machines) {
        continue;
      }
      Result<facts::Snapshot> snapshot = source::look(sources[i], request);
      if (!snapshot) {
        // One of two is no comparison; of many the others still are.
        if (sources.size() <= 2 || status_of(snapshot.error()) == kUsage) {
          return std::move(snapshot).error();
        }
        fail(snapshot.error());
        unreached = true;
        continue;
      }
      if (!machines) {
        ask_for(request, *snapshot);
      }
      snapshots[i] = *std::move(snapshot);
      there[i] = true;
    }
  }
  std::vector<facts::Snapshot> kept;
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    if (there[i]) {
      kept.push_back(std::move(snapshots[i]));
    }
  }
  return kept;
}

int status_for(const Invocation& invocation, bool differs, bool one_sided, bool unreached) {
  if (differs) {
    return kDiffers;
  }
  if (one_sided && invocation.has("--strict")) {
    return kUndecided;
  }
  return unreached ? kStepFailed : kWell;
}

int run_diff(const Invocation& invocation) {
  std::vector<std::string> words = invocation.words;
  if (words.size() == 1) {
    words.insert(words.begin(), "@live");
  }
  const Result<Only> only = parse_only(invocation);
  if (!only) {
    return fail(only.error());
  }
  const auto sources = parse_sources(words);
  if (!sources) {
    return fail(sources.error());
  }
  bool unreached = false;
  const auto snapshots = look_at(*sources, only->request, unreached);
  if (!snapshots) {
    return fail(snapshots.error());
  }
  std::vector<report::Named> names;
  for (const facts::Snapshot& snapshot : *snapshots) {
    names.push_back({snapshot.title(), snapshot.source});
  }
  const diff::CompareOptions options{invocation.has("--all"), only->selection};
  if (sources->size() == 2) {
    const diff::Comparison comparison =
        diff::compare(snapshots->front(), snapshots->back(), options);
    const Rendering rendering{
        [&](report::Colour colour) {
          return report::comparison_text(comparison, names.front(), names.back(), colour);
        },
        [&] { return report::comparison_node(comparison, names.front(), names.back()); }, ""};
    return deliver(invocation, rendering,
                   status_for(invocation, !comparison.differences.empty(),
                              !comparison.one_sided.empty(), unreached));
  }
  const std::vector<fleet::Group> groups = fleet::group(*snapshots, options);
  bool differs = false;
  bool one_sided = false;
  for (const fleet::Group& group : groups) {
    differs = differs || !group.against_largest.differences.empty();
    one_sided = one_sided || !group.against_largest.one_sided.empty();
  }
  const Rendering rendering{
      [&](report::Colour colour) { return report::groups_text(groups, names, colour); },
      [&] { return report::groups_node(groups, names); }, ""};
  return deliver(invocation, rendering, status_for(invocation, differs, one_sided, unreached));
}

}  // namespace

extern const Command diff{"diff",
                          "[A] B [C..]",
                          1,
                          10'000,
                          "exact differences; of three or more, groups of equal ones",
                          "goldenv diff node16.yaml node17.yaml",
                          kOptions,
                          run_diff};

}  // namespace goldenv::cli
