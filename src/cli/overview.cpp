#include "report/overview.h"

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"

namespace goldenv::cli {
namespace {

int run_overview(const Invocation& invocation) {
  report::Overview overview;
  probe::Request request;
  manifest::Manifest manifest;
  overview.manifest_file = source::default_manifest();
  if (!overview.manifest_file.empty()) {
    Result<NamedManifest> opened = open_manifest(overview.manifest_file);
    if (!opened) {
      return fail(opened.error());
    }
    manifest = std::move(opened->manifest);
    request = request_for(manifest, invocation);
  }
  request.only_named = true;
  for (facts::FactKey& key : report::overview_keys()) {
    request.named.push_back(std::move(key));
  }
  Result<facts::Snapshot> snapshot =
      source::look({source::Source::Kind::live, "@live", ""}, request);
  if (!snapshot) {
    return fail(snapshot.error());
  }
  overview.snapshot = *std::move(snapshot);
  int status = kWell;
  if (!overview.manifest_file.empty()) {
    overview.check = diff::check(manifest, overview.snapshot);
    status = diff::differs_at(*overview.check, facts::Level::must) ? kDiffers : kWell;
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
