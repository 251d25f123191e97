#include "diff/lock.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
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

/// Takes out of a manifest what another machine does not have, and says what that is.
void keep_shared(manifest::Manifest& manifest, const manifest::Manifest& other,
                 const facts::Snapshot& snapshot) {
  std::vector<std::string> gone;
  std::vector<std::string> open;  // not known there
  const std::string name = snapshot.title();
  std::erase_if(manifest.pins, [&](const manifest::Pin& pin) {
    const manifest::Pin* same = other.find(pin.key);
    const bool is_shared = same != nullptr && same->want == pin.want;
    if (!is_shared) {
      const bool is_known = !std::holds_alternative<facts::Unknown>(snapshot.read(pin.key).reading);
      (is_known ? gone : open).push_back(pin.key.text());
    }
    return !is_shared;
  });
  // Closed, a family would hold on each what the others have not.
  std::erase_if(manifest.closed, [&](const std::string& family) {
    const auto is_in = [&](const std::string& key) { return facts::in_family(key, family); };
    return std::ranges::find(other.closed, family) == other.closed.end() ||
           std::ranges::any_of(gone, is_in) || std::ranges::any_of(open, is_in) ||
           std::ranges::any_of(other.pins, [&](const manifest::Pin& pin) {
             return is_in(pin.key.name) && manifest.find(pin.key) == nullptr;
           });
  });
  if (manifest.target_python != other.target_python) {
    manifest.target_python.clear();
  }
  if (!gone.empty()) {
    say("not pinned, other on " + name + ": " + join(gone, ", "));
  }
  if (!open.empty()) {
    say("not pinned, unknown on " + name + ": " + join(open, ", "));
  }
}

/// "torch (denied), cudnn (denied)".
std::string names_of_unknown(const std::vector<facts::Fact>& unknown) {
  std::vector<std::string> names;
  for (const facts::Fact& fact : unknown) {
    const auto& reading = std::get<facts::Unknown>(fact.reading);
    names.push_back(fact.key.text() + " (" + std::string(facts::name(reading.why)) + ")");
  }
  return join(names, ", ");
}

int run_lock(const Invocation& invocation) {
  const auto sources = parse_sources(invocation.words);
  if (!sources) {
    return fail(sources.error());
  }
  probe::Request request;
  request.python = invocation.value("--python");
  Viewer viewer(invocation);
  std::vector<facts::Snapshot> snapshots;
  for (const source::Source& source : *sources) {
    auto found = viewer.look(source, request);
    if (!found) {
      return fail(found.error());
    }
    std::ranges::move(*found, std::back_inserter(snapshots));
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
  manifest::Manifest manifest = diff::lock(snapshots.front(), options);
  for (std::size_t i = 1; i < snapshots.size(); ++i) {
    keep_shared(manifest, diff::lock(snapshots[i], options), snapshots[i]);
  }
  if (manifest.pins.empty()) {
    return fail({Errc::usage, sources->front().text + ": no fact of it can be pinned", {}});
  }
  const std::string yaml = manifest::render(manifest);
  for (const facts::FactKey& key : diff::unnameable(snapshots.front())) {
    say(key.text() + ": not pinned: no manifest can name it" +
        (facts::in_family(key.name, "env") ? ", nor close env while it is set" : ""));
  }
  if (const std::string unlocked = names_of_unknown(diff::unknown_musts(snapshots.front()));
      !unlocked.empty()) {
    say("not locked, unknown here: " + unlocked);
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
                          "[SOURCE..]",
                          0,
                          10'000,
                          "a manifest that this machine meets; of several, what they share",
                          "goldenv lock -o goldenv.yaml",
                          kOptions,
                          run_lock};

}  // namespace goldenv::cli
