#include "report/overview.h"

#include <algorithm>
#include <iterator>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "facts/catalogue.h"
#include "findings/finding.h"
#include "report/findings.h"

namespace goldenv::cli {
namespace {

int run_overview(const Invocation& invocation) {
  report::Overview overview;
  probe::Request request;
  manifest::Manifest manifest;
  overview.manifest_file = default_manifest();
  if (!overview.manifest_file.empty()) {
    Result<NamedManifest> opened = open_manifest(overview.manifest_file);
    if (!opened) {
      return fail(opened.error());
    }
    if (const Result<void> wants = check_wants(*opened); !wants) {
      return fail(wants.error());
    }
    manifest = std::move(opened->manifest);
    request = request_for(manifest, invocation);
  }
  request.only_named = true;
  for (facts::FactKey& key : report::overview_keys()) {
    request.named.push_back(std::move(key));
  }
  for (const std::string_view key : findings::keys()) {
    if (facts::entry_of(key) != nullptr) {
      request.named.push_back({std::string(key), ""});
    } else {
      request.families.emplace_back(key);
    }
  }
  Result<facts::Snapshot> snapshot =
      source::look({source::Source::Kind::live, "@live", ""}, request);
  if (!snapshot) {
    return fail(snapshot.error());
  }
  say_what_is_not_mounted(*snapshot);
  overview.snapshot = *std::move(snapshot);
  // What the next boot would change is known only now that it was asked what it sets.
  probe::Request beside;
  beside.only_named = true;
  beside.named = findings::keys_beside(overview.snapshot);
  if (!beside.named.empty()) {
    Result<facts::Snapshot> more = source::look(*source::parse("@live"), beside);
    if (!more) {
      return fail(more.error());
    }
    std::vector<facts::Fact> all = std::move(overview.snapshot.facts);
    std::ranges::move(more->facts, std::back_inserter(all));
    overview.snapshot =
        facts::make_snapshot("@live", std::move(overview.snapshot.listed), std::move(all));
  }
  overview.found = findings::contradictions(overview.snapshot);
  int status = report::any_must(overview.found) ? kDiffers : kWell;
  if (!overview.manifest_file.empty()) {
    overview.check = diff::check(manifest, overview.snapshot);
    if (diff::differs_at(*overview.check, facts::Level::must)) {
      status = kDiffers;
    } else if (status == kWell && diff::undecided_at(*overview.check, facts::Level::must)) {
      status = kUndecided;
    }
  }
  const Rendering rendering{
      [&](report::Colour colour) { return report::overview_text(overview, colour); },
      [&] { return report::overview_node(overview); }, ""};
  return deliver(invocation, rendering, status);
}

}  // namespace

extern const Command overview{
    "",        "", 0,           0, "what is in force, and whether it matches the manifest",
    "goldenv", {}, run_overview};

}  // namespace goldenv::cli
