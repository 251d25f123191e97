#include "diff/lock.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "provision/origin.h"
#include "recipe/recipe.h"
#include "store/store.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 9> kOptions = {{
    {"--all", "", "also pin what weighs little (level info)", false, ""},
    {"--float", "PART", "let versions move in this part and below", false, "none|patch|minor"},
    {"--name", "NAME", "the manifest's name; default: the machine's", false, ""},
    {"--resolve", "", "name the file that each Python package came from; fetches and compares it",
     false, ""},
    {"--index", "URL",
     "with --resolve: the package index, instead of the one that pip is set to use", false, ""},
    {"--extra-index", "URL", "with --resolve: a further index", true, ""},
    {"--find-links", "PLACE", "with --resolve: a folder or page with wheels", true, ""},
    {"--no-index", "", "with --resolve: ask no index, only --find-links", false, ""},
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

/// Names in each pin on a package the file that it came from; what cannot be proved is said.
Result<void> name_artifacts(const Invocation& invocation, manifest::Manifest& manifest) {
  GOLDENV_TRY(const std::string folder, store::Store::default_folder());
  GOLDENV_TRY(const store::Store store, store::Store::open(folder, store::Access::write));
  provision::Options options;
  options.python = manifest.target_python;
  options.packages.index = invocation.value("--index");
  options.packages.extra_indexes = invocation.values("--extra-index");
  options.packages.find_links = invocation.values("--find-links");
  options.packages.no_index = invocation.has("--no-index");
  GOLDENV_TRY(const std::vector<provision::Origin> origins,
              provision::find_origins(manifest, recipe::shipped_collection(), options, store, {}));
  std::size_t named = 0;
  for (const provision::Origin& origin : origins) {
    if (!origin.why.empty()) {
      say(origin.key + " " + origin.version + ": its file is not named: " + origin.why);
      continue;
    }
    for (manifest::Pin& pin : manifest.pins) {
      if (pin.key == facts::FactKey{origin.key, {}}) {
        pin.artifact = origin.file;
        pin.sha256 = origin.sha256;
        ++named;
      }
    }
  }
  say(std::to_string(named) + " of " + std::to_string(origins.size()) +
      " packages are proved to be of the file that is named");
  return {};
}

int run_lock(const Invocation& invocation) {
  const auto sources = parse_sources(invocation.words);
  if (!sources) {
    return fail(sources.error());
  }
  const bool is_here = sources->size() == 1 && sources->front().kind == source::Source::Kind::live;
  if (invocation.has("--resolve") && !is_here) {
    return fail({Errc::usage, "--resolve compares what is installed here: with @live alone", {}});
  }
  for (const char* option : {"--index", "--extra-index", "--find-links", "--no-index"}) {
    if (invocation.has(option) && !invocation.has("--resolve")) {
      return fail({Errc::usage, std::string(option) + " is of --resolve", {}});
    }
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
  if (invocation.has("--resolve")) {
    if (const Result<void> named = name_artifacts(invocation, manifest); !named) {
      return fail(named.error());
    }
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
