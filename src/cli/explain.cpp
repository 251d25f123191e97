#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "diff/check.h"
#include "facts/member_hints.h"
#include "host/host.h"
#include "probe/origin.h"
#include "report/scan.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 2> kOptions = {{
    {"--manifest", "FILE", "whose pin on the key is shown; default: the manifest in force", false,
     ""},
    {"--python", "P", "the Python that is meant: its prefix or interpreter", false, ""},
}};

/// How a machine stands to one pin, as a check of that pin alone says it.
std::string state_of(const manifest::Manifest& pinned, const facts::Snapshot& snapshot) {
  const diff::Check check = diff::check(pinned, snapshot);
  return check.not_applying != 0      ? "does not apply"
         : !check.undecided.empty()   ? "not known"
         : !check.differences.empty() ? "not met"
                                      : "met";
}

/// The key that the words begin with. Errors: usage, where it is none; also where it is the source
/// and the key stands behind it.
Result<facts::Resolved> parse_key(const std::vector<std::string>& words) {
  Result<facts::Resolved> key = facts::resolve(words.front());
  if (key) {
    return key;
  }
  if (words.size() == 2 && facts::resolve(words.back())) {
    return Error{Errc::usage,
                 "explain takes the key first: did you mean goldenv explain " + words.back() + " " +
                     words.front() + "?",
                 {}};
  }
  return Error{Errc::usage, key.error().message, {}};
}

/// The facts of one source. Errors: of source::look; usage, where --python names no Python there.
Result<facts::Snapshot> look(const Invocation& invocation, const source::Source& source,
                             const probe::Request& request) {
  if (!source.is_machine()) {
    return source::look(source, request);
  }
  Viewer viewer(invocation);
  GOLDENV_TRY(std::vector<facts::Snapshot> all, viewer.look(source, request));
  if (Result<void> python = viewer.python_found(); !python) {
    return std::move(python).error();
  }
  return std::move(all.front());
}

/// The key whose fact says what the next boot will make of this one; "" where there is none.
std::string next_boot_key(std::string_view name) {
  const std::string next = "next_boot." + std::string(name);
  if (name.starts_with("kernel.cmdline.")) {
    return "next_boot.kernel.cmdline";
  }
  return facts::entry_of(next) != nullptr ? next : std::string();
}

/// What the next boot will do about a key, of what was found.
std::optional<facts::Fact> next_boot(const facts::Snapshot& snapshot, const std::string& name) {
  const std::string key = next_boot_key(name);
  const facts::Fact* fact = key.empty() ? nullptr : snapshot.find({key, ""});
  if (fact == nullptr) {
    return std::nullopt;
  }
  if (!name.starts_with("kernel.cmdline.")) {
    return *fact;
  }
  // One parameter of that command line, found as it is in the running one.
  facts::Fact line = *fact;
  line.key.name = "kernel.cmdline";
  facts::Fact parameter = facts::make_snapshot("", {}, {std::move(line)}).read({name, ""});
  parameter.key.name = "next_boot." + name;
  return parameter;
}

/// What set a value on a machine that can be looked at.
facts::Origin origin_on(const source::Source& source, const probe::Request& request,
                        const facts::Fact& fact) {
  std::unique_ptr<host::Host> host;
  if (source.kind == source::Source::Kind::live) {
    host = host::live_host();
  } else if (source.kind == source::Source::Kind::tree) {
    Result<std::unique_ptr<host::Host>> tree = host::tree_host(source.place);
    if (tree) {
      host = *std::move(tree);
    }
  }
  if (host == nullptr) {
    return {};
  }
  probe::Survey survey(*host, request);
  return probe::origin_of(survey, fact);
}

int run_explain(const Invocation& invocation) {
  const auto resolved = parse_key(invocation.words);
  if (!resolved) {
    return fail(resolved.error());
  }
  const facts::FactKey key{resolved->name, resolved->label};
  const auto sources = parse_sources({invocation.words.begin() + 1, invocation.words.end()});
  if (!sources) {
    return fail(sources.error());
  }
  // A manifest is shown where there is one; without --manifest it is no error that there is none.
  std::string file = invocation.value("--manifest");
  if (file.empty()) {
    file = default_manifest();
  }
  manifest::Manifest manifest;
  if (!file.empty()) {
    Result<NamedManifest> opened = open_manifest(file);
    if (!opened) {
      return fail(opened.error());
    }
    manifest = std::move(opened->manifest);
  }
  if (const std::string near = facts::nearest_member(key); !near.empty()) {
    say(key.text() + " is no well-known name; did you mean " + near + "?");
  }
  manifest::Manifest pinned;
  if (const manifest::Pin* pin = manifest.find(key)) {
    pinned.pins.push_back(*pin);
  }
  probe::Request request = request_for(pinned, invocation);
  request.target_python = manifest.target_python;
  request.named.push_back(key);
  if (const std::string next = next_boot_key(key.name); !next.empty()) {
    request.named.push_back({next, ""});
  }
  const Result<facts::Snapshot> snapshot = look(invocation, sources->front(), request);
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
  explanation.origin = origin_on(sources->front(), request, explanation.fact);
  explanation.origin.next_boot = next_boot(*snapshot, key.name);
  if (!pinned.pins.empty()) {
    explanation.pin = &pinned.pins.front();
    explanation.met = state_of(pinned, *snapshot);
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
