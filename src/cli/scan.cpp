#include "report/scan.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "fleet/group.h"
#include "report/differences.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 5> kOptions = {{
    {"--only", "GLOB", "only these keys (driver, sysctl.**, layer:cuda, !env)", true, ""},
    {"--all", "", "every instance, every sysctl, and what weighs little", false, ""},
    {"--record", "DIR", "also write a record of this host, without secrets, for root:DIR", false,
     ""},
    {"--list", "", "the keys that there are, with their meaning; probes nothing", false, ""},
    {"--python", "P", "the Python that is meant: its prefix or interpreter", false, ""},
}};

int list(const Invocation& invocation, const facts::Selection& selection) {
  const Rendering rendering{
      [&](report::Colour colour) { return report::list_text(selection, colour); },
      [&] { return report::list_node(selection); }, ""};
  return deliver(invocation, rendering, kWell);
}

std::string all_text(const std::vector<facts::Snapshot>& snapshots, const report::ScanView& view) {
  std::string text;
  for (const facts::Snapshot& snapshot : snapshots) {
    text += (text.empty() ? "" : "\n") + report::scan_text(snapshot, view);
  }
  return text;
}

/// From so many machines on their facts are read side by side: --format yaml has each.
constexpr std::size_t kGrouped = 3;

std::string groups(const std::vector<facts::Snapshot>& snapshots, const report::ScanView& view,
                   report::Colour colour) {
  std::vector<report::Named> names;
  for (const facts::Snapshot& snapshot : snapshots) {
    names.push_back({snapshot.title(), snapshot.source});
  }
  return report::groups_text(fleet::group(snapshots, {view.all, view.selection}), names, colour);
}

doc::Node all_data(const std::vector<facts::Snapshot>& snapshots, const facts::Selection& selection,
                   std::size_t sources, std::size_t unreached) {
  // Its form hangs on what was asked, not on what answered.
  if (snapshots.size() == 1 && sources == 1) {
    return report::scan_node(report::selected(snapshots.front(), selection));
  }
  doc::Node list = doc::Node::sequence({});
  for (const facts::Snapshot& snapshot : snapshots) {
    list.items.push_back(report::scan_node(report::selected(snapshot, selection)));
  }
  doc::Node node = doc::Node::mapping({});
  node.entries.push_back({"schema_version", {}, doc::Node::scalar("0")});
  node.entries.push_back({"snapshots", {}, std::move(list)});
  if (unreached != 0) {
    node.entries.push_back({"unreached", {}, doc::Node::scalar(std::to_string(unreached))});
  }
  return node;
}

/// What --record needs: this host and nothing else.
Result<void> take_record(const Invocation& invocation, std::vector<source::Source>& sources) {
  if (!invocation.has("--record")) {
    return {};
  }
  if (sources.size() != 1 || sources.front().kind != source::Source::Kind::live) {
    return Error{Errc::usage, "--record records this host: it takes @live and no other source", {}};
  }
  sources.front().record = invocation.value("--record");
  return {};
}

int run_scan(const Invocation& invocation) {
  const Result<Only> only = parse_only(invocation);
  if (!only) {
    return fail(only.error());
  }
  if (invocation.has("--list")) {
    return list(invocation, only->selection);
  }
  auto sources = parse_sources(invocation.words);
  if (!sources) {
    return fail(sources.error());
  }
  if (const Result<void> fit = take_record(invocation, *sources); !fit) {
    return fail(fit.error());
  }
  probe::Request request = only->request;
  request.all = invocation.has("--all");
  std::vector<facts::Snapshot> snapshots;
  int status = kWell;
  std::size_t unreached = 0;
  Viewer viewer(invocation);
  for (const source::Source& source : *sources) {
    auto found = viewer.look(source, request);
    if (!found) {
      const int failed = fail(found.error());
      if (failed == kUsage) {
        return failed;
      }
      status = failed;
      ++unreached;
      continue;
    }
    std::ranges::move(*found, std::back_inserter(snapshots));
  }
  if (snapshots.empty()) {
    return status;
  }
  if (const Result<void> python = viewer.python_found(); !python) {
    return fail(python.error());
  }
  if (!only->selection.empty() &&
      std::ranges::none_of(snapshots, [&](const facts::Snapshot& snapshot) {
        return has_selected(snapshot, only->selection);
      })) {
    say(only_text(invocation) + " selects no fact here");
  }
  const report::ScanView view{request.all, only->selection, report::Colour::none};
  const Rendering rendering{
      [&](report::Colour colour) {
        if (snapshots.size() >= kGrouped) {
          return groups(snapshots, view, colour) +
                 report::unreached_text(unreached, sources->size());
        }
        report::ScanView coloured = view;
        coloured.colour = colour;
        return all_text(snapshots, coloured) + report::unreached_text(unreached, sources->size());
      },
      [&] { return all_data(snapshots, only->selection, sources->size(), unreached); }, ""};
  return deliver(invocation, rendering, status, "yaml");
}

}  // namespace

extern const Command scan{
    "scan",   "[SOURCE..]", 0, 10'000, "facts of a machine", "goldenv scan -o node17.yaml",
    kOptions, run_scan};

}  // namespace goldenv::cli
