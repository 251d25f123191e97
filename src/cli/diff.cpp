#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "diff/compare.h"
#include "fleet/group.h"
#include "report/data.h"
#include "report/differences.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 4> kOptions = {{
    {"--only", "GLOB", "only these keys (driver, sysctl.**, layer:cuda, '**@*')", true, ""},
    {"--all", "", "also identity (serials, addresses), volatile facts and instances", false, ""},
    {"--strict", "", "status 3 where a fact is known on one side alone", false, ""},
    {"--python", "P", "the Python that is meant, on machines", false, ""},
}};

/// Machines are asked for everything that a text beside them states and that is compared, so that a
/// snapshot made with --all is compared in full.
void ask_for(probe::Request& request, const std::vector<facts::Snapshot>& snapshots) {
  for (const facts::Snapshot& snapshot : snapshots) {
    for (const facts::Fact& fact : snapshot.facts) {
      if (request.selection.empty() || request.selection.selects(fact.key.name, fact.key.label)) {
        request.named.push_back(fact.key);
      }
    }
  }
}

struct Looked {
  std::vector<facts::Snapshot> snapshots;  ///< of all sources that could be reached, in order
  std::size_t unreached = 0;
  std::size_t sources = 0;
};

Result<Looked> look_at(const std::vector<source::Source>& sources, probe::Request request,
                       const Invocation& invocation) {
  Viewer viewer(invocation);
  std::vector<std::vector<facts::Snapshot>> found(sources.size());
  Looked looked;
  looked.sources = sources.size();
  const bool has_machines = std::ranges::any_of(sources, &source::Source::is_machine);
  for (const bool machines : {false, true}) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].is_machine() != machines) {
        continue;
      }
      auto snapshots = viewer.look(sources[i], request);
      if (!snapshots) {
        // One of two is no comparison; of many the others still are.
        if (sources.size() <= 2 || status_of(snapshots.error()) == kUsage) {
          return std::move(snapshots).error();
        }
        fail(snapshots.error());
        ++looked.unreached;
        continue;
      }
      if (!machines && has_machines) {
        ask_for(request, *snapshots);
      }
      found[i] = *std::move(snapshots);
    }
  }
  if (const Result<void> python = viewer.python_found(); !python) {
    return python.error();
  }
  for (std::vector<facts::Snapshot>& some : found) {
    std::ranges::move(some, std::back_inserter(looked.snapshots));
  }
  return looked;
}

/// The sources: of one word this machine and that, but a file of several snapshots is compared
/// within itself.
Result<Looked> look_at_words(const Invocation& invocation, const Only& only) {
  probe::Request request = only.request;
  ask_for_headlines(only.selection, request);
  GOLDENV_TRY(auto sources, parse_sources(invocation.words));
  if (sources.size() > 1) {
    return look_at(sources, std::move(request), invocation);
  }
  if (sources.front().is_machine()) {
    sources.insert(sources.begin(), *source::parse("@live"));
    return look_at(sources, std::move(request), invocation);
  }
  GOLDENV_TRY(Looked of_text, look_at(sources, request, invocation));
  if (of_text.snapshots.size() > 1) {
    return of_text;
  }
  ask_for(request, of_text.snapshots);
  GOLDENV_TRY(Looked both, look_at({*source::parse("@live")}, std::move(request), invocation));
  both.snapshots.push_back(std::move(of_text.snapshots.front()));
  return both;
}

/// Errors: usage, where the selection takes nothing that could be compared.
Result<void> check_selected(const std::vector<facts::Snapshot>& snapshots,
                            const diff::CompareOptions& options, const Invocation& invocation) {
  if (options.selection.empty()) {
    return {};
  }
  const auto has_some = [&](const facts::Snapshot& snapshot) {
    return has_selected(snapshot, options.selection);
  };
  if (std::ranges::none_of(snapshots, has_some)) {
    return Error{Errc::usage,
                 only_text(invocation) + ": no fact of " +
                     (snapshots.size() == 2 ? "either side" : "any of them") +
                     " is selected; goldenv scan --all shows what there is",
                 {}};
  }
  const auto is_compared = [&](const facts::Fact& fact) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    return entry != nullptr && options.selection.selects(fact.key.name, fact.key.label) &&
           diff::is_compared(*entry, fact.key, options);
  };
  if (std::ranges::none_of(snapshots, [&](const facts::Snapshot& snapshot) {
        return std::ranges::any_of(snapshot.facts, is_compared);
      })) {
    return Error{Errc::usage,
                 only_text(invocation) +
                     ": what is selected tells machines apart or never stands still (serials, "
                     "addresses, temperatures); --all compares it",
                 {}};
  }
  return {};
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
  const Result<Only> only = parse_only(invocation);
  if (!only) {
    return fail(only.error());
  }
  const Result<Looked> looked = look_at_words(invocation, *only);
  if (!looked) {
    return fail(looked.error());
  }
  const std::vector<facts::Snapshot>& snapshots = looked->snapshots;
  const bool unreached = looked->unreached != 0;
  std::vector<report::Named> names;
  for (const facts::Snapshot& snapshot : snapshots) {
    names.push_back({snapshot.title(), snapshot.source});
  }
  std::optional<NamedManifest> manifest;
  if (const std::string file = default_manifest(); !file.empty()) {
    Result<NamedManifest> opened = open_manifest(file);
    if (!opened) {
      return fail(opened.error());
    }
    manifest = *std::move(opened);
  }
  const diff::CompareOptions options{invocation.has("--all"), only->selection,
                                     manifest ? &manifest->manifest : nullptr};
  if (const Result<void> selected = check_selected(snapshots, options, invocation); !selected) {
    return fail(selected.error());
  }
  // Of many of which two could be reached, the answer is still in groups.
  if (snapshots.size() == 2 && !unreached) {
    const diff::Comparison comparison = diff::compare(snapshots.front(), snapshots.back(), options);
    if (comparison.compared == 0) {
      say("nothing was compared: no fact is known on both sides");
    }
    const Rendering rendering{
        [&](report::Colour colour) {
          return report::comparison_text(comparison, names.front(), names.back(), colour);
        },
        [&] { return report::comparison_node(comparison, names.front(), names.back()); }, ""};
    return deliver(invocation, rendering,
                   status_for(invocation, !comparison.differences.empty(),
                              !comparison.one_sided.empty(), unreached));
  }
  const std::vector<fleet::Group> groups = fleet::group(snapshots, options);
  bool differs = false;
  bool one_sided = false;
  for (const fleet::Group& group : groups) {
    differs = differs || !group.against_largest.differences.empty();
    one_sided = one_sided || !group.against_largest.one_sided.empty();
  }
  const Rendering rendering{[&](report::Colour colour) {
                              return report::groups_text(groups, names, colour) +
                                     report::unreached_text(looked->unreached, looked->sources);
                            },
                            [&] {
                              doc::Node node = report::groups_node(groups, names);
                              report::put(node, "unreached", looked->unreached);
                              return node;
                            },
                            ""};
  return deliver(invocation, rendering, status_for(invocation, differs, one_sided, unreached));
}

}  // namespace

extern const Command diff{"diff",
                          "[A] B [C..]",
                          1,
                          10'000,
                          "exact differences (A: @live, if left out); of three or more, groups",
                          "goldenv diff node16.yaml node17.yaml",
                          kOptions,
                          run_diff};

}  // namespace goldenv::cli
