#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "facts/want.h"
#include "report/scan.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 2> kOptions = {{
    {"--manifest", "FILE", "whose pin on the key is shown; default: the manifest in force", false,
     ""},
    {"--python", "P", "the Python that is meant: its prefix or interpreter", false, ""},
}};

std::string state_of(Truth met) {
  return met == Truth::yes ? "met" : met == Truth::no ? "not met" : "not known";
}

int run_explain(const Invocation& invocation) {
  const auto resolved = facts::resolve(invocation.words.front());
  if (!resolved) {
    return fail({Errc::usage, resolved.error().message, {}});
  }
  const facts::FactKey key{resolved->name, resolved->label};
  const auto sources = parse_sources({invocation.words.begin() + 1, invocation.words.end()});
  if (!sources) {
    return fail(sources.error());
  }
  // A manifest is shown where there is one; without --manifest it is no error that there is none.
  std::string file = invocation.value("--manifest");
  if (file.empty()) {
    file = source::default_manifest();
  }
  manifest::Manifest manifest;
  if (!file.empty()) {
    Result<NamedManifest> opened = open_manifest(file);
    if (!opened) {
      return fail(opened.error());
    }
    manifest = std::move(opened->manifest);
  }
  probe::Request request;
  request.named = {key, {"host.name", ""}, {"kernel.upstream", ""}};
  request.only_named = true;
  request.python = invocation.value("--python", manifest.target_python);
  const Result<facts::Snapshot> snapshot = source::look(sources->front(), request);
  if (!snapshot) {
    return fail(snapshot.error());
  }
  report::Explanation explanation;
  explanation.fact = snapshot->read(key);
  explanation.entry = resolved->entry;
  for (const facts::Fact& fact : snapshot->facts) {
    if (fact.key.name == key.name && !fact.key.label.empty() && key.label.empty()) {
      explanation.instances.push_back(fact);
    }
  }
  explanation.pin = manifest.find(key);
  if (explanation.pin != nullptr) {
    const Truth met =
        facts::meets(*resolved->entry, explanation.pin->want, explanation.fact.reading,
                     snapshot->read({"kernel.upstream", ""}).reading);
    explanation.met = state_of(met);
  }
  const Rendering rendering{
      [&](report::Colour colour) {
        return report::explain_text(explanation, snapshot->title(), colour);
      },
      [&] { return report::explain_node(explanation, sources->front().text); }, ""};
  return deliver(invocation, rendering, kWell);
}

}  // namespace

extern const Command explain{"explain",
                             "KEY [SOURCE]",
                             1,
                             2,
                             "one value: where it comes from, and the pin on it",
                             "goldenv explain driver.libcuda",
                             kOptions,
                             run_explain};

}  // namespace goldenv::cli
