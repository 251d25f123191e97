#include "diff/lock.h"

#include <array>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 4> kOptions = {{
    {"--all", "", "also pin what weighs little (level info)", false, ""},
    {"--float", "PART", "let versions move in this part and below", false, "none|patch|minor"},
    {"--name", "NAME", "the manifest's name; default: the machine's", false, ""},
    {"--python", "P", "the Python that is meant: its prefix or interpreter", false, ""},
}};

int run_lock(const Invocation& invocation) {
  const auto sources = parse_sources(invocation.words);
  if (!sources) {
    return fail(sources.error());
  }
  probe::Request request;
  request.python = invocation.value("--python");
  Viewer viewer(invocation);
  const auto snapshots = viewer.look(sources->front(), request);
  if (!snapshots) {
    return fail(snapshots.error());
  }
  if (snapshots->size() != 1) {
    return fail({Errc::usage,
                 sources->front().text + " holds " + std::to_string(snapshots->size()) +
                     " snapshots; lock takes one",
                 {}});
  }
  if (const Result<void> python = viewer.python_found(); !python) {
    return fail(python.error());
  }
  diff::LockOptions options;
  options.all = invocation.has("--all");
  options.name = invocation.value("--name");
  const std::string part = invocation.value("--float", "none");
  options.loose = part == "patch"   ? diff::Float::patch
                  : part == "minor" ? diff::Float::minor
                                    : diff::Float::none;
  const manifest::Manifest manifest = diff::lock(snapshots->front(), options);
  if (manifest.pins.empty()) {
    return fail({Errc::usage, sources->front().text + ": no fact of it can be pinned", {}});
  }
  const std::string yaml = manifest::render(manifest);
  for (const facts::FactKey& key : diff::unnameable(snapshots->front())) {
    say(key.text() + ": not pinned: no manifest can name it" +
        (facts::in_family(key.name, "env") ? ", nor close env while it is set" : ""));
  }
  // As data a manifest is its own YAML, read back: there is one form of it.
  const Rendering rendering{
      [&](report::Colour) { return yaml; },
      [&] { return doc::parse(yaml, doc::Format::yaml, "lock").value_or(doc::Node{}); }, yaml};
  const int status = deliver(invocation, rendering, kWell, "yaml", "yaml");
  if (status == kWell && invocation.value("--output", "-") != "-") {
    say(std::to_string(manifest.pins.size()) + " pins in " + invocation.value("--output"));
  }
  return status;
}

}  // namespace

extern const Command lock{"lock",
                          "[SOURCE]",
                          0,
                          1,
                          "a manifest that this machine meets",
                          "goldenv lock -o goldenv.yaml",
                          kOptions,
                          run_lock};

}  // namespace goldenv::cli
