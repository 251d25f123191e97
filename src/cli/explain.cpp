#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "facts/want.h"
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

std::string state_of(Truth met) {
  return met == Truth::yes ? "met" : met == Truth::no ? "not met" : "not known";
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
  if (const std::string next = next_boot_key(key.name); !next.empty()) {
    request.named.push_back({next, ""});
  }
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
  explanation.origin = origin_on(sources->front(), request, explanation.fact);
  explanation.origin.next_boot = next_boot(*snapshot, key.name);
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
